#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Starts and stops the daemon many times, with a request in between.
usage: cycles.py [N]

Each start must listen, answer and end with status 0; the last one must not
need more memory or descriptors than the first."""
import http.client
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "tests", "wire"))
import rdproc  # noqa: E402


def cycle():
    daemon = rdproc.Daemon("-w", "2")
    try:
        host, port = daemon.target()
        connection = http.client.HTTPConnection(host, port, timeout=10)
        connection.request("GET", "/status")
        response = connection.getresponse()
        body = response.read()
        figures = daemon.anon_bytes(), daemon.files()
        connection.close()
    finally:
        code = daemon.stop()
    if response.status != 200 or not body or code != 0:
        raise SystemExit("status %d, %d bytes, exit %d" % (
            response.status, len(body), code))
    return figures


def main():
    count = int((sys.argv + ["1000"])[1])
    first = last = cycle()
    for _ in range(count - 1):
        last = cycle()
    print("%d cycles; private memory %d then %d bytes, descriptors %d then %d"
          % (count, first[0], last[0], first[1], last[1]))
    if last[0] > first[0] + 262144 or last[1] > first[1]:
        raise SystemExit("the last one needs more than the first")


main()
