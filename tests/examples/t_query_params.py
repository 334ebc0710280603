#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""query_params: order, repeats, flags, escapes; one looked up."""
import extest


def test(example):
    def listed(query):
        reply = example.curl("/query" + query)
        return [(f["name"], f["value"]) for f in reply.json()]

    example.same("none", listed(""), [])
    example.same("order and repeats", listed("?b=1&a=2&b=3"),
                 [("b", "1"), ("a", "2"), ("b", "3")])
    example.same("flag and empty", listed("?flag&e=&x=a=b"),
                 [("flag", ""), ("e", ""), ("x", "a=b")])
    example.same("decoded", listed("?q=a+b%26c%3d%C3%A9&%6e=%00%zz"),
                 [("q", "a b&c=\u00e9"), ("n", "\0%zz")])
    reply = example.curl("/query", "-G", "--data-urlencode",
                         "text=a+b & c/\u20ac?")
    example.same("as curl encodes it", reply.json(),
                 [{"name": "text", "value": "a+b & c/\u20ac?"}])
    example.same("too much", example.curl("/query?" + "a&" * 2000).status, 414)

    reply = example.curl("/query/b?a=1&b=x+y&b=z")
    example.same("looked up", (reply.status, reply.body), (200, b"x y"))
    example.same("long", example.curl("/query/a?a=" + "v" * 5000).body,
                 b"v" * 5000)
    reply = example.curl("/query/flag?flag")
    example.same("flag", (reply.status, reply.body), (200, b""))
    example.same("absent", example.curl("/query/c?a=1&b=2").status, 404)


extest.run("query_params", test)
