#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""get.py ADDRESS [PATH]: body of a GET; exit status 0 only for 200. Imports
next to nothing, as the shell tests start it often."""
import socket
import sys

address = sys.argv[1]
if address.startswith("unix:"):
    family, target = socket.AF_UNIX, address[len("unix:"):]
else:
    host, _, port = address.split("//", 1)[1].rpartition(":")
    target = host.strip("[]"), int(port)
    family = socket.AF_INET6 if ":" in target[0] else socket.AF_INET
data = b""
try:
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.connect(target)
        sock.sendall(b"GET %s HTTP/1.1\r\nHost: test\r\nConnection: close\r\n"
                     b"\r\n" % (sys.argv[2:] or ["/status"])[0].encode())
        while True:
            more = sock.recv(65536)
            if not more:
                break
            data += more
except OSError as fault:
    sys.exit("get.py: %s" % fault)
head, _, body = data.partition(b"\r\n\r\n")
status = head.split(b" ")[1].decode() if b" " in head else "no reply"
sys.stdout.write(body.decode("latin-1"))
sys.exit(0 if status == "200" else "get.py: status %s" % status)
