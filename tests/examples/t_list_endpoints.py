#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""list_endpoints: the same list as text, YAML, JSON and OpenAPI."""
import re

import extest

WANTED = [
    ("/endpoints", "this list as text"),
    ("/endpoints.json", "the same as JSON"),
    ("/endpoints.yaml", "the same as YAML"),
    ("/hello", "greets the world"),
    ("/hello/{name}", "greets a person"),
    ("/openapi.json", "an OpenAPI document"),
]


def test(example):
    def typed(path, media):
        reply = example.curl(path)
        example.same(path + ": type", (
            reply.status, reply.headers.get("content-type", "").partition(
                ";")[0]), (200, media))
        return reply

    text = typed("/endpoints", "text/plain").body.decode()
    example.same("text", re.findall(r"^(/\S+)\n +GET +(.+)$", text, re.M),
                 WANTED)
    text = typed("/endpoints.yaml", "application/yaml").body.decode()
    example.same("YAML", re.findall(
        r"^  - endpoint: (.+)\n    summary: (.+)\n    methods:\n      - GET$",
        text, re.M), WANTED)
    listed = typed("/endpoints.json", "application/json").json()
    example.same("JSON", [(e["endpoint"], e["summary"], e["methods"])
                          for e in listed["endpoints"]],
                 [(*row, ["GET"]) for row in WANTED])
    openapi = typed("/openapi.json", "application/json").json()
    example.same("OpenAPI", openapi["openapi"], "3.1.0")
    example.same("OpenAPI: paths", sorted(
        (path, item["get"]["summary"])
        for path, item in openapi["paths"].items()), WANTED)
    for path, _ in WANTED:
        example.same("served: " + path, example.curl(
            path.replace("{name}", "you")).status, 200)


extest.run("list_endpoints", test)
