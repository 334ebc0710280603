# SPDX-License-Identifier: MIT
"""The servers that the benchmark compares, and what they cost.

Each Server is one candidate started once: a process group of its own on given
CPUs, on a free loopback port, killed with the benchmark. It gets no session of
its own: the kernel's autogroups would then share the CPU evenly between it and
the spinner, whose idle class counts within its session only. CPU time comes
from the kernel's process clocks, which hold the same run time as utime + stime
of /proc/PID/stat, threads that have ended included, in ns instead of ticks.
"""
import ctypes
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BODY_PATH = os.path.join(HERE, "body.json")
START_TIMEOUT_S = 60  # generous: valgrind
STOP_TIMEOUT_S = 15
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


class BenchError(Exception):
    """A measurement that cannot be had or trusted; says why."""


def child_setup(cpus, idle=False):
    """For preexec_fn: what taskset and `chrt --idle 0` would do."""
    def setup():
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.sched_setaffinity(0, cpus)
        if idle:
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    return setup


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def request_bytes(port, path="/status"):
    return (f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            "Accept: */*\r\n\r\n").encode()


def read_reply(sock):
    """Reads one reply with Content-Length; returns status and body."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = sock.recv(65536)
        if not more:
            raise BenchError("connection closed inside a reply's head")
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    length = re.search(rb"(?im)^content-length: *(\d+)", head)
    if not length:
        raise BenchError("reply without Content-Length")
    while len(body) < int(length.group(1)):
        more = sock.recv(65536)
        if not more:
            raise BenchError("connection closed inside a reply's body")
        body += more
    return int(head.split()[1]), body


class Server:
    """One running candidate. A context manager: leaving it stops it."""

    def __init__(self, name, argv, port, cpus, folder):
        self.name = name
        self.port = port
        self.log_path = os.path.join(folder, f"{name.split()[0]}-{port}.log")
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                process_group=0, preexec_fn=child_setup(cpus))
        self.pid = self.process.pid
        try:
            self.wait_ready()
        except BaseException:
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def log_tail(self):
        with open(self.log_path, errors="replace") as log:
            return log.read()[-400:].strip()

    def wait_ready(self):
        """Until a request is answered: that is the event waited for."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise BenchError(f"{self.name} ended at start, status "
                                 f"{self.process.returncode}: "
                                 f"{self.log_tail()}")
            try:
                with socket.create_connection(("127.0.0.1", self.port),
                                              timeout=START_TIMEOUT_S) as sock:
                    sock.sendall(request_bytes(self.port))
                    status, body = read_reply(sock)
            except ConnectionRefusedError:
                time.sleep(0.005)
                continue
            except OSError as error:
                raise BenchError(f"{self.name}: {error}") from error
            if status != 200 or not 300 <= len(body) <= 512:
                raise BenchError(f"{self.name} answers {status} with "
                                 f"{len(body)} bytes")
            json.loads(body)
            return
        with open(f"/proc/{self.pid}/wchan") as wchan:
            raise BenchError(f"{self.name} does not listen, waits in "
                             f"{wchan.read()!r}: {self.log_tail()}")

    def pids(self):
        """The processes of its group."""
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    if os.getpgid(int(entry)) == self.pid:
                        found.append(int(entry))
                except ProcessLookupError:
                    pass
        return found

    def threads(self, name):
        """The threads of that name."""
        found = []
        for pid in self.pids():
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/comm") as comm:
                    if comm.read().strip() == name:
                        found.append(int(task))
        return found

    def cpu_ns(self):
        # clock_getcpuclockid(3) as the kernel defines it: a process's clock
        # is ~pid << 3 | CPUCLOCK_SCHED.
        return sum(time.clock_gettime_ns(~pid << 3 | 2) for pid in self.pids())

    def sleeps(self):
        """How often its threads have gone to sleep."""
        total = 0
        for pid in self.pids():
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/status") as status:
                    total += int(re.search(r"^voluntary_.*:\s+(\d+)",
                                           status.read(), re.M).group(1))
        return total

    def descriptors(self):
        return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in self.pids())

    def rss_kb(self):
        # smaps_rollup walks the pages; VmRSS is off by up to 32 pages per CPU.
        total = 0
        for pid in self.pids():
            with open(f"/proc/{pid}/smaps_rollup") as rollup:
                total += int(re.search(r"^Rss: +(\d+) kB", rollup.read(),
                                       re.M).group(1))
        return total

    def peak_kb(self):
        with open(f"/proc/{self.pid}/status") as status:
            return int(re.search(r"^VmHWM:\s+(\d+) kB", status.read(),
                                 re.M).group(1))

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                pass
        for pid in self.pids():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        return self.process.returncode


