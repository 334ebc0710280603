#!/bin/sh
# SPDX-License-Identifier: MIT
# -d with a pid file, and the drop of privileges after a start as root (the
# latter only when the test is run by root).
# shellcheck disable=SC2154
name=background
. "$(dirname "$0")/lib.sh"
cd "$tmp" || exit 1
chmod 755 "$tmp"

# background ARG...: starts with -d; $code, and $pid from the pid file.
background() {
    run_daemon "$@"
    pid=$(cat "$tmp/pid" 2>/dev/null)
    pids="$pids $pid"
}
gone() {
    ! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status"
}
# end [SIGNAL]: of $pid, which is no child.
end() {
    kill -"${1:-TERM}" "$pid" && wait_for gone "$pid"
}
field() {
    sed -n "s/^$1:[[:space:]]*//p" "/proc/$pid/status"
}
is_at() {
    [ "$(readlink "/proc/$pid/$1")" = "$2" ]
}

port=$(free_port)
url=http://127.0.0.1:$port
cat >one.conf <<EOF
listen "main" { address = "127.0.0.1:$port" }
pid_file = "$tmp/pid"
log { target = file file = "log" }
route "/hello" { respond = "one" }
EOF

# --- start, with paths that are relative to the folder of the caller
background -d -c one.conf
check "-d: exit status" [ "$code" = 0 ]
check "-d: silent" [ ! -s out ]
check "-d: serves when the caller is told" says "$url" one /hello
check "-d: the pid file is its" is_at exe "$(realpath "$RD_BIN")"
check "-d: mode of the pid file" [ "$(stat -c %a pid)" = 644 ]
check "-d: in the root folder" is_at cwd /
for fd in 0 1 2; do
    check "-d: descriptor $fd" is_at fd/$fd /dev/null
done
check "-d: a session of its own" [ "$(ps -o sid= -p "$pid" | tr -d ' ')" != \
    "$(ps -o sid= -p $$ | tr -d ' ')" ]
check "-d: no terminal" [ "$(ps -o tty= -p "$pid")" = '?' ]
check "-d: logs" wait_for grep -q 'listening on' log
sed -i s/one/two/ one.conf
kill -HUP "$pid"
check "-d: reloads the file by its relative name" \
    wait_for says "$url" two /hello

# --- a second one
first=$pid
run_daemon -d -c one.conf
check "second: exit status" [ "$code" = 69 ]
check "second: names the first" grep -q "pid file.*$first" err
check "second: the pid file stays" [ "$(cat pid)" = "$first" ]
check "second: the first serves" serves "$url" /hello
run_daemon -d -c one.conf -o "pid_file=$tmp/pid2"
check "same port: exit status" [ "$code" = 69 ]
check "same port: says so" grep -q "$port" err
check "same port: leaves no pid file" is_gone pid2

# --- an upgrade finds the file from the root folder
sed -i s/two/three/ one.conf
kill -USR2 "$pid"
replaced() {
    new=$(cat pid)
    [ -n "$new" ] && [ "$new" != "$first" ]
}
check "upgrade: the new one has the pid file" wait_for replaced
pids="$pids $new"
check "upgrade: the old one ends" wait_for gone "$first"
check "upgrade: the pid file stays" [ "$(cat pid)" = "$new" ]
check "upgrade: serves" wait_for says "$url" three /hello
pid=$new
check "TERM: ends" end
check "TERM: the pid file is gone" is_gone pid

# --- stale files
echo 1 >pid
background -d -cone.conf
check "stale: exit status" [ "$code" = 0 ]
check "stale: replaced" [ "$pid" != 1 ]
check "stale: killed" end KILL
check "stale: left behind" [ "$(cat pid)" = "$pid" ]
background -d -c one.conf
check "after a crash: starts" serves "$url" /hello
: >pid
check "emptied by somebody: ends" end
echo hello >pid
background -d -c one.conf
check "nonsense in it: starts" serves "$url" /hello
check "nonsense in it: ends" end
ln -s "$tmp/elsewhere" pid
run_daemon -d -c one.conf
check "a symbolic link is not followed" [ "$code" != 0 ]
check "and its target not made" is_gone elsewhere
rm pid

# --- starts that fail, as the caller sees them
# fails CODE TITLE WORD ARG...
fails() {
    wanted=$1
    title=$2
    word=$3
    shift 3
    run_daemon -d "$@"
    check "$title: exit status $code" [ "$code" = "$wanted" ]
    check "$title: said" grep -q -e "$word" err
    check "$title: no pid file" is_gone pid
}
fails 66 "no file" missing.conf -c missing.conf
fails 78 "bad value" workers -c one.conf -o workers=many
fails 78 "budget" budget -c one.conf -o memory_budget=2M \
    -o limits.connections=900000
fails 71 "an address of others" 192.0.2.1 -c one.conf -l 192.0.2.1:80
fails 78 "a log without a folder" nowhere -c one.conf \
    -o log.file="$tmp/nowhere/log"

if [ "$(id -u)" != 0 ]; then
    run_daemon -c none -l 127.0.0.1:0 -o user=root
    check "another user than root cannot: exit status" [ "$code" = 77 ]
    check "another user than root cannot: said" grep -q 'not as root' err
    finish
fi

