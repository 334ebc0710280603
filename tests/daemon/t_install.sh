#!/bin/sh
# SPDX-License-Identifier: MIT
# `make install` gives a library that C and C++ programs find by pkg-config and
# CMake, shared and static, and the README's example is a running service; `make
# uninstall` leaves nothing of it.
name=install
. "$(dirname "$0")/lib.sh"
cd "$tmp" || exit 1
# The variables of an outer make are in the environment; its jobs are not ours.
unset MAKEFLAGS MFLAGS MAKELEVEL T

prefix=$tmp/prefix
stage=$tmp/stage
cc=${CC:-cc}

run_make() {
    make --no-print-directory -C "$root" "$@" >"$tmp/out" 2>"$tmp/err"
}

# Files and links below a folder, one a line.
files() {
    (cd "$1" && find . ! -type d | sed 's|^\./||' | sort)
}

has_files() {
    folder=$1
    shift
    for f in "$@"; do
        [ -e "$folder/$f" ] || {
            echo "$f is missing" >"$tmp/err"
            return 1
        }
    done
}

dangling() {
    [ -z "$(find "$1" -type l ! -exec test -e {} \; -print)" ]
}

# --- where things go
check "installs" run_make install PREFIX="$prefix"
check "the library" has_files "$prefix/lib" librestd.a librestd.so \
    librestd.so.0 pkgconfig/librestd.pc cmake/librestd/librestdConfig.cmake \
    cmake/librestd/librestdConfigVersion.cmake
