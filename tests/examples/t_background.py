#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""background: answers while main works, ends by itself and by a signal."""
import extest


def primes(text):
    return int(text.split(" ")[0])


def by_signal(example):
    first = example.curl("/progress")
    example.same("status", first.status, 200)
    example.report.case("goes on", extest.eventually(
        lambda: primes(example.curl("/progress").body.decode()) >
        primes(first.body.decode())), first)


def by_itself(report):
    example = extest.Example("background", report, "1")
    status = example.wait()
    example.same("ends by itself", status, 0)
    # The 1,000 numbers of the first round have 168 primes.
    found = example.line(r"^(\d+) primes$")
    report.case("has worked", found and int(found.group(1)) >= 168,
                example.lines)
    example.stop()


def test(example):
    by_signal(example)
    by_itself(example.report)


extest.run("background", test, "60")