# --- started as root: the user and group of the configuration
nobody=$(id -u nobody)
nogroup=$(id -g nobody)
mkdir own log.d run.d
chown nobody own log.d run.d
cp "$RD_BIN" daemon
chmod 755 daemon
RD_BIN=$tmp/daemon
low=600
while [ "$low" -lt 1023 ] && ! "$python" -S -E -c "import socket
socket.socket().bind(('127.0.0.1', $low))" 2>/dev/null; do
    low=$((low + 1))
done
url=http://127.0.0.1:$low
cat >user.conf <<EOF
user = nobody
pid_file = "$tmp/run.d/pid"
listen "main" { address = "127.0.0.1:$low" }
listen "admin" { address = "unix:$tmp/own/admin" admin = true
                 mode = 0660 owner = nobody group = nogroup }
log { target = file file = "$tmp/log.d/log" }
access_log { target = file file = "$tmp/log.d/access" }
route "/hello" { respond = "one" }
EOF
chmod 644 user.conf
pid_file=$tmp/run.d/pid
run_daemon -d -c user.conf
pid=$(cat "$pid_file")
pids="$pids $pid"
check "user: exit status" [ "$code" = 0 ]
check "user: serves a port below 1024" says "$url" one /hello
four=$(printf '%s\t%s\t%s\t%s' "$nobody" "$nobody" "$nobody" "$nobody")
check "user: all four" [ "$(field Uid)" = "$four" ]
four=$(printf '%s\t%s\t%s\t%s' "$nogroup" "$nogroup" "$nogroup" "$nogroup")
check "user: all four groups" [ "$(field Gid)" = "$four" ]
check "user: no capability" [ "$(field CapEff)$(field CapPrm)" = \
    00000000000000000000000000000000 ]
check "user: no new privileges" [ "$(field NoNewPrivs)" = 1 ]
groups=$(field Groups)
# initgroups() of nobody: its own and nothing of root's.
check "user: groups" [ "${groups% }" = "$(id -G nobody)" ]
same_threads() {
    for t in "/proc/$pid/task"/*; do
        grep -q "^Uid:.*$nobody.*$nobody.*$nobody.*$nobody" "$t/status" ||
            return 1
    done
}
check "user: every thread" same_threads
check "user: no core dump" [ "$(stat -c %u "/proc/$pid/stat")" = 0 ]
check "user: owner of the admin socket" [ \
    "$(stat -c %u:%g:%a own/admin)" = "$nobody:$nogroup:660" ]
check "user: /status has its figures" says "$url" '"rss' '/status?detail=full'

# --- and what it can still do
check "user: the log is its" [ "$(stat -c %u log.d/log)" = "$nobody" ]
for file in log access; do
    mv log.d/$file log.d/$file.1
done
kill -USR1 "$pid"
check "user: opens the log anew" wait_for test -s log.d/log
get "$url" /hello >/dev/null
check "user: and the access log" wait_for test -s log.d/access
kill -USR1 "$pid"
twice() {
    [ "$(grep -c SIGUSR1 log.d/log)" = 2 ]
}
check "user: also where nothing was moved" wait_for twice
check "user: without a complaint" [ "$(cat log.d/* |
    grep -c 'cannot open')" = 0 ]
sed -i s/one/two/ user.conf
kill -HUP "$pid"
check "user: reloads" wait_for says "$url" two /hello
sed -i s,nobody,root, user.conf
kill -HUP "$pid"
check "user: cannot be changed" wait_for grep -q 'user: a change needs' \
    log.d/log
sed -i 's/^user = root/user = nobody/; s/owner = root/owner = nobody/' user.conf
old=$pid
kill -USR2 "$pid"
check "user: upgrade" wait_for gone "$old"
replaced() {
    pid=$(cat "$pid_file") && [ -n "$pid" ] && [ "$pid" != "$old" ]
}
check "user: the new one has the pid file" wait_for replaced
pids="$pids $pid"
check "user: the new one serves the port" wait_for says "$url" two /hello
check "user: ends" end
check "user: pid file and path are gone" [ ! -e "$pid_file" ] && \
    [ ! -e own/admin ]

# --- a group alone, by number, and what is wrong
cat >group.conf <<EOF
group = nogroup
listen "main" { address = "127.0.0.1:0" }
EOF
start 1 -c group.conf
check "group: set" [ "$(field Gid)" = "$four" ]
check "group: still root" [ "$(field Uid)" = "$(printf '0\t0\t0\t0')" ]
stop TERM
check "group: clean exit" [ "$code" = 0 ]
refuses 78 "an unknown user" nosuchuser -c group.conf -o user=nosuchuser
refuses 78 "an unknown group" nosuchgroup -c group.conf -o group=nosuchgroup

# --- `user` in a start by somebody else
other() {
    limit 30 setpriv --reuid="$nobody" --regid="$nogroup" --clear-groups \
        "$RD_BIN" "$@" >out 2>err </dev/null
    code=$?
}
other -c group.conf -o user=root -o group=root
check "another user than root cannot: exit status" [ "$code" = 77 ]
check "another user than root cannot: said" grep -q 'not as root' err
setpriv --reuid="$nobody" --regid="$nogroup" --clear-groups \
    "$RD_BIN" -c group.conf -o user=nobody 2>log9 >out9 </dev/null &
pid=$!
pids="$pids $pid"
check "the same user may" wait_for listening log9 1
stop TERM
check "the same user may: clean exit" [ "$code" = 0 ]
finish
