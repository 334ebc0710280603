#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Static files, by the example that serves a folder: nginx on the same folder
gives the same answers, curl gets along with it, and memory does not grow with
what is sent.

RD_BUILD names the folder of the build. Without nginx (package nginx-light)
the comparison is skipped, and says so.
"""
import http.client
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rdtest import (free_port, raise_files, run_groups,  # noqa: E402
                    sanitized, slow)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
SERVER = os.path.join(os.environ.get("RD_BUILD") or
                      os.path.join(ROOT, "build", "cc"), "examples",
                      "static_files")
MODIFIED = 784111777  # Sun, 06 Nov 1994 08:49:37 GMT
READERS = 200

NGINX_CONF = """\
daemon off;
{user}
worker_processes 1;
pid {folder}/nginx.pid;
error_log stderr crit;
events {{ }}
http {{
    access_log off;
    default_type application/octet-stream;
    types {{ text/plain txt; text/html html; image/png png; }}
    charset utf-8;
    absolute_redirect off;
    if_modified_since before;
    gzip_static on;
    gzip_vary on;
    client_body_temp_path {folder}/t1;
    proxy_temp_path {folder}/t2;
    fastcgi_temp_path {folder}/t3;
    uwsgi_temp_path {folder}/t4;
    scgi_temp_path {folder}/t5;
    server {{
        listen 127.0.0.1:{port};
        root {folder}/root;
        index index.html;
    }}
}}
"""

# Header lines; @ is the entity-tag that the server has given the file.
LINES = [
    {}, {"Range": "bytes=0-9"}, {"Range": "bytes=-10"},
    {"Range": "bytes=500-"}, {"Range": "bytes=990-5000"},
    {"Range": "bytes=99999999-"}, {"Range": "bytes=-5000000"},
    {"Range": "bytes=0-0,-1"}, {"Range": "bytes=1-2,10-19,500-509"},
    {"Range": "bytes=300-309,5-5"}, {"Range": "bytes=0-5,99999999-"},
    {"Range": "lines=1-2"}, {"If-None-Match": "@"},
    {"If-None-Match": "W/@"}, {"If-None-Match": '"a", @'},
    {"If-None-Match": '"a"'}, {"If-None-Match": "*"}, {"If-Match": "@"},
    {"If-Match": '"a"'}, {"If-Match": "*"},
    {"If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"},
    {"If-Modified-Since": "Sun, 06 Nov 1994 08:49:36 GMT"},
    {"If-Modified-Since": "Mon, 07 Nov 1994 08:49:37 GMT"},
    {"If-Modified-Since": "yesterday"},
    {"If-Unmodified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"},
    {"If-Unmodified-Since": "Sun, 06 Nov 1994 08:49:36 GMT"},
    {"If-Range": "@", "Range": "bytes=3-7"},
    {"If-Range": '"a"', "Range": "bytes=3-7"},
    {"If-Range": "Sun, 06 Nov 1994 08:49:37 GMT", "Range": "bytes=3-7"},
    {"If-Range": "Sun, 06 Nov 1994 08:49:38 GMT", "Range": "bytes=3-7"},
    {"If-None-Match": "@", "Range": "bytes=3-7"},
    {"Accept-Encoding": "gzip"}, {"Accept-Encoding": "gzip;q=0"},
    {"Accept-Encoding": "gzip", "Range": "bytes=3-7"},
    {"Accept-Encoding": "gzip", "If-None-Match": "@"},
]
PATHS = ["/", "/a.txt", "/large.bin", "/packed.txt", "/dir", "/dir?q=1",
         "/dir/", "/dir/%61%20b.txt", "/none", "/none/", "/a.txt/", "/bare/",
         "/dir/../a.txt", "/a.png"]


class Folder:
    """What is served, in `root` below a temporary folder."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="rdtest-")
        self.root = os.path.join(self.path, "root")
        os.makedirs(os.path.join(self.root, "dir"))
        os.mkdir(os.path.join(self.root, "bare"))
        data = random.Random(1).randbytes(3000000)
        self.write("index.html", b"<p>root")
        self.write("a.txt", data[:1000])
        self.write("a.png", data[:1000])
        self.write("large.bin", data)
        self.write("packed.txt", data[:2000])
        self.write("packed.txt.gz", data[2000:3500])
        self.write("dir/index.html", b"<p>dir")
        self.write("dir/a b.txt", b"a b")
        self.data = data

    def write(self, name, data):
        path = os.path.join(self.root, name)
        with open(path, "wb") as out:
            out.write(data)
        os.utime(path, (MODIFIED, MODIFIED))

    def sparse(self, name, size):
        with open(os.path.join(self.root, name), "wb") as out:
            out.truncate(size)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


