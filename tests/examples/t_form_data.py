#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""form_data: both types as curl sends them, and what is none."""
import os

import extest


def field(name, value):
    return {"name": name, "value": value, "bytes": len(value.encode())}


def test(example):
    same = example.same
    reply = example.curl("/form", "--data-urlencode", "name=Ada & Bob",
                         "--data-urlencode", "city=Z\u00fcrich", "-d", "flag")
    same("urlencoded", (reply.status, reply.json()), (200, [
        field("name", "Ada & Bob"), field("city", "Z\u00fcrich"),
        field("flag", "")]))

    path = os.path.join(example.folder.name, "a b.bin")
    with open(path, "wb") as f:
        f.write(bytes(range(256)) * 40)
    reply = example.curl("/form", "-F", "text=two words", "-F", "empty=",
                         "-F", "data=@" + path, "-F", "long=" + "v" * 5000)
    same("multipart", (reply.status, reply.json()), (200, [
        field("text", "two words"), field("empty", ""),
        {"name": "data", "file": "a b.bin", "bytes": 10240},
        {"name": "long", "value": "v" * 64, "bytes": 5000}]))

    same("another type", example.curl("/form", "-H", "Content-Type: text/csv",
                                      "-d", "a=b").status, 400)
    same("no type", example.curl("/form", "-H", "Content-Type:", "-d",
                                 "a=b").status, 400)
    same("cut multipart", example.curl(
        "/form", "-H", "Content-Type: multipart/form-data; boundary=x", "-d",
        "--x\r\nContent-Disposition: form-data; name=a\r\n\r\n1").status, 400)
    same("more than the report holds", example.curl(
        "/form", "-d", "&".join("n%d=%s" % (i, "v" * 64)
                                for i in range(100))).status, 413)
    same("no method", example.curl("/form").status, 405)


extest.run("form_data", test)
