#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hello_world: ten loops, one greeting."""
import os
import signal

import extest


def loops(pid):
    names = []
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/comm" % (pid, task)) as f:
            names.append(f.read().strip())
    return len([n for n in names if n.startswith("restd-loop-")])


def test(example):
    reply = example.curl("/hello")
    example.same("greeting", (reply.status, reply.body),
                 (200, b"Hello, world!\n"))
    example.same("type", reply.headers.get("content-type"), "text/plain")
    example.same("HEAD", example.curl("/hello", "-I").status, 200)
    example.same("another path", example.curl("/other").status, 404)
    example.same("another method",
                 example.curl("/hello", "-d", "x").status, 405)
    example.same("loop threads", loops(example.process.pid), 10)
    # SIGINT ends it as SIGTERM does.
    example.process.send_signal(signal.SIGINT)
    example.same("SIGINT", example.wait(), 0)


extest.run("hello_world", test)