class Example:
    """The example, started on a free port."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            [SERVER, folder.root, "0"], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE)
        line = self.process.stdout.readline().decode()
        found = re.fullmatch(r"listening on http://127.0.0.1:(\d+)\n", line)
        if not found:
            self.process.kill()
            raise RuntimeError("the example says %r" % line)
        self.port = int(found.group(1))
        self.url = "http://127.0.0.1:%d" % self.port

    def anon_kb(self):
        with open("/proc/%d/status" % self.process.pid) as status:
            return int(re.search(r"RssAnon:\s+(\d+)", status.read()).group(1))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(slow(10))
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class Nginx:
    def __init__(self, folder):
        self.port = free_port()
        config = os.path.join(folder.path, "nginx.conf")
        with open(config, "w") as out:
            out.write(NGINX_CONF.format(
                folder=folder.path, port=self.port,
                user="user root;" if os.getuid() == 0 else ""))
        self.process = subprocess.Popen(
            ["nginx", "-p", folder.path, "-c", config],
            stdin=subprocess.DEVNULL)
        end = time.monotonic() + slow(10)
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except ConnectionRefusedError:
                if time.monotonic() > end or self.process.poll() is not None:
                    self.stop()
                    raise RuntimeError("nginx does not listen") from None
                time.sleep(0.02)

    def stop(self):
        self.process.terminate()
        self.process.wait()


def ask(server, method, path, lines):
    """(status, fields, content) of one request."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port,
                                            timeout=slow(20))
    connection.request(method, path, headers=lines)
    reply = connection.getresponse()
    content = reply.read()
    connection.close()
    return reply.status, reply.headers, content


def parts(kind, content):
    """The parts of a multipart/byteranges, whatever its boundary."""
    mark = b"--" + kind.split("boundary=")[1].encode()
    found = []
    for part in content.split(mark)[1:-1]:
        head, _, data = part.partition(b"\r\n\r\n")
        place = re.search(rb"(?im)^content-range: (.*)\r?$", head)
        found.append((place.group(1).strip(), data[:-2]))
    return found


def essence(server, method, path, lines):
    """What two servers have to agree on."""
    asked = dict(lines)
    tag = None
    if any("@" in value for value in asked.values()):
        accept = {k: v for k, v in asked.items() if k == "Accept-Encoding"}
        tag = ask(server, "HEAD", path, accept)[1].get("ETag") or '"none"'
        asked = {k: v.replace("@", tag) for k, v in asked.items()}
    status, fields, content = ask(server, method, path, asked)
    kind = fields.get("Content-Type", "")
    seen = {"status": status}
    if status in (200, 206):
        several = kind.startswith("multipart/byteranges")
        seen["type"] = "multipart/byteranges" if several else kind
        seen["content"] = parts(kind, content) if several else content
        for name in ("Content-Range", "Content-Encoding", "Last-Modified"):
            seen[name] = fields.get(name)
        if not several:
            seen["length"] = fields.get("Content-Length")
    if status == 301:
        seen["Location"] = fields.get("Location")
    if status == 416:
        seen["Content-Range"] = fields.get("Content-Range")
    if status == 304:
        seen["ETag"] = fields.get("ETag") == tag or tag is None
    if path == "/packed.txt" and status in (200, 206, 304):
        seen["Vary"] = fields.get("Vary")
    return seen


def like_nginx(report):
    if not shutil.which("nginx"):
        print("SKIP files: NOT COMPARED, there is no nginx (nginx-light)",
              flush=True)
        return
    with Folder() as folder:
        ours, theirs = Example(folder), Nginx(folder)
        try:
            for path in PATHS:
                for lines in LINES:
                    for method in ("GET", "HEAD"):
                        compare(report, ours, theirs, method, path, lines)
        finally:
            theirs.stop()
            report.case("clean exit", ours.stop() == 0)