for header in "$root"/include/restd/*.h; do
    check "header ${header##*/}" cmp "$header" \
        "$prefix/include/restd/${header##*/}"
done
check "the daemon and its page" has_files "$prefix" sbin/restdaemon \
    share/man/man8/restdaemon.8 share/man/man5/restdaemon.conf.5 \
    share/man/man7/restd.7
check "pages of the functions" has_files "$prefix/share/man/man3" restd.3 \
    restd_server.3 restd_server_new.3 restd_router_add.3 restd_has.3
check "no link leads nowhere" dangling "$prefix"
check "what is deployed" has_files "$prefix" etc/logrotate.d/restdaemon \
    lib/systemd/system/restdaemon.service \
    lib/systemd/system/restdaemon.socket \
    share/doc/restdaemon/60-restdaemon.conf
check "a folder for more of the configuration" test -d \
    "$prefix/etc/restdaemon/conf.d"
check "the OpenRC script can be run" test -x \
    "$prefix/share/doc/restdaemon/openrc/restdaemon"
unit=$prefix/lib/systemd/system/restdaemon.service
file=$prefix/etc/restdaemon/restdaemon.conf
check "the unit starts this program with its file" grep -qx \
    "ExecStart=$prefix/sbin/restdaemon -c $file -f" "$unit"
check "and tests that before a reload" grep -qx \
    "ExecReload=$prefix/sbin/restdaemon -c $file -t -q" "$unit"
check "so does OpenRC" grep -q "restdaemon_config:=$file" \
    "$prefix/share/doc/restdaemon/openrc/restdaemon"
check "and no other" sh -c "! grep -q '=/usr/sbin/' '$unit'"
check "and may execute it" grep -qx "ExecPaths=/usr $prefix/sbin" "$unit"

# A packager's folders, staged, and moved afterwards.
check "installs into a stage" run_make install DESTDIR="$stage" PREFIX=/usr \
    LIBDIR=/usr/lib/machine MANDIR=/usr/man
check "the stage holds the same" sh -c "test \"$(files "$prefix" | wc -l)\" = \
    \"$(files "$stage" | wc -l)\""
check "in the folders that were asked for" has_files "$stage/usr" \
    lib/machine/librestd.so.0 lib/machine/pkgconfig/librestd.pc \
    lib/machine/cmake/librestd/librestdConfig.cmake man/man3/restd.3
check "the unit is as in the tree" cmp \
    "$root/conf/systemd/restdaemon.service" \
    "$stage/usr/lib/systemd/system/restdaemon.service"
check "for /usr, /etc is /etc" has_files "$stage/etc" logrotate.d/restdaemon
check "nothing of the stage is in a file" sh -c \
    "! grep -rIl '$stage' '$stage'"

# --- pkg-config
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
version=$(pkg-config --modversion librestd)
check "the .pc file is valid" pkg-config --validate librestd
check "its version is the header's" grep -q \
    "define RESTD_VERSION \"$version\"" "$prefix/include/restd/version.h"
check "shared: nothing but the library" [ \
    "$(pkg-config --libs librestd | tr -d ' ')" = "-L$prefix/lib-lrestd" ]
mv "$prefix" "$prefix.moved"
check "its prefix may be changed" [ "$(PKG_CONFIG_PATH="$prefix.moved/lib/pkgconfig" \
    pkg-config --define-variable=prefix="$prefix.moved" \
    --variable=includedir librestd)" = "$prefix.moved/include" ]
mv "$prefix.moved" "$prefix"

# --- programs
# Inline functions, structs that the library fills in, and call-backs are what
# may differ between languages.
cat >program.c <<'END'
#include <stdio.h>
#include <string.h>

#include <restd/restd.h>

static int greet(struct restd_request *request,
                 struct restd_response *response, void *data)
{
    struct restd_slice name = restd_request_param(request, "name");
    (void)data;
    return restd_response_printf(response, "Hello %.*s", (int)name.len,
                                 name.data);
}

int main(void)
{
    struct restd_router *router;
    struct restd_route_info route;
    struct restd_option_info option;
    struct restd_call call;
    struct restd_reply *reply;
    int good;

    restd_call_init(&call);
    call.target = "/hello/you";
    if (restd_router_new(RESTD_ROUTER_EXACT, &router) != 0 ||
        restd_router_add(router, "GET", "/hello/{name}", greet, NULL, NULL) !=
            0 ||
        restd_router_route_at(router, 0, &route) != 0 ||
        restd_option_info(0, &option) != 0 ||
        restd_router_call(router, &call, &reply, NULL) != 0) {
        return 1;
    }
    good = restd_slice_is(restd_reply_body(reply), "Hello you") &&
           strcmp(route.pattern, "/hello/{name}") == 0 &&
           strcmp(restd_version(), RESTD_VERSION) == 0;
    restd_reply_free(reply);
    restd_router_free(router);
    puts(good ? "good" : "bad");
    return !good;
}
END
cp program.c program.cpp

# build NAME COMPILER... : with its output kept for the report.
build() {
    "$@" >"$tmp/out" 2>"$tmp/err"
}
runs() {
    LD_LIBRARY_PATH=$2 "./$1" >"$tmp/out" 2>"$tmp/err" &&
        [ "$(cat "$tmp/out")" = good ]
}
needs_library() {
    readelf -d "$1" | grep -q 'NEEDED.*\[librestd\.so\.0\]'
}

programs() {
    # shellcheck disable=SC2046,SC2086 # words
    for file in c cpp; do
        compiler=$cc
        [ $file = c ] || compiler=${CXX:-g++}
        check "$file, shared: builds" build $compiler -Wall -Wextra -Werror \
            program.$file -o shared-$file \
            $(pkg-config --cflags --libs librestd)
        check "$file, shared: by its soname" needs_library shared-$file
        check "$file, shared: runs" runs shared-$file "$prefix/lib"
        check "$file, static: builds" build $compiler -static program.$file \
            -o static-$file $(pkg-config --static --cflags --libs librestd)
        check "$file, static: runs" runs static-$file /nowhere
    done
}

# What stands in README, but on a socket that nobody else has.
readme() {
    awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$root/README.md" |
        sed "s|127.0.0.1:8080|unix:$tmp/s|" >hello.c
    # shellcheck disable=SC2046,SC2086 # words
    check "README: builds" build $cc -Wall -Wextra -Werror hello.c \
        $(pkg-config --cflags --libs librestd) -o hello
    LD_LIBRARY_PATH=$prefix/lib ./hello >"$tmp/out" 2>"$tmp/err" &
    pids="$pids $!"
    check "README: serves" wait_for says "unix:$tmp/s" "Hello world" \
        /hello/world
}

cmake_project() {
    mkdir cmake
    cp program.c cmake/
    cat >cmake/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.10)
project(program C)
find_package(librestd ${WANTED} REQUIRED CONFIG)
add_executable(shared program.c)
target_link_libraries(shared restd::restd)
add_executable(static program.c)
target_link_libraries(static restd::static)
END
    check "cmake: finds it" build cmake -S cmake -B cmake/build \
        -DCMAKE_PREFIX_PATH="$prefix" -DWANTED="$version"
    check "cmake: builds" build cmake --build cmake/build
    check "cmake: shared runs" runs cmake/build/shared "$prefix/lib"
    check "cmake: static runs" runs cmake/build/static /nowhere
    if build cmake -S cmake -B cmake/none -DCMAKE_PREFIX_PATH="$prefix" \
        -DWANTED=999.0; then
        fail "cmake: takes a version that is not there"
    else
        ok
    fi
}

if [ -n "${RD_SANITIZED:-}" ] || [ "${COVERAGE:-0}" = 1 ]; then
    echo "SKIP programs: the library needs the run time of this variant"
else
    programs
    readme
    if command -v cmake >/dev/null 2>&1; then
        cmake_project
    else
        echo "SKIP cmake: not installed"
    fi
fi

# --- and away
# What people edit is neither replaced nor removed.
edited=$prefix/etc/logrotate.d/restdaemon
echo "# mine" >>"$edited"
check "installs once more" run_make install PREFIX="$prefix"
check "an edited file is kept" grep -qx "# mine" "$edited"
check "uninstalls, but for that" run_make uninstall PREFIX="$prefix"
check "says so" grep -q "left, as it has been changed: $edited" "$tmp/out"
check "nothing else is left" [ "$(files "$prefix")" = \
    etc/logrotate.d/restdaemon ]
cp "$root/conf/logrotate/restdaemon" "$edited"
check "uninstalls" run_make uninstall PREFIX="$prefix"
check "nothing is left" [ -z "$(files "$prefix")" ]
check "no folder of its own is left" [ -z \
    "$(find "$prefix" -mindepth 1 -name '*restd*')" ]
check "uninstalls from the stage" run_make uninstall DESTDIR="$stage" \
    PREFIX=/usr LIBDIR=/usr/lib/machine MANDIR=/usr/man
check "nothing is left in the stage" [ -z "$(files "$stage")" ]
finish