NGINX_CONF = """\
daemon off;
worker_processes 1;
worker_rlimit_nofile {descriptors};
pid {folder}/nginx.pid;
error_log stderr crit;
events {{ use epoll; worker_connections {connections}; }}
http {{
    access_log off;
    default_type application/json;
    keepalive_requests 1000000000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        location / {{ return 200 '{body}'; }}
    }}
}}
"""

H2O_CONF = """\
num-threads: 1
max-connections: {connections}
http1-request-timeout: 75
error-log: /dev/null
hosts:
  default:
    listen: {{host: 127.0.0.1, port: {port}}}
    paths:
      /status: {{file.file: {folder}/status.json}}
"""


class Fleet:
    """Starts candidates by name: restdaemon, floor, nginx, h2o, mhd, kinds."""

    def __init__(self, folder, build, command, server_cpus, all_cpus):
        self.folder = folder
        self.bench_folder = os.path.join(build, "bench")
        self.command = command
        self.server_cpus = server_cpus
        self.all_cpus = all_cpus
        with open(BODY_PATH) as body:
            self.body = body.read()
        if len(self.body) != 357:
            raise BenchError("body.json must have 357 bytes")

    def start(self, name, cpus=None, prefix=(), workers=1):
        port = free_port()
        kind, _, rest = name.partition(" ")
        argv = getattr(self, "argv_" + kind)(port, rest, workers)
        return Server(name, [*prefix, *argv], port, cpus or self.server_cpus,
                      self.folder)

    def argv_restdaemon(self, port, options, workers):
        argv = shlex.split(self.command.format(port=port, workers=workers))
        return argv + shlex.split(options)

    def argv_floor(self, port, mode, _):
        return [os.path.join(self.bench_folder, "floor"), "-b", BODY_PATH,
                "-m", mode or "keep", "-p", str(port)]

    def argv_mhd(self, port, *_):
        return [os.path.join(self.bench_folder, "mhd"), "-b", BODY_PATH,
                "-p", str(port)]

    def argv_kinds(self, port, kind, _):
        return [os.path.join(self.bench_folder, "kinds"), "-b", BODY_PATH,
                "-k", kind, "-p", str(port)]

    def write_config(self, name, text, port):
        path = os.path.join(self.folder, f"{name}-{port}.conf")
        with open(path, "w") as config:
            config.write(text.format(port=port, folder=self.folder,
                                     body=self.body, connections=16384,
                                     descriptors=20000))
        return path

    def argv_nginx(self, port, *_):
        path = self.write_config("nginx", NGINX_CONF, port)
        return ["nginx", "-p", self.folder, "-c", path]

    def argv_h2o(self, port, *_):
        with open(os.path.join(self.folder, "status.json"), "w") as body:
            body.write(self.body)
        return ["h2o", "-m", "worker",
                "-c", self.write_config("h2o", H2O_CONF, port)]


class Spinners:
    """A busy loop of the idle scheduling class on each CPU, so that a server
    that waits neither halts the CPU nor changes its clock rate."""

    def __init__(self, cpus):
        self.children = [
            subprocess.Popen(["sh", "-c", "while :; do :; done"],
                             stdin=subprocess.DEVNULL,
                             preexec_fn=child_setup({cpu}, idle=True))
            for cpu in cpus]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for child in self.children:
            child.kill()
            child.wait()
