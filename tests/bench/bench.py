# SPDX-License-Identifier: MIT
"""Measures restdaemon against the floor, nginx, h2o and libmicrohttpd.

What counts is server CPU time per request: throughput on shared cores is noisy
and often the client's, so it is only reported. The server has the first CPU,
the client the second, a spinner of the idle class runs on each; candidates
take turns (A B C A B C ...), each freshly started, and a ratio is the median
of the ratios within a round. Prints a Markdown table, writes bench.json.

Exit status: 0 every bar is met, 1 one is missed, 2 nothing could be measured.
"""
import argparse
import contextlib
import json
import os
import platform
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # before our own modules

import report
from sections import SECTIONS, Bench
from servers import ROOT, BenchError, Fleet, Spinners


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description=__doc__.split("\n\n", maxsplit=1)[0],
        epilog="sections: " + ", ".join(SECTIONS))
    parser.add_argument("sections", nargs="*", metavar="SECTION",
                        help="what to measure (default: all)")
    parser.add_argument("--rounds", type=int, default=9,
                        help="interleaved rounds of CPU time (default 9)")
    parser.add_argument("--quick", action="store_true",
                        help="3 rounds, and 1 of what is repeated less")
    parser.add_argument("--peers-only", action="store_true",
                        help="only the floor and the peers, no bars")
    parser.add_argument("--server-cmd", metavar="COMMAND",
                        help="instead of restdaemon; {port} and {workers} are "
                        "filled in")
    parser.add_argument("--priority", action="store_true",
                        help="servers and clients at nice -20, for a machine "
                        "that has other work (root)")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"unknown section {unknown[0]}; there are "
                     + ", ".join(SECTIONS))
    if arguments.rounds < 1:
        parser.error("--rounds must be at least 1")
    return arguments


def daemon_command(arguments):
    """None: the peers alone."""
    if arguments.peers_only:
        return None
    if arguments.server_cmd:
        return arguments.server_cmd
    binary = os.path.join(ROOT, os.environ.get("RD_BIN", "bin/restdaemon"))
    if not os.access(binary, os.X_OK):
        raise BenchError(f"{binary} is not there: run make first")
    return f"'{binary}' -c none -l 127.0.0.1:{{port}} -w {{workers}} -q"


def build(name, libraries, folder):
    """Compiles tests/bench/NAME.c where make has not done it."""
    source = os.path.join(ROOT, "tests/bench", name + ".c")
    target = os.path.join(folder, name)
    if os.path.exists(target) and \
            os.path.getmtime(target) >= os.path.getmtime(source):
        return
    command = [os.environ.get("CC", "cc"), "-std=c11", "-D_GNU_SOURCE", "-O2",
               "-g", "-Wall", "-Wextra", "-o", target, source, *libraries]
    if subprocess.run(command, check=False).returncode != 0:
        raise BenchError(f"{source} does not compile")


def raise_descriptor_limit():
    """For the clients and, inherited, for the servers."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


@contextlib.contextmanager
def priority(wanted):
    """Nice -20 among the others of this session and, where the kernel groups
    by session, for the session itself; children inherit both."""
    group_path = "/proc/self/autogroup"
    before = None
    if wanted:
        os.setpriority(os.PRIO_PROCESS, 0, -20)
        if os.path.exists(group_path):
            with open(group_path, "r+") as group:
                before = group.read().split()[-1]
                group.write("-20")
    try:
        yield
    finally:
        if before is not None:
            with open(group_path, "w") as group:
                group.write(before)


def package_versions():
    names = ["wrk", "apache2-utils", "nghttp2-client", "nginx-light", "h2o",
             "libmicrohttpd-dev", "valgrind", "strace", "gcc"]
    done = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${Version}\n", *names],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        check=False)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines()
                if " " in line)


def machine(cpus):
    with open("/proc/cpuinfo") as info:
        models = [line.partition(":")[2].strip() for line in info
                  if line.startswith("model name")]
    return {
        "date": time.strftime("%Y-%m-%d"),
        "cpu": models[0] if models else platform.machine(),
        "cpus": len(cpus),
        "kernel": platform.release(),
        "load_before": round(os.getloadavg()[0], 2),
        "packages": package_versions(),
    }


class Others:
    """CPU time of this machine that is neither ours nor our children's, who
    have to be waited for first."""

    def __init__(self):
        self.before = self.count()

    @staticmethod
    def count():
        with open("/proc/stat") as stat:
            ticks = [int(field) for field in stat.readline().split()[1:9]]
        idle, iowait = ticks[3], ticks[4]
        busy = (sum(ticks) - idle - iowait) / os.sysconf("SC_CLK_TCK")
        return busy - sum(os.times()[:4])

    def seconds(self):
        return self.count() - self.before


def measure(arguments, build_folder, command):
    cpus = sorted(os.sched_getaffinity(0))
    about = machine(cpus)
    server_cpus, client_cpus = {cpus[0]}, {cpus[min(1, len(cpus) - 1)]}
    os.sched_setaffinity(0, client_cpus)
    folder = tempfile.mkdtemp(prefix="restdaemon-bench-")
    os.chmod(folder, 0o755)  # peers drop to another user
    try:
        fleet = Fleet(folder, build_folder, command, server_cpus, set(cpus))
        bench = Bench(fleet, client_cpus, 3 if arguments.quick
                      else arguments.rounds, 1 if arguments.quick else 3,
                      command is not None)
        others, started = Others(), time.monotonic()
        with Spinners(cpus[:2]):
            for name in arguments.sections or SECTIONS:
                report.progress(f"{name} ...")
                bench.run(name)
                report.progress(
                    f"{time.monotonic() - started:.0f} s since the start")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    about["rounds"] = bench.rounds
    about["nice"] = os.getpriority(os.PRIO_PROCESS, 0)
    share = others.seconds() / (time.monotonic() - started) / len(cpus)
    about["others_percent"] = round(max(0, 100 * share), 1)
    return about, bench.rows


def main():
    arguments = parse_arguments()
    # So that `finally` and `with` stop what has been started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    build_folder = os.path.join(ROOT, os.environ.get("RD_BUILD", "build"))
    bench_folder = os.path.join(build_folder, "bench")
    try:
        command = daemon_command(arguments)
        os.makedirs(bench_folder, exist_ok=True)
        build("floor", [], bench_folder)
        build("mhd", ["-lmicrohttpd"], bench_folder)
        raise_descriptor_limit()
        with priority(arguments.priority):
            about, rows = measure(arguments, build_folder, command)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    print(report.text(about, rows))
    with open(os.path.join(build_folder, "bench.json"), "w") as out:
        json.dump({"machine": about, "rows": rows}, out, indent=1)
        out.write("\n")
    return 1 if any(row["met"] is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
