#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""binary_data: the picture is a PNG, and requests are in the log."""
import re
import struct
import zlib

import extest


def chunks(png):
    """(type, data) of a PNG's chunks; a wrong CRC is an error."""
    at = 8
    while at < len(png):
        size, = struct.unpack(">I", png[at:at + 4])
        kind, data = png[at + 4:at + 8], png[at + 8:at + 8 + size]
        crc, = struct.unpack(">I", png[at + 8 + size:at + 12 + size])
        if crc != zlib.crc32(kind + data):
            raise ValueError("CRC of %r" % kind)
        yield kind, data
        at += 12 + size


def source_bytes():
    """The array in the source."""
    with open(extest.TOP + "/examples/binary_data.c") as f:
        return bytes(int(n, 16) for n in re.findall(r"0x([0-9a-f]{2})\b",
                                                    f.read()))


def test(example):
    reply = example.curl("/picture")
    example.same("type", (reply.status, reply.headers.get("content-type")),
                 (200, "image/png"))
    png = reply.body
    example.same("bytes", png, source_bytes())
    example.same("signature", png[:8], b"\x89PNG\r\n\x1a\n")
    parts = list(chunks(png))
    example.same("chunks", [p[0] for p in parts],
                 [b"IHDR", b"PLTE", b"IDAT", b"IEND"])
    width, height, depth, colour = struct.unpack(">IIBB", parts[0][1][:10])
    example.same("format", (width, height, depth, colour), (32, 32, 2, 3))
    example.same("dots", len(zlib.decompress(parts[2][1])), 32 * (1 + 8))

    example.curl("/none?x=1", "-A", "agent/1")
    for wanted in (r'^127\.0\.0\.1 - - \[[^]]+\] "GET /picture HTTP/1\.1" 200 '
                   + str(len(png)) + ' "-" "curl/',
                   r'"GET /none\?x=1 HTTP/1\.1" 404 \d+ "-" "agent/1"$'):
        example.report.case("logged: " + wanted, example.line(wanted),
                            example.lines)


extest.run("binary_data", test)
