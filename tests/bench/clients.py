# SPDX-License-Identifier: MIT
"""The load generators, what they print, and the tools that watch a server.

Each function runs one client against one server and returns a Run. A run in
which requests failed is an error unless the caller counts failures itself.
"""
import os
import re
import signal
import socket
import subprocess

from servers import (HERE, BenchError, child_setup, read_reply, request_bytes)

CLIENT_TIMEOUT_S = 300


class Run:
    """What a client saw: requests completed, failed, and per second."""

    def __init__(self, done, failed, per_second, seconds=0.0):
        self.done = done
        self.failed = failed
        self.per_second = per_second
        self.seconds = seconds
        self.sleeps = None  # of the server, per request


def number(pattern, text, default=None):
    found = re.search(pattern, text, re.M)
    if found:
        return float(found.group(1))
    if default is None:
        raise BenchError(f"no {pattern!r} in the client's output:\n{text}")
    return default


def run_tool(argv, cpus):
    """Returns its output; an exit status but 0 is an error."""
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=CLIENT_TIMEOUT_S, check=False,
            text=True, preexec_fn=child_setup(cpus))
    except subprocess.TimeoutExpired as error:
        raise BenchError(f"{argv[0]} took over {CLIENT_TIMEOUT_S} s"
                         ) from error
    if done.returncode != 0:
        raise BenchError(f"{' '.join(argv)}: {done.stdout[-300:].strip()}")
    return done.stdout


def wrk(server, cpus, seconds=2, pipelined=False):
    argv = ["wrk", "-t1", "-c64", f"-d{seconds}s"]
    if pipelined:
        argv += ["-s", os.path.join(HERE, "pipeline.lua")]
    text = run_tool(argv + [f"http://127.0.0.1:{server.port}/status"], cpus)
    failed = number(r"Non-2xx or 3xx responses: (\d+)", text, 0)
    for count in re.findall(r"(?:connect|read|write|timeout) (\d+)", text):
        failed += int(count)
    return Run(number(r"(\d+) requests in", text), failed,
               number(r"Requests/sec: +([\d.]+)", text))


def ab(server, cpus, connections, requests, kept):
    argv = ["ab", "-q", "-l", "-c", str(connections), "-n", str(requests)]
    if kept:
        argv.append("-k")
    text = run_tool(argv + [f"http://127.0.0.1:{server.port}/status"], cpus)
    failed = number(r"Non-2xx responses: +(\d+)", text, 0)
    # Length differs between replies of /status, and that is no failure.
    for count in re.findall(r"(?:Connect|Receive|Exceptions): (\d+)", text):
        failed += int(count)
    if kept and number(r"Keep-Alive requests: +(\d+)", text) < requests:
        raise BenchError(f"{server.name} did not keep the connections")
    return Run(number(r"Complete requests: +(\d+)", text), failed,
               number(r"Requests per second: +([\d.]+)", text))


def h2load(server, cpus, per_connection, seconds):
    """A constant rate. The number of requests is given instead of a time, so
    that each of them has to be accounted for."""
    due = int(per_connection * 64 * seconds)
    text = run_tool(["h2load", "--h1", "-c64", f"--rps={per_connection}",
                     "-n", str(due),
                     f"http://127.0.0.1:{server.port}/status"], cpus)
    answered = min(number(r"(\d+) succeeded", text),
                   number(r"status codes: (\d+) 2xx", text))
    took = re.search(r"finished in ([\d.]+)(us|ms|s),", text)
    if not took:
        raise BenchError(f"unknown output of h2load:\n{text}")
    took_s = float(took.group(1)) * {"us": 1e-6, "ms": 1e-3,
                                     "s": 1}[took.group(2)]
    return Run(answered, due - answered, answered / took_s, took_s)


class Rate:
    """h2load at a constant rate, started at once; finish() says how long the
    requests took, in ms, shortest first."""

    def __init__(self, server, cpus, path, connections, per_second, seconds,
                 folder):
        self.due = per_second * seconds
        self.log = os.path.join(folder, f"h2load{path.replace('/', '-')}.log")
        self.process = subprocess.Popen(
            ["h2load", "--h1", f"-c{connections}",
             f"--rps={per_second / connections}", "-n", str(self.due),
             f"--log-file={self.log}",
             f"http://127.0.0.1:{server.port}{path}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=child_setup(cpus))

    def finish(self):
        try:
            self.process.wait(CLIENT_TIMEOUT_S)
            with open(self.log) as log:
                rows = [line.split() for line in log]
        finally:
            self.process.kill()
            self.process.wait()
            if os.path.exists(self.log):
                os.unlink(self.log)
        good = [int(row[2]) / 1000 for row in rows if row[1] == "200"]
        if len(good) < self.due:
            raise BenchError(f"{self.due - len(good)} of {self.due} requests "
                             "were not answered")
        return sorted(good)


class Strace:
    """Counts the system calls of a running server, or of its threads of one
    name, while inside `with`."""

    def __init__(self, server, cpus, path, thread=None):
        self.path = path
        self.calls = {}
        targets = server.threads(thread) if thread else server.pids()
        argv = ["strace", "-c", "-o", path] + ([] if thread else ["-f"])
        for pid in targets:
            argv += ["-p", str(pid)]
        self.process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            preexec_fn=child_setup(cpus))
        seen = ""
        for _ in targets:  # one line each, whatever its threads
            seen = self.process.stderr.readline()
            if "attached" not in seen:
                self.process.kill()
                self.process.wait()
                raise BenchError(f"strace: {seen.strip()}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate()
        with open(self.path) as summary:
            for line in summary:
                fields = line.split()
                if len(fields) >= 5 and fields[3].isdigit() and \
                        fields[-1] != "total":
                    self.calls[fields[-1]] = int(fields[3])
        if not self.calls:
            raise BenchError("strace counted nothing")


def open_idle(port, count, batch=100):
    """`count` connections, each having made one request and had its reply."""
    socks = []
    message = request_bytes(port)
    while len(socks) < count:
        fresh = []
        for _ in range(min(batch, count - len(socks))):
            sock = socket.create_connection(("127.0.0.1", port), timeout=30)
            sock.sendall(message)
            fresh.append(sock)
        socks += fresh
        for sock in fresh:
            if read_reply(sock)[0] != 200:
                raise BenchError("an idle connection was not answered by 200")
    return socks


def still_answered(socks, port, step):
    """Makes a second request on every step-th; returns how many failed."""
    failed = 0
    for sock in socks[::step]:
        try:
            sock.sendall(request_bytes(port))
            failed += read_reply(sock)[0] != 200
        except (OSError, BenchError):
            failed += 1
    return failed
