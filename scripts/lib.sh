# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# For the scripts that install what they need. Sourced, never run.

# True when all that stands before the colon is there: a command, or a file
# when it has a slash.
have() {
    case $1 in
    */*) [ -e "$1" ] ;;
    *) command -v "$1" >/dev/null 2>&1 ;;
    esac
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif have sudo; then
        sudo "$@"
    else
        echo 'please run this as root, or install sudo' >&2
        return 1
    fi
}

# need THING:PACKAGE...: installs the packages of the things that are missing;
# says nothing when there are none.
need() {
    packages=
    for pair in "$@"; do
        have "${pair%%:*}" || packages="$packages ${pair##*:}"
    done
    [ -n "$packages" ] || return 0
    echo "installing$packages" >&2
    if ! have apt-get; then
        echo 'there is no apt-get: please install them yourself' >&2
        return 1
    fi
    # Output is shown only if it goes wrong.
    apt_log=$(mktemp)
    # shellcheck disable=SC2086 # a word for each package
    if as_root apt-get -q update >"$apt_log" 2>&1 &&
        as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y \
            --no-install-recommends $packages >>"$apt_log" 2>&1; then
        rm -f "$apt_log"
    else
        tail -n 30 "$apt_log" >&2
        rm -f "$apt_log"
        return 1
    fi
}

need_build() {
    need gcc:gcc make:make /usr/include/stdio.h:libc6-dev \
        /usr/include/ev.h:libev-dev /usr/include/pcre2.h:libpcre2-dev \
        /usr/include/zlib.h:zlib1g-dev /usr/include/confuse.h:libconfuse-dev
}

need_tests() {
    need gcc:gcc g++:g++ make:make /usr/include/stdio.h:libc6-dev \
        /usr/include/ev.h:libev-dev /usr/include/pcre2.h:libpcre2-dev \
        /usr/include/zlib.h:zlib1g-dev /usr/include/confuse.h:libconfuse-dev \
        /usr/include/check.h:check \
        /usr/include/jansson.h:libjansson-dev \
        pkg-config:pkg-config python3:python3 node:nodejs curl:curl \
        ab:apache2-utils ps:procps
}

jobs() {
    nproc 2>/dev/null || echo 2
}
