#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""upload: files pass through without being kept; what is refused."""
import os
import subprocess

import extest


def memory(example):
    with open("/proc/%d/status" % example.process.pid) as f:
        return next(int(n.split()[1]) for n in f if n.startswith("RssAnon"))


def test(example):
    same = example.same
    path = os.path.join(example.folder.name, "large")
    with open(path, "wb") as f:
        f.truncate(100 << 20)
    before = memory(example)
    reply = example.curl("/upload", "-F", "note=abc", "-F", "a=@" + path, "-F",
                         "b=@/dev/null")
    same("sizes", (reply.status, reply.body), (
        200, b"3 bytes\n%d bytes\n0 bytes\n" % (100 << 20)))
    if not extest.sanitized():
        grown = memory(example) - before
        example.report.case("memory", grown <= 1024, "%d KiB more" % grown)
    # curl waits for the interim reply, here for longer than it may take.
    run = subprocess.run(
        ["curl", "-sS", "-v", "-H", "Expect: 100-continue",
         "--expect100-timeout", "100", "--max-time", "30", "-F", "a=@" + path,
         "http://127.0.0.1:%d/upload" % example.port],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    same("100 before the content", (run.returncode, run.stderr.count(
        b"< HTTP/1.1 100 Continue"), run.stdout), (
            0, 1, b"%d bytes\n" % (100 << 20)))

    same("chunked", example.curl(
        "/upload", "-H", "Transfer-Encoding: chunked", "-F",
        "a=@" + __file__).body, b"%d bytes\n" % os.path.getsize(__file__))
    same("urlencoded", example.curl("/upload", "-d", "a=xy&b=z").body,
         b"2 bytes\n1 bytes\n")

    same("no form", example.curl("/upload", "-H", "Content-Type: text/csv",
                                 "-d", "a").status, 415)
    same("no type", example.curl("/upload", "-H", "Content-Type:", "-d",
                                 "a").status, 415)
    form = ("-H", "Content-Type: multipart/form-data; boundary=x", "-d")
    same("cut", example.curl(
        "/upload", *form, "--x\r\nContent-Disposition: form-data; name=a\r\n"
        "\r\n1").status, 400)
    same("malformed", example.curl("/upload", *form,
                                   "--x\r\nno field\r\n\r\n1").status, 400)
    same("too many parts", example.curl("/upload", "-d",
                                        "&".join("abcdefghijklmnopq")).status,
         413)
    same("still there", example.curl("/upload", "-d", "a=xyz").body,
         b"3 bytes\n")


extest.run("upload", test)
