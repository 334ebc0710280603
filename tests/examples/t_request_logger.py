#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""request_logger: a line before and one after each request."""
import extest


def test(example):
    example.same("answer", example.curl("/a/b?c=d").body, b"logged\n")
    example.same("refused", example.curl("/a", "-X", "DELETE").status, 405)
    for wanted in (r"^before: GET /a/b\?c=d$",
                   r'^127\.0\.0\.1 .* "GET /a/b\?c=d HTTP/1\.1" 200 7 ',
                   r"^before: DELETE /a$",
                   r'^127\.0\.0\.1 .* "DELETE /a HTTP/1\.1" 405 '):
        example.report.case("printed: " + wanted, example.line(wanted),
                            example.lines)
    # What is no request has no line before it, but one in the access log.
    connection = example.connect()
    connection.connect()
    connection.sock.sendall(b"no request\r\n\r\n")
    example.report.case("400", connection.sock.recv(99).startswith(
        b"HTTP/1.1 400 "))
    connection.close()
    example.report.case("logged as none", example.line(r'"-" 400 '),
                        example.lines)
    example.same("lines before", len([n for n in example.lines
                                      if n.startswith("before: ")]), 2)


extest.run("request_logger", test)
