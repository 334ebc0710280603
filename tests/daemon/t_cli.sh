#!/bin/sh
# SPDX-License-Identifier: MIT
# Command line, listen addresses and exit codes.
name=cli
. "$(dirname "$0")/lib.sh"
cd "$tmp" || exit 1

matches() {
    # shellcheck disable=SC2254
    case $1 in $2) return 0 ;; *) return 1 ;; esac
}

# --- help and version
for option in -h --help; do
    run_daemon $option
    check "$option: exit status" [ "$code" = 0 ]
    check "$option: nothing on stderr" [ ! -s err ]
    check "$option: says usage" grep -qi usage out
done
for option in -c -p -l -w -o -f -q -v -V -h; do
    check "help tells of $option" grep -q -e "$option" out
done
for key in workers memory_budget limits.connections tuning.backlog \
    tuning.defer_accept limits.target_size limits.header_size \
    limits.header_count limits.body_size limits.body_buffered timeouts.header \
    timeouts.body limits.body_rate timeouts.body_grace timeouts.write \
    timeouts.keepalive timeouts.linger tuning.linger_size tuning.output_high \
    tuning.output_low timeouts.drain timeouts.drain_idle; do
    check "help tells of -o $key" grep -q "^ *$key " out
done
for option in -V --version; do
    run_daemon $option
    check "$option: exit status" [ "$code" = 0 ]
    check "$option: nothing on stderr" [ ! -s err ]
    check "$option: first line" sh -c \
        'head -n 1 out | grep -Eq "^restdaemon [0-9]+\.[0-9]+\.[0-9]+"'
    check "$option: compiler" grep -qi compiler out
done
run_daemon -h -Z
check "-h before a mistake wins" [ "$code" = 0 ]

# --- 64: usage
refuses 64 "unknown option" Z -c none -Z
refuses 64 "unknown long option" --frob -c none --frob
refuses 64 "an argument too many" extra -c none extra
for option in c p l w o; do
    refuses 64 "-$option without its value" "-$option" "-$option"
done

# --- 66 and 77: configuration file
refuses 66 "no such file" missing.conf -c "$tmp/missing.conf"
refuses 66 "file in no folder" missing.conf -c "$tmp/no/missing.conf"

# --- 78: values
for value in x -1 65536 70000 1.5 '' 80x 99999999999; do
    refuses 78 "-p '$value'" -p -c none -p "$value"
done
for value in x -1 1.5 '' 1000000 2x; do
    refuses 78 "-w '$value'" workers -c none -l 127.0.0.1:0 -w "$value"
done
refuses 78 "-o without a value" frob -c none -l 127.0.0.1:0 -o frob
refuses 78 "-o without a key" "=1" -c none -l 127.0.0.1:0 -o =1
refuses 78 "-o with an unknown key" frob -c none -l 127.0.0.1:0 -o frob=1
for pair in workers=x limits.connections=-1 limits.connections=x \
    timeouts.header=5x timeouts.header= timeouts.header=-5s \
    memory_budget=lots memory_budget=10Q \
    memory_budget=99999999999999999999 limits.target_size=0x10 \
    tuning.backlog=1.5 timeouts.keepalive=' 5' limits.body_size=5KB \
    daemon=perhaps log.level=loud allow=10.0.0.1/8; do
    refuses 78 "-o $pair" "${pair%%=*}" -c none -l 127.0.0.1:0 -o "$pair"
done
refuses 78 "a budget that cannot hold the fixed part" budget \
    -c none -l 127.0.0.1:0 -w 64 -o memory_budget=2M
for address in nonsense 127.0.0.1:99999 127.0.0.1:x 1.2.3.4.5:80 300.1.1.1:80 \
    localhost:80 '[::1:80' '[::g]:80' 127.0.0.1:-1; do
    refuses 78 "-l $address" "$address" -c none -l "$address"
done
refuses 78 "an empty unix path" unix -c none -l unix:
refuses 78 "a unix path that is too long" unix -c none \
    -l "unix:/$(printf '%0120d' 0)"

# --- 69: address in use
port=$(free_port)
start 1 -c none -l "127.0.0.1:$port"
refuses 69 "busy port" "$port" -c none -l "127.0.0.1:$port"
refuses 69 "busy port behind a free one" "$port" -c none -l 127.0.0.1:0 \
    -l "127.0.0.1:$port"
refuses 69 "busy port by -p" "$port" -c none -p "$port"
check "the first one still serves" serves "$address1"
stop
check "the first one ends well" [ "$code" = 0 ]
start 1 -c none -l "127.0.0.1:$port"
check "its port is free again at once" serves "$address1"
stop
refuses '69|71|78' "an address that is not ours" 192.0.2.1 -c none \
    -l 192.0.2.1:0

# --- 71: the system refuses
# A shell of its own, as this one could not redirect with so few.
few() {
    # shellcheck disable=SC2016
    limit 30 env ASAN_OPTIONS=detect_leaks=0 sh -c 'ulimit -n 6; exec "$0" -c none -l 127.0.0.1:0' \
        "$RD_BIN" >"$tmp/out" 2>"$tmp/err" </dev/null
    code=$?
    [ "$code" = 71 ] || [ "$code" = 1 ] || [ "$code" = 78 ]
}
check "six descriptors: exit status" few
check "six descriptors: one clear line" one_line

# --- 77: permission
mkdir closed
: >closed/file
chmod 755 "$tmp"
chmod 700 closed
if [ "$(id -u)" = 0 ]; then
    # An own copy, as the checkout need not be readable for nobody.
    cp "$RD_BIN" "$tmp/daemon"
    chmod 755 "$tmp/daemon"
    other() {
        limit 30 setpriv --reuid=65534 --regid=65534 --clear-groups \
            "$tmp/daemon" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
        code=$?
    }
