# SPDX-License-Identifier: MIT
"""What is measured, a method of Bench per section, and the bars.

Methods append rows; a BenchError becomes a row that counts as a missed bar.
Without the daemon (--peers-only) only the rows of floor and peers are made.
"""
import os
import re
import shutil
import subprocess
import time

import report
from clients import (Rate, Strace, ab, h2load, open_idle, still_answered, wrk)
from servers import BenchError

SECTIONS = ["kept", "pipelined", "closing", "many", "rate", "syscalls",
            "callgrind", "access", "allocs", "memory", "idle", "kinds",
            "waiting"]
RD = "restdaemon"
PEERS = ["nginx", "h2o", "mhd"]
RECV_CALLS = {"recvfrom", "recvmsg", "read", "readv"}
SEND_CALLS = {"sendto", "sendmsg", "write", "writev"}
IDLE_CONNECTIONS = 10000
SETTLE_TIMEOUT_S = 10


class Bench:
    """One run of the benchmark and its rows."""

    def __init__(self, fleet, client_cpus, rounds, repeats, with_daemon):
        self.fleet = fleet
        self.client_cpus = client_cpus
        self.rounds = rounds    # of CPU time
        self.repeats = repeats  # of what hardly varies or takes long
        self.with_daemon = with_daemon
        self.rows = []

    def run(self, section):
        try:
            getattr(self, "run_" + section)(section)
        except (BenchError, OSError) as error:
            self.append(report.failure(section, error, self.with_daemon))

    def append(self, row):
        self.rows.append(row)
        report.progress("  " + report.line(row))

    def add(self, *args, **kwargs):
        self.append(report.row(*args, **kwargs))

    def candidates(self, names):
        return [name for name in names
                if self.with_daemon or not name.startswith(RD)]

    # CPU time per request

    def cpu_sample(self, name, client, workers=1):
        """Starts the candidate, loads it; CPU us per request and the Run."""
        with self.fleet.start(name, workers=workers) as server:
            before, slept = server.cpu_ns(), server.sleeps()
            run = client(server)
            # What the server does after the client has its last reply, such
            # as closing, is part of the price.
            time.sleep(0.02)
            spent = server.cpu_ns() - before
            slept = server.sleeps() - slept
        if run.done == 0:
            raise BenchError(f"{name}: no request was completed")
        run.sleeps = slept / run.done
        return spent / 1000 / run.done, run

    def cpu_rounds(self, section, label, names, client, **kwargs):
        """Per candidate the CPU us of every round, and the Runs."""
        costs = {name: [] for name in names}
        runs = {name: [] for name in names}
        for _ in range(self.rounds):
            for name in names:
                cost, run = self.cpu_sample(name, client, **kwargs)
                costs[name].append(cost)
                runs[name].append(run)
        for name in names:
            per_second = report.spread([r.per_second for r in runs[name]])
            # A server that outruns its client sleeps more often, and waking
            # up costs more than a request.
            sleeps = report.spread([r.sleeps for r in runs[name]])
            self.add(section, f"{label}: {name}, CPU per request",
                     costs[name], "us",
                     note=f"{per_second['median']:,.0f}/s, "
                          f"{sleeps['median']:.3f} sleeps")
        return costs, runs

    def ratio(self, section, label, costs, other, name=RD, **bar):
        if name in costs:
            pairs = zip(costs[name], costs[other])
            self.add(section, f"{label}: {name} / {other}",
                     [ours / theirs for ours, theirs in pairs], "", **bar)

    def failed(self, section, label, runs, name=RD):
        """Failed requests are a missed bar wherever they appear."""
        if name in runs:
            self.add(section, f"{label}: {name}, failed requests",
                     [sum(run.failed for run in runs[name])], "", bar=0)

    def run_kept(self, section):
        names = self.candidates([RD, "floor"] + PEERS)
        clients = {
            "wrk -t1 -c64": lambda s: wrk(s, self.client_cpus),
            "ab -k -c 50": lambda s: ab(s, self.client_cpus, 50, 50000, True),
        }
        for label, client in clients.items():
            costs, runs = self.cpu_rounds(section, label, names, client)
            self.ratio(section, label, costs, "floor", bar=1.10)
            for peer in PEERS:
                self.ratio(section, label, costs, peer, bar=1, strict=True)
            self.failed(section, label, runs)

    def run_kinds(self, section):
        """An empty handler on its loop, and on a thread of its own."""
        names = ["kinds inline", "kinds offload"]
        label = "ab -k -c 50"
        costs, runs = self.cpu_rounds(
            section, label, names,
            lambda s: ab(s, self.client_cpus, 50, 50000, True))
        self.ratio(section, label, costs, "kinds inline",
                   name="kinds offload", bar=3)
        for name in names:
            self.failed(section, label, runs, name)

    def run_waiting(self, section):
        """/status while 64 threads sleep in handlers: its p99."""
        alone, beside = [], []
        for _ in range(7):
            with self.fleet.start("kinds inline") as server:
                for p99s, waits in ((alone, False), (beside, True)):
                    loads = [Rate(server, self.client_cpus, "/status", 64,
                                  10000, 3, self.fleet.folder)]
                    if waits:
                        loads.append(Rate(server, self.client_cpus, "/wait",
                                          40, 200, 3, self.fleet.folder))
                    times = [load.finish() for load in loads][0]
                    p99s.append(times[len(times) * 99 // 100])
        self.add(section, "10,000/s: p99 alone", alone, "ms")
        base = report.spread(alone)["median"]
        self.add(section, "10,000/s: p99 beside 200/s that sleep 100 ms",
                 beside, "ms", bar=max(1.5 * base, base + 1))

    def run_pipelined(self, section):
        label = "wrk, 16 at once"
        names = self.candidates([RD, "floor"] + PEERS)
        costs, runs = self.cpu_rounds(
            section, label, names,
            lambda s: wrk(s, self.client_cpus, pipelined=True))
        self.ratio(section, label, costs, "nginx", bar=0.12)
        self.ratio(section, label, costs, "floor")
        self.failed(section, label, runs)

    def run_closing(self, section):
        label = "ab -c 50"
        plain = RD + " -o tuning.defer_accept=0"
        names = self.candidates([RD, plain, "floor close", "floor defer"]
                                + PEERS)
        costs, runs = self.cpu_rounds(
            section, label, names,
            lambda s: ab(s, self.client_cpus, 50, 20000, False))
        self.ratio(section, label, costs, "floor close", bar=0.75)
        self.ratio(section, label, costs, "nginx", bar=0.70)
        self.ratio(section, label, costs, "floor defer")
        self.ratio(section, label, costs, "floor close", name=plain)
        self.ratio(section, label, costs, "nginx", name=plain)
        self.failed(section, label, runs)
        self.failed(section, label, runs, name=plain)

    def run_many(self, section):
        """Both loops on the server's one CPU, as everywhere: sharing the
        client's would measure the scheduler."""
        label = "ab -k -c 2000, -w 2"
        names = self.candidates([RD, "nginx"])
        costs, runs = self.cpu_rounds(
            section, label, names,
            lambda s: ab(s, self.client_cpus, 2000, 100000, True), workers=2)
        self.ratio(section, label, costs, "nginx", bar=1, strict=True)
        self.failed(section, label, runs)

    # Constant rates

    def run_rate(self, section):
        if not self.with_daemon:
            return
        for per_connection, seconds in ((312.5, 5), (468.75, 5)):
            label = f"{per_connection * 64:,.0f}/s for {seconds} s"
            answered, late = [], []
            for _ in range(self.repeats):
                with self.fleet.start(RD) as server:
                    run = h2load(server, self.client_cpus, per_connection,
                                 seconds)
                answered.append(100 * run.done / (run.done + run.failed))
                late.append(run.seconds / seconds)
            self.add(section, f"{label}: answered, worst of {self.repeats}",
                     [min(answered)], "%", bar=100, least=True)
            self.add(section, f"{label}: time taken / time due", late, "",
                     bar=1.05)

    # Per request: system calls, instructions, allocations

    def run_syscalls(self, section):
        requests = 20000
        names = self.candidates([RD, "floor"] + PEERS)
        for name in names:
            with self.fleet.start(name) as server:
                path = os.path.join(self.fleet.folder, "strace.out")
                with Strace(server, self.client_cpus, path) as counted:
                    ab(server, self.client_cpus, 64, requests, True)
            calls = counted.calls
            each = sorted(calls.items(), key=lambda item: -item[1])[:4]
            note = ", ".join(f"{call} {count / requests:.3f}"
                             for call, count in each)
            received = sum(calls.get(call, 0) for call in RECV_CALLS)
            sent = sum(calls.get(call, 0) for call in SEND_CALLS)
            ours = name == RD
            self.add(section, f"{name}: calls per kept request, ab -k -c 64",
                     [sum(calls.values()) / requests], "", note=note,
                     bar=2.2 if ours else None)
            if ours:
                # 64 connections are also read to their end, once each.
                self.add(section, f"{name}: of these, reads",
                         [received / requests], "", bar=1.02)
                self.add(section, f"{name}: of these, writes",
                         [sent / requests], "", bar=1.02)

    def under_valgrind(self, options, requests, name=RD):
        """Kept requests on 64 connections; the log of the tool."""
        log_path = os.path.join(self.fleet.folder, "valgrind.log")
        prefix = ["valgrind", f"--log-file={log_path}", *options]
        with self.fleet.start(name, prefix=prefix) as server:
            run = ab(server, self.client_cpus, 64, requests, True)
            if run.failed:
                raise BenchError(f"{run.failed} requests failed in valgrind")
            status = server.stop()
            if status != 0:
                raise BenchError(f"exit status {status} in valgrind")
        with open(log_path) as log:
            return log.read()

    def difference(self, options, pattern, name=RD):
        """Of what the tool counts, per request between 10,000 and 20,000."""
        totals = []
        for requests in (10000, 20000):
            log = self.under_valgrind(options, requests, name)
            found = re.search(pattern, log)
            if not found:
                raise BenchError(f"valgrind does not say {pattern!r}: "
                                 f"{log[-300:]}")
            totals.append(int(found.group(1).replace(",", "")))
        return (totals[1] - totals[0]) / 10000

    def instructions(self, profile, name=RD):
        return self.difference(["--tool=callgrind",
                                f"--callgrind-out-file={profile}"],
                               r"Collected : ([\d,]+)", name)

    def run_callgrind(self, section):
        if not self.with_daemon:
            return
        profile = os.path.join(self.fleet.folder, "callgrind.out")
        samples = [self.instructions(profile) for _ in range(self.repeats)]
        shutil.copy(profile, os.path.join(self.fleet.bench_folder,
                                          "callgrind.out"))
        self.add(section, "user-space instructions per kept request", samples,
                 "", bar=2500)

    def run_access(self, section):
        """What a line of the access log costs, until it is in the file."""
        if not self.with_daemon:
            return
        path = os.path.join(self.fleet.folder, "access.log")
        name = (f"{RD} -o access_log.target=file -o access_log.file={path} "
                "-o access_log.format=combined")
        profile = os.path.join(self.fleet.folder, "access.out")
        self.add(section, "instructions more per kept request, combined",
                 [self.instructions(profile, name)
                  - self.instructions(profile) for _ in range(self.repeats)],
                 "", bar=1500)
        requests = 50000
        os.truncate(path, 0)
        with self.fleet.start(name) as server:
            calls = os.path.join(self.fleet.folder, "strace.out")
            with Strace(server, self.client_cpus, calls,
                        "restd-loop-0") as counted:
                ab(server, self.client_cpus, 64, requests, True)
        with open(path, "rb") as log:
            lines = sum(1 for _ in log)
        others = {call: count for call, count in counted.calls.items()
                  if call not in RECV_CALLS and call not in SEND_CALLS
                  and call != "epoll_wait"}
        note = ", ".join(f"{call} {count}" for call, count in others.items())
        # Wake-ups of the writer when the load sets in, and accepting.
        self.add(section, "calls of the loop beside its own, per request",
                 [others.get("futex", 0) / requests], "", note=note, bar=0.001)
        self.add(section, "requests without a line",
                 [requests + 1 - lines], "", bar=0)

    def run_allocs(self, section):
        if not self.with_daemon:
            return
        samples = [self.difference(["--tool=memcheck", "--leak-check=no"],
                                   r"total heap usage: ([\d,]+) allocs")
                   for _ in range(self.repeats)]
        # Once per second the sampler runs, and the longer run has more of
        # these; it may allocate, a request may not.
        self.add(section, "allocations per kept request", samples, "",
                 bar=0.001)

    # Memory

    def run_memory(self, section):
        if not self.with_daemon:
            return
        peaks, totals, failed = [], [], 0
        for _ in range(self.repeats):
            with self.fleet.start(RD, self.fleet.all_cpus,
                                  workers=10) as server:
                fresh = pmap_total_kb(server.pid)
                failed += ab(server, self.client_cpus, 2000, 100000,
                             True).failed
                peaks.append(server.peak_kb())
                totals.append(max(fresh, pmap_total_kb(server.pid)))
        self.add(section, "-w 10, ab -k -c 2000: VmHWM", peaks, "kB",
                 bar=8192)
        self.add(section, "-w 10, ab -k -c 2000: failed requests", [failed],
                 "", bar=0)
        self.add(section, "-w 10: pmap total, the greater of fresh and loaded",
                 totals, "K", bar=12736)

    def idle_sample(self, name):
        """RSS in kB with the idle connections, and bytes of it for each."""
        with self.fleet.start(name, self.fleet.all_cpus, workers=2) as server:
            base = server.descriptors()
            ab(server, self.client_cpus, 64, 20000, True)
            wait_descriptors(server, base)
            base = server.descriptors()
            warm = server.rss_kb()
            socks = open_idle(server.port, IDLE_CONNECTIONS)
            try:
                full = server.rss_kb()
                held = server.descriptors() - base
                failed = still_answered(socks, server.port, 100)
            finally:
                for sock in socks:
                    sock.close()
        if held < IDLE_CONNECTIONS or failed:
            raise BenchError(f"{name} holds {held} of {IDLE_CONNECTIONS} idle "
                             f"connections, {failed} of 100 do not answer")
        return full, (full - warm) * 1024 / IDLE_CONNECTIONS

    def run_idle(self, section):
        label = f"{IDLE_CONNECTIONS:,} idle"
        for name in self.candidates([RD, "floor"] + PEERS):
            ours = name == RD
            try:
                samples = [self.idle_sample(name)
                           for _ in range(self.repeats if ours else 1)]
            except (BenchError, OSError) as error:
                self.append(report.failure(section, error, ours))
                continue
            self.add(section, f"{label}: {name}, RSS",
                     [sample[0] for sample in samples], "kB",
                     bar=6144 if ours else None)
            self.add(section, f"{label}: {name}, bytes each above warm",
                     [sample[1] for sample in samples], "",
                     bar=240 if ours else None)


def pmap_total_kb(pid):
    text = subprocess.run(["pmap", str(pid)], stdout=subprocess.PIPE,
                          text=True, check=True).stdout
    return int(re.search(r"total\s+(\d+)K", text).group(1))


def wait_descriptors(server, base):
    """Until the connections of the last client are closed."""
    deadline = time.monotonic() + SETTLE_TIMEOUT_S
    while server.descriptors() > base:
        if time.monotonic() > deadline:
            raise BenchError(f"{server.name} keeps descriptors: "
                             f"{server.descriptors()}, {base} at first")
        time.sleep(0.005)
