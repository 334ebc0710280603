#!/bin/sh
# SPDX-License-Identifier: MIT
# What is deployed with the daemon, as far as it can be tried without the
# system that it is for: systemd's own checks of the units, a rotation by
# logrotate, and the functions of the OpenRC script with stand-ins.
name=units
. "$(dirname "$0")/lib.sh"
cd "$tmp" || exit 1
conf=$root/conf

# --- systemd
# quiet_about UNIT...: verifies; what it says of other units is not ours.
quiet_about() {
    systemd-analyze verify --man=no "$@" >"$tmp/out" 2>"$tmp/err" &&
        ! grep -q 'restdaemon\.' "$tmp/err"
}
noisy_about() {
    ! quiet_about "$@"
}
exposure() {
    systemd-analyze security --offline=yes --no-pager --threshold="$1" \
        "$conf/systemd/restdaemon.service" >"$tmp/out" 2>"$tmp/err"
}
too_exposed() {
    ! exposure "$1"
}

units() {
    mkdir units broken
    # The program need not be installed here.
    for unit in service socket; do
        sed "s|/usr/sbin/restdaemon|$(command -v true)|" \
            "$conf/systemd/restdaemon.$unit" >"units/restdaemon.$unit"
    done
    check "systemd accepts the units" quiet_about \
        "$tmp/units/restdaemon.service" "$tmp/units/restdaemon.socket"
    sed 's/^UMask=/Umask=/' units/restdaemon.service \
        >broken/restdaemon.service
    check "systemd would find a mistake" noisy_about \
        "$tmp/broken/restdaemon.service"
    check "the sandbox is tight" exposure 15
    check "the figure means something" too_exposed 1
}

if command -v systemd-analyze >/dev/null 2>&1; then
    units
else
    echo "SKIP units: no systemd-analyze"
fi

# --- logrotate
# A copy that works on $tmp, told that there is no systemd.
rotate() {
    mkdir logs bin
    # It refuses files that others may write to.
    chmod 755 logs
    sed -e "s|/var/log/restdaemon|$tmp/logs|" -e "s|/run/systemd|$tmp/none|" \
        "$conf/logrotate/restdaemon" >rotate.conf
    chmod 644 rotate.conf
    printf '#!/bin/sh\necho "$@" >>%s/asked\n' "$tmp" >bin/rc-service
    chmod 755 bin/rc-service
    echo one >logs/access.log
    echo two >logs/messages.log
    PATH=$tmp/bin:$PATH logrotate -f -s "$tmp/state" rotate.conf \
        >"$tmp/out" 2>"$tmp/err"
}
same_text() {
    [ "$(cat "$1")" = "$2" ]
}

if PATH=$PATH:/usr/sbin command -v logrotate >/dev/null 2>&1; then
    PATH=$PATH:/usr/sbin
    check "logrotate takes its file" rotate
    check "a log is moved" same_text logs/access.log.1 one
    check "for now not compressed" same_text logs/messages.log.1 two
    check "and no new one made" is_gone logs/access.log
    check "the daemon is told, once" same_text asked "-q restdaemon reopen"
else
    echo "SKIP logrotate: not installed"
fi

# --- OpenRC
# openrc FUNCTION: runs one of the script's, with stand-ins for what openrc-run
# gives; $tmp/calls says what they were asked.
openrc() {
    : >"$tmp/calls"
    # shellcheck disable=SC2016 # expanded by the inner shell
    RC_SVCNAME=restdaemon good="$1" calls=$tmp/calls sh -euc '
        note() { echo "$*" >>"$calls"; }
        need() { note need "$@"; }
        use() { note use "$@"; }
        after() { note after "$@"; }
        checkpath() { note checkpath "$@"; }
        stop_daemon() { note signal "$@"; }
        alias start-stop-daemon=stop_daemon # no name for a function
        ebegin() { :; }
        eend() { return "$1"; }
        . "$1"
        program() { note "$@"; "$good"; }
        command=program
        "$2"
    ' sh "$conf/openrc/restdaemon" "$2" >"$tmp/out" 2>"$tmp/err"
}
asked() {
    grep -q -e "$1" "$tmp/calls"
}
not_asked() {
    ! asked "$1"
}
bad_openrc() {
    ! openrc false "$1"
}

check "openrc: the script is one" sh -n "$conf/openrc/restdaemon"
check "openrc: depends" openrc true depend
check "openrc: on the network" asked "^need net"
check "openrc: prepares" openrc true start_pre
check "openrc: the folder of the pid file" asked \
    "^checkpath .*-o restdaemon /run/restdaemon$"
check "openrc: looks at the configuration" asked \
    "^-t -q -c /etc/restdaemon/restdaemon.conf$"
check "openrc: does not start with a bad one" bad_openrc start_pre
for pair in reload:HUP upgrade:USR2; do
    check "openrc: ${pair%:*}" openrc true "${pair%:*}"
    check "openrc: by ${pair#*:}" asked "^signal --signal ${pair#*:} --exec program"
    check "openrc: no ${pair%:*} of a bad file" bad_openrc "${pair%:*}"
    check "openrc: nor a signal" not_asked "^signal"
done
check "openrc: reopens" openrc true reopen
check "openrc: by USR1" asked "--signal USR1 .*--pidfile /run/restdaemon/"

# --- sysctl: an example that changes nothing by being there
no_settings() {
    ! grep -q '^[^#]' "$conf/sysctl.d/60-restdaemon.conf"
}
check "sysctl: comments alone" no_settings
finish
