#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""list_endpoints: the same list as text, YAML and JSON."""
import json
import re

import extest

WANTED = [
    ("/endpoints", "this list as text"),
    ("/endpoints.json", "the same as JSON"),
    ("/endpoints.yaml", "the same as YAML"),
    ("/hello", "greets the world"),
    ("/hello/{name}", "greets a person"),
]


def test(example):
    text = example.curl("/endpoints").body.decode()
    rows = [re.match(r"GET +(\S+) +(.*)$", n).groups()
            for n in text.splitlines()]
    example.same("text", rows, WANTED)

    reply = example.curl("/endpoints.yaml")
    lines = reply.body.decode().splitlines()
    example.same("YAML: begin", lines[0], "---")
    rows = [(json.loads(lines[i].partition("- endpoint: ")[2]),
             lines[i + 2].partition("  summary: ")[2])
            for i in range(1, len(lines), 3)]
    example.same("YAML", rows, WANTED)
    example.same("YAML: methods", set(lines[2::3]), {"  method: GET"})

    reply = example.curl("/endpoints.json")
    example.same("JSON", [(e["endpoint"], e["summary"])
                          for e in reply.json()], WANTED)
    example.same("JSON: type", reply.headers.get("content-type"),
                 "application/json")
    example.same("a listed one", example.curl("/hello/you").status, 200)


extest.run("list_endpoints", test)
