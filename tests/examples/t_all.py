#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every example has a test here, and is as short as it is to be."""
import glob
import os

import extest

PARTS = ("customers",)


def names(pattern):
    return {os.path.basename(p).rpartition(".")[0]
            for p in glob.glob(os.path.join(extest.TOP, pattern))}


report = extest.Report("all")
sources = names("examples/*.c") | names("examples/*.cpp")
tests = {n[2:] for n in names("tests/examples/t_*.py")}
report.case("tests", tests - {"all", "readme"} == sources - set(PARTS),
            sorted((tests - {"all", "readme"}) ^ (sources - set(PARTS))))
for path in sorted(glob.glob(os.path.join(extest.TOP, "examples", "*.*"))):
    with open(path) as f:
        lines = len(f.readlines())
    most = 25 if path.endswith("/hello_world.c") else 119
    report.case(path, lines <= most, "%d lines, at most %d" % (lines, most))
raise SystemExit(report.finish())
