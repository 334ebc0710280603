#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""handlers: patterns, parameters and methods."""
import extest

# path, arguments of curl, status, body (None: any)
CASES = (
    ("/handlers", (), 200, b"all handlers\n"),
    ("/handlers/abc", (), 200, b"id: abc\n"),
    ("/handlers/a%20b", (), 200, b"id: a b\n"),
    ("/handlers/" + "x" * 3000, (), 200, b"id: " + b"x" * 3000 + b"\n"),
    ("/handlers/abc/12", (), 200, b"id: abc, number: 12\n"),
    ("/handlers/abc/1x", (), 404, None),
    ("/handlers/abc/", (), 404, None),
    ("/handlers/abc/1/2", (), 404, None),
    ("/handlers", ("-d", "a=b"), 201, b"a=b"),
    ("/handlers/abc", ("-d", "a=b"), 201, b"a=b"),
    ("/handlers/abc", ("-X", "PATCH", "-d", "p"), 200, b"p"),
    ("/handlers/abc/12", ("-X", "PATCH", "-d", "p"), 200, b"p"),
    ("/handlers/abc/12", ("-d", ""), 201, b""),
    ("/handlers", ("-X", "PATCH", "-d", "p"), 405, None),
    ("/handlers/abc/1x", ("-X", "PATCH", "-d", "p"), 404, None),
)


def test(example):
    for path, args, status, body in CASES:
        reply = example.curl(path, *args)
        title = "%s %s" % (path[:40], " ".join(args))
        example.same(title, reply.status, status)
        if body is not None:
            example.same(title + ": content", reply.body, body)
    reply = example.curl("/handlers", "-H", "Content-Type: text/csv", "-d", "1")
    example.same("type comes back", reply.headers.get("content-type"),
                 "text/csv")
    reply = example.curl("/handlers/abc", "-X", "DELETE")
    example.same("Allow", sorted(reply.headers.get("allow", "").split(", ")),
                 ["GET", "HEAD", "OPTIONS", "PATCH", "POST"])
    reply = example.curl("/handlers/abc", "-X", "OPTIONS")
    example.same("OPTIONS", reply.status, 204)


extest.run("handlers", test)
