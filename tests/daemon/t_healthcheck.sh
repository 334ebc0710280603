#!/bin/sh
# SPDX-License-Identifier: MIT
# --healthcheck: exit status 0 if the daemon that the arguments stand for is
# alive, else 1 and one line that says why.
name=healthcheck
. "$(dirname "$0")/lib.sh"
cd "$tmp" || exit 1

# healthy, ill WORD: --healthcheck with the arguments behind says so.
healthy() {
    run_daemon --healthcheck "$@"
    [ "$code" = 0 ] && [ ! -s "$tmp/out" ] && [ ! -s "$tmp/err" ]
}
ill() {
    word=$1
    shift
    run_daemon --healthcheck "$@"
    [ "$code" = 1 ] && [ ! -s "$tmp/out" ] && one_line &&
        grep -qF -e "$word" "$tmp/err"
}

# port_of ADDRESS: of http://HOST:PORT.
port_of() {
    echo "${1##*:}"
}

# --- by port, address and path
start 3 -c none -l 127.0.0.1:0 -l '[::1]:0' -l "unix:$tmp/s"
port=$(port_of "$address1")
check "by -p" healthy -c none -p "$port"
check "by -l" healthy -c none -l "127.0.0.1:$port"
check "all of IPv4" healthy -c none -l ":$port"
check "IPv4 by its wildcard" healthy -c none -l "0.0.0.0:$port"
check "IPv6" healthy -c none -l "[::1]:$(port_of "$address2")"
check "IPv6 by its wildcard" healthy -c none -l "[::]:$(port_of "$address2")"
check "unix" healthy -c none -l "unix:$tmp/s"
check "the first of two" healthy -c none -l "127.0.0.1:$port" \
    -l "unix:$tmp/nobody"
kill -STOP "$pid"
check "a process that hangs" ill livez -c none -l "127.0.0.1:$port"
kill -CONT "$pid"
check "and goes on" healthy -c none -l "127.0.0.1:$port"
stop TERM
check "no process" ill refused -c none -p "$port"
check "no path" ill "$tmp/s" -c none -l "unix:$tmp/s"

# --- by file, without and with an admin listener
cat >main.conf <<EOF
listen "main" { address = "127.0.0.1:$port" }
timeouts { shutdown_delay = "60s" }
EOF
start 1 -c main.conf
check "by file" healthy -c main.conf
kill -TERM "$pid"
check "the delay of a drain has begun" wait_for grep -q draining "$log"
check "which still answers" healthy -c main.conf
stop TERM
check "clean exit" [ "$code" = 0 ]

cat >busy.conf <<EOF
listen "main" { address = "127.0.0.1:$port" }
rate_limit { rate = 1 burst = 1 period = 60s }
EOF
start 1 -c busy.conf
version_is() {
    [ "$(curl -s -o /dev/null -w '%{http_code}' \
        "http://127.0.0.1:$port/version")" = "$1" ]
}
for i in 1 2 3; do
    check "a rate limit spares it: $i" healthy -c busy.conf
done
check "but nobody else: the first" version_is 200
check "and the second" version_is 429
stop TERM

cat >admin.conf <<EOF
listen "main" { address = "127.0.0.1:$port" }
listen "admin" { address = "unix:$tmp/admin" admin = true }
builtins { health = false }
EOF
check "no admin listener yet" ill "$tmp/admin" -c admin.conf
start 2 -c admin.conf
check "by the admin listener" healthy -c admin.conf
check "not by one without /livez" ill 404 -c main.conf
echo "limits {" >>admin.conf
run_daemon --healthcheck -c admin.conf
check "a broken file: exit status" [ "$code" = 1 ]
check "a broken file: said" grep -q 'admin.conf:' "$tmp/err"
run_daemon --healthcheck -c missing.conf
check "no file" [ "$code" = 1 ]
stop TERM

# --- others that listen there
cat >other.py <<'EOF'
import socket, sys
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
while True:
    c, _ = s.accept()
    c.sendall(sys.argv[1].encode().decode("unicode_escape").encode())
    if len(sys.argv) > 2:
        keep = c
EOF
# other TEXT [keep]: a server that says TEXT; $port, $other.
other() {
    : >port
    "$python" -S -E other.py "$@" >port &
    other=$!
    pids="$pids $other"
    wait_for test -s port
    port=$(cat port)
}
has_said() {
    title=$1
    other "$2" ${3:+"$3"}
    check "$title" ill livez -c none -p "$port"
    kill "$other"
}
has_said "garbage" 'SSH-2.0-x\r\n'
has_said "nothing" ''
has_said "silence" '' keep
has_said "half a line" 'HTTP/1.1 2' keep
has_said "an error" 'HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n'
other 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n' keep
check "a plain 200" healthy -c none -p "$port"
kill "$other"

run_daemon --healthcheck --nonsense
check "a wrong option: exit status" [ "$code" = 64 ]
finish