def compare(report, ours, theirs, method, path, lines):
    if "Range" in lines and (method == "HEAD" or (
            path == "/packed.txt" and "Accept-Encoding" in lines)):
        # For nginx HEAD has ranges, against RFC 9110 14.2, and what it has
        # found packed has none. test_files_ranges.c has ours.
        return
    mine = essence(ours, method, path, lines)
    other = essence(theirs, method, path, lines)
    if path == "/bare/" and other == {"status": 403}:
        other = {"status": 404}  # a folder without index
    report.case("%s %s %s as nginx" % (method, path, lines), mine == other,
                ("%s, nginx %s" % (mine, other))[:600])


def with_curl(report):
    def curl(*args):
        return subprocess.run(
            ["curl", "-sS", "--path-as-is", *args], stdout=subprocess.PIPE,
            timeout=slow(30)).stdout

    with Folder() as folder:
        server = Example(folder)
        url = server.url + "/static"
        large, code = url + "/large.bin", ["-o", "/dev/null", "-w",
                                           "%{http_code}"]
        out = os.path.join(folder.path, "out")
        tag = os.path.join(folder.path, "tag")
        report.case("curl: whole", curl(large) == folder.data)
        report.case("curl: a range", curl("-r", "5-1000000", large) ==
                    folder.data[5:1000001])
        report.case("curl: the end", curl("-r", "-7", large) ==
                    folder.data[-7:])
        with open(out, "wb") as half:
            half.write(folder.data[:1234567])
        curl("-C", "-", "-o", out, large)
        with open(out, "rb") as both:
            report.case("curl: resumes", both.read() == folder.data)
        several = curl("-r", "0-9,100000-199999,-5", "-D", out, large)
        with open(out) as head:
            kind = re.search(r"(?m)^Content-Type: (.*)$", head.read()).group(1)
        report.case("curl: several ranges", [d for _, d in parts(
            kind, several)] == [folder.data[:10], folder.data[100000:200000],
                                folder.data[-5:]])
        curl("--etag-save", tag, "-o", out, large)
        report.case("curl: not modified", curl(
            "--etag-compare", tag, *code, large) == b"304")
        report.case("curl: not since", curl(
            "-z", "Sun, 06 Nov 1994 08:49:37 GMT", *code, large) == b"304")
        report.case("curl: since", curl(
            "-z", "Sun, 06 Nov 1993 08:49:37 GMT", *code, large) == b"200")
        report.case("curl: follows to a folder", curl(
            "-L", url + "/dir") == b"<p>dir")
        report.case("curl: by 1.0", curl("-0", large) == folder.data)
        for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
                     "/..%2f..%2fetc%2fpasswd", "//etc/passwd"):
            report.case("curl: %s is not there" % path, curl(
                *code, url + path) == b"404")
        report.case("clean exit", server.stop() == 0)


def little_memory(report):
    with Folder() as folder:
        folder.sparse("1g", 1 << 30)
        folder.sparse("100m", 100 << 20)
        server = Example(folder)
        ask(server, "GET", "/a.txt", {})
        before = server.anon_kb()
        got = subprocess.run(
            ["curl", "-sS", "-o", "/dev/null", "-w", "%{size_download}",
             server.url + "/1g"], stdout=subprocess.PIPE, timeout=slow(60))
        grown = server.anon_kb() - before
        report.case("1 GB comes", got.stdout == b"%d" % (1 << 30), got.stdout)
        report.case("1 GB: memory grows by 1 MB at most",
                    sanitized() or grown <= 1024, "%d KB" % grown)
        slow_readers(report, server, before)
        report.case("clean exit", server.stop() == 0)


def slow_readers(report, server, before):
    readers, begun = [], 0
    for _ in range(READERS):
        reader = socket.socket()
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.settimeout(slow(20))
        reader.connect(("127.0.0.1", server.port))
        reader.sendall(b"GET /100m HTTP/1.1\r\nHost: x\r\n\r\n")
        readers.append(reader)
    peak = 0
    for _ in range(5):
        for reader in readers:
            begun += reader.recv(1000).startswith(b"HTTP/1.1 200 ")
        peak = max(peak, server.anon_kb() - before)
    report.case("slow readers: all are served", begun == READERS, begun)
    report.case("slow readers: memory grows by 4 KB for each at most",
                sanitized() or peak <= 4 * READERS, "%d KB" % peak)
    report.case("slow readers: others are served", ask(
        server, "GET", "/a.txt", {})[0] == 200)
    for reader in readers:
        reader.close()


if __name__ == "__main__":
    raise_files(1000)
    sys.exit(run_groups("files", (like_nginx, with_curl, little_memory)))
