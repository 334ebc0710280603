#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cpp_hello: a method as handler, and an exception that becomes a reply."""
import extest


def test(example):
    reply = example.curl("/hello/Ada%20L")
    example.same("hello", (reply.status, reply.body),
                 (200, b"Hello, Ada L!\n"))
    reply = example.curl("/fail")
    example.same("exception", (reply.status, reply.json()["detail"]),
                 (500, "this one always fails"))
    example.same("goes on", example.curl("/hello/you").status, 200)


extest.run("cpp_hello", test)
