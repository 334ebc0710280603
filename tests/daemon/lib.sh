# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Functions of the shell tests; sourced, not run. RD_BIN names the daemon,
# RD_SLOW multiplies deadlines. A test works in $tmp, which goes away with it,
# and daemons it started are stopped by their pid.

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
RD_BIN=${RD_BIN:-$root/bin/restdaemon}
case $RD_BIN in /*) ;; *) RD_BIN=$PWD/$RD_BIN ;; esac
RD_SLOW=${RD_SLOW:-1}
export RD_BIN RD_SLOW

# The interpreter itself, as a wrapper around it may be slow to start.
python=$(python3 -c 'import sys; print(sys.executable)') || exit 1

tmp=$(mktemp -d "${TMPDIR:-/tmp}/rdtest.XXXXXX") || exit 1
pids=
passed=0
failed=0

clean_up() {
    for p in $pids; do
        kill -KILL "$p" 2>/dev/null
    done
    rm -rf "$tmp"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

# ok TITLE, fail TITLE [DETAIL]: one case.
ok() {
    passed=$((passed + 1))
}
fail() {
    failed=$((failed + 1))
    echo "FAIL ${name:-test}: $1${2:+ -- $2}"
}
# check TITLE COMMAND...: a case that is good when the command succeeds.
check() {
    title=$1
    shift
    if "$@"; then
        ok
    else
        fail "$title" "$(head -c 300 "$tmp/err" 2>/dev/null)"
    fi
}
finish() {
    echo "${name:-test}: $passed passed, $failed failed"
    [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
    exit
}

# limit SECONDS COMMAND...: ends a command that does not end by itself.
limit() {
    seconds=$1
    shift
    timeout -k 5 "$((seconds * ${RD_SLOW%.*}))" "$@"
}

# run_daemon ARG...: runs it to its end; $code, $tmp/out, $tmp/err.
run_daemon() {
    limit 30 "$RD_BIN" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    code=$?
}

# read_err: stderr in $text, its number of lines in $lines. By the shell alone,
# as this is done for each of some hundred mistakes. What gcov says where it
# cannot write is not the daemon's.
read_err() {
    text=
    lines=0
    while IFS= read -r line; do
        case $line in
        profiling:*) continue ;;
        esac
        text="$text$line
"
        lines=$((lines + 1))
    done <"$tmp/err"
}

# one_line: stderr is one line (and at most a hint) that says something.
one_line() {
    read_err
    case $text in
    *Sanitizer*) return 1 ;;
    *[a-z]*) [ "$lines" -ge 1 ] && [ "$lines" -le 2 ] ;;
    *) return 1 ;;
    esac
}

# refuses CODE TITLE WORD ARG...: exits with one of CODE ("64" or "69|71"),
# one clear line on stderr that contains WORD, and nothing on stdout.
refuses() {
    codes=$1
    title=$2
    word=$3
    shift 3
    run_daemon "$@"
    if one_line; then ok; else fail "$title: one clear line" "$text"; fi
    case "|$codes|" in
    *"|$code|"*) ok ;;
    *) fail "$title: exit status" "$code, not $codes; $text" ;;
    esac
    case $text in
    *"$word"*) ok ;;
    *) fail "$title: names $word" "$text" ;;
    esac
    if [ -s "$tmp/out" ]; then fail "$title: silent on stdout"; else ok; fi
}

# wait_for COMMAND...: until it succeeds, for up to 10 s.
wait_for() {
    turns=$((200 * ${RD_SLOW%.*}))
    while ! "$@" 2>/dev/null; do
        turns=$((turns - 1))
        [ "$turns" -gt 0 ] || return 1
        sleep 0.05
    done
}

listening() {
    [ "$(grep -c 'listening on' "$1")" -ge "$2" ]
}

# start COUNT ARG...: starts a daemon and waits for COUNT listeners; $pid,
# $log and, from its lines, $address1 to $address4.
# shellcheck disable=SC2034
address1="" address2="" address3="" address4=""
started=0
start() {
    count=$1
    shift
    started=$((started + 1))
    log=$tmp/log$started
    "$RD_BIN" "$@" >"$tmp/out$started" 2>"$log" </dev/null &
    pid=$!
    pids="$pids $pid"
    [ "$count" = 0 ] && return 0
    if ! wait_for listening "$log" "$count"; then
        fail "daemon $* gets ready" "$(head -c 300 "$log")"
        return 1
    fi
    n=0
    # shellcheck disable=SC2013,SC2034
    for address in $(sed -n 's/.*listening on \([^ ]*\).*/\1/p' "$log"); do
        n=$((n + 1))
        eval "address$n=\$address"
    done
}

# stop [SIGNAL]: signals $pid and waits; $code is its exit status.
stop() {
    kill -"${1:-TERM}" "$pid"
    # A daemon that does not stop is killed, which the status then shows.
    (
        turns=$((200 * ${RD_SLOW%.*}))
        while [ "$turns" -gt 0 ] && kill -0 "$pid" 2>/dev/null; do
            turns=$((turns - 1))
            sleep 0.05
        done
        [ "$turns" -gt 0 ] || kill -KILL "$pid" 2>/dev/null
    ) &
    guard=$!
    wait "$pid"
    code=$?
    kill "$guard" 2>/dev/null
    wait "$guard" 2>/dev/null
    return 0
}

# get ADDRESS [PATH]: body of a GET on stdout; fails unless 200. ADDRESS as
# the daemon logs it: http://HOST:PORT or unix:/path.
get() {
    limit 30 "$python" -S -E "$here/get.py" "$@" 2>"$tmp/err"
}

# serves ADDRESS [PATH]; says ADDRESS TEXT [PATH]: the body has that text.
serves() {
    get "$@" >"$tmp/body"
}
says() {
    get "$1" ${3:+"$3"} >"$tmp/body" && grep -qF -e "$2" "$tmp/body"
}

# A port that nobody has now.
free_port() {
    "$python" -S -E -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

is_socket() {
    [ -S "$1" ]
}
is_gone() {
    [ ! -e "$1" ]
}
