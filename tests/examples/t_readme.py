#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program in README.md, which make has taken out and compiled, with the
address changed to a socket in the folder in which it runs."""
import os
import subprocess
import tempfile

import extest


def main():
    report = extest.Report("readme")
    with tempfile.TemporaryDirectory(prefix="rdtest-") as folder:
        process = subprocess.Popen(
            [os.path.join(extest.BUILD, "examples", "readme")],
            stdin=subprocess.DEVNULL, cwd=folder)

        def ask():
            return process.poll() is None and subprocess.run(
                ["curl", "-s", "--unix-socket", "readme.sock",
                 "http://localhost/hello/world"], cwd=folder,
                stdout=subprocess.PIPE).stdout
        try:
            got = extest.eventually(ask)
            report.case("greeting", got == b"Hello world\n", got)
        finally:
            process.terminate()
            process.wait()
    raise SystemExit(report.finish())


main()