else
    chmod 000 closed
    other() {
        run_daemon "$@"
    }
fi
other -c none -l "unix:$tmp/closed/s"
check "a folder without permission: exit status" [ "$code" = 77 ]
check "a folder without permission: one clear line" one_line
other -c "$tmp/closed/file"
check "a file without permission: exit status" [ "$code" = 77 ]
check "a file without permission: one clear line" one_line
chmod 700 closed

# --- several listeners, families, -w, -p
start 4 -c none -l 127.0.0.1:0 -l '[::1]:0' -l "unix:$tmp/s1" \
    -l 127.0.0.1:0 -w 3
for address in "$address1" "$address2" "$address3" "$address4"; do
    check "answers on $address" serves "$address"
done
check "logs IPv4 as a URL" matches "$address1" 'http://127.0.0.1:[1-9]*'
check "logs IPv6 as a URL" matches "$address2" 'http://\[::1\]:[1-9]*'
check "logs the unix path" [ "$address3" = "unix:$tmp/s1" ]
check "two free ports differ" [ "$address1" != "$address4" ]
check "-w 3" says "$address1" '"workers":3'
stop
check "several listeners: exit status" [ "$code" = 0 ]
check "several listeners: the path is gone" is_gone "$tmp/s1"

port=$(free_port)
start 1 -c none -p "$port"
check "-p alone" [ "$address1" = "http://127.0.0.1:$port" ]
check "-p alone answers" serves "$address1"
stop
start 3 -c none -l "unix:$tmp/s2" -l 127.0.0.1:1 -l '[::1]:0' -p "$port"
check "-p sets the first TCP listener" [ "$address2" = \
    "http://127.0.0.1:$port" ]
check "-p leaves the second" [ "$address3" != "http://[::1]:$port" ]
stop
start 1 -c none -l 127.0.0.1:0 -w 1 -w 2
check "the last -w wins" says "$address1" '"workers":2'
stop INT
check "INT: exit status" [ "$code" = 0 ]
start 1 -c none -l ':0'
check ":PORT is all of IPv4" serves "http://127.0.0.1:${address1##*:}" /
check ":PORT: no host facts for strangers" \
    says "http://127.0.0.1:${address1##*:}" '"host":null'
stop

# --- IPv6 only: the same port is free for IPv4
port=$(free_port)
start 2 -c none -l "[::]:$port" -l "127.0.0.1:$port"
check "IPv6 does not take IPv4's port" serves "$address2" /
stop

# --- unix sockets
"$python" -S -E -c 'import socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])' "$tmp/stale"
check "(a stale socket is there)" is_socket "$tmp/stale"
start 1 -c none -l "unix:$tmp/stale"
check "a stale socket is replaced" serves "unix:$tmp/stale"
refuses 69 "a live socket" "$tmp/stale" -c none -l "unix:$tmp/stale"
check "a live socket is left alone" serves "unix:$tmp/stale"
stop
check "a unix path is removed at exit" is_gone "$tmp/stale"
echo precious >"$tmp/file"
run_daemon -c none -l "unix:$tmp/file"
check "a file is no socket: refused" [ "$code" = 69 -o "$code" = 71 -o \
    "$code" = 78 ]
check "a file is no socket: one clear line" one_line
check "a file is no socket: left alone" grep -q precious "$tmp/file"
start 1 -c none -l "unix:$tmp/s3"
kill -KILL "$pid"
wait "$pid" 2>/dev/null
check "(killed: its socket stays)" is_socket "$tmp/s3"
start 1 -c none -l "unix:$tmp/s3"
check "after a kill it starts again" serves "unix:$tmp/s3"
stop TERM
check "after a kill: exit status" [ "$code" = 0 ]
refuses 78 "the same path twice" "$tmp/s4" -c none -l "unix:$tmp/s4" \
    -l "unix:$tmp/s4"
check "the same path twice: nothing stays" is_gone "$tmp/s4"

# --- -f -q -v
start 1 -f -c none -l "unix:$tmp/s5"
check "-f: the same process serves" says "$address1" "\"pid\":$pid,"
stop
normal=$(wc -l <"$log")
start 0 -q -c none -l "unix:$tmp/s6"
check "-q: serves" wait_for serves "unix:$tmp/s6"
stop
check "-q: says nothing" [ ! -s "$log" ]
check "-q: exit status" [ "$code" = 0 ]
start 1 -v -c none -l "unix:$tmp/s7"
get "$address1" >/dev/null
stop
check "-v: says no less" [ "$(wc -l <"$log")" -ge "$normal" ]
start 1 -v -v -c none -l "unix:$tmp/s8" -w 1
get "$address1" >/dev/null
stop
check "-v -v: exit status" [ "$code" = 0 ]
for file in "$tmp"/out[1-9]*; do
    [ -s "$file" ] && fail "a running daemon writes to stdout"
done
if grep -l Sanitizer "$tmp"/log* >/dev/null 2>&1; then
    fail "no sanitizer report" "$(grep -h Sanitizer "$tmp"/log* | head -n 1)"
else
    ok
fi

# --- options reach the server
start 1 -c none -l 127.0.0.1:0 -o limits.connections=77 -o timeouts.header=3s
check "-o limits.connections=77" says "$address1" '"limit":77,' \
    "/status?detail=full"
stop
start 1 -c none -l 127.0.0.1:0 -o limits.target_size=200
check "-o target_max: below it" serves "$address1" \
    "/status?$(printf '%0100d' 0)"
if serves "$address1" "/status?$(printf '%0300d' 0)"; then
    fail "-o target_max: above it"
else
    check "-o target_max: 414" grep -q "status 414" "$tmp/err"
fi
stop
finish
