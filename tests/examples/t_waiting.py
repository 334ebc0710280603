#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""waiting: a handler that waits holds nobody up, and learns who has left."""
import socket
import struct
import threading

import extest


def asking(example):
    return int(example.curl("/asking").body)


def resets(example):
    """Asks, and leaves by a reset before there can be an answer."""
    sock = socket.create_connection(("127.0.0.1", example.port))
    sock.sendall(b"GET /quote/late HTTP/1.1\r\nHost: x\r\n\r\n")
    began = extest.eventually(lambda: asking(example) == 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                    struct.pack("ii", 1, 0))
    sock.close()
    return began


def test(example):
    reply = example.curl("/quote/tea")
    example.same("answers", (reply.status, reply.body),
                 (200, b"tea costs %d\n" % (
                     ((ord("t") * 31 + ord("e")) * 31 + ord("a")) % 1000)))
    replies = []
    threads = [threading.Thread(target=lambda: replies.append(
        example.curl("/quote/tea").status)) for _ in range(8)]
    for thread in threads:
        thread.start()
    example.report.case("others are answered meanwhile", extest.eventually(
        lambda: asking(example) > 1))
    for thread in threads:
        thread.join()
    example.same("and all in the end", replies, [200] * 8)
    example.same("nobody is asked any more", asking(example), 0)
    example.report.case("one begins", resets(example))
    example.report.case("and is told that its client has left",
                        extest.eventually(lambda: asking(example) == 0))


extest.run("waiting", test)
