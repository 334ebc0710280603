#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""static_files: a folder, what is in it and what is not."""
import gzip
import os
import tempfile

import extest


def fill(folder):
    os.mkdir(folder + "/sub")
    for name, content in (("index.html", b"<p>index</p>"),
                          ("a b.txt", b"0123456789"),
                          ("sub/index.html", b"sub"), ("big.js", b"x" * 5000),
                          ("big.js.gz", gzip.compress(b"x" * 5000))):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(content)
    os.symlink("/etc/passwd", folder + "/link")


def test(example):
    same = example.same
    reply = example.curl("/static/a%20b.txt")
    same("file", (reply.status, reply.body), (200, b"0123456789"))
    same("type", reply.headers.get("content-type"),
         "text/plain; charset=utf-8")
    same("cached", reply.headers.get("cache-control"), "public, max-age=3600")
    same("not cached", example.curl("/a%20b.txt").headers.get(
        "cache-control"), None)
    same("unchanged", example.curl(
        "/static/a%20b.txt", "-H",
        "If-None-Match: " + reply.headers.get("etag", "")).status, 304)
    reply = example.curl("/a%20b.txt", "-r", "2-4")
    same("range", (reply.status, reply.body), (206, b"234"))
    same("index", example.curl("/").body, b"<p>index</p>")
    reply = example.curl("/static/sub")
    same("folder", (reply.status, reply.headers.get("location")),
         (301, "/static/sub/"))
    reply = example.curl("/big.js", "--compressed")
    same("compressed", (reply.headers.get("content-encoding"), reply.body),
         ("gzip", b"x" * 5000))
    for path in ("/none", "/static/../../etc/passwd", "/link",
                 "/static/%2e%2e/%2e%2e/etc/passwd"):
        same(path, example.curl(path, "--path-as-is").status in (400, 404),
             True)


def main():
    with tempfile.TemporaryDirectory(prefix="rdtest-") as folder:
        fill(folder)
        extest.run("static_files", test, front=(folder,))


main()
