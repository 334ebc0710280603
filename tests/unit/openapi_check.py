#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether standard input is an OpenAPI 3.1 document as the library writes it:
what the specification demands of the parts that are used, and nothing else in
it. Prints the faults and fails.
usage: openapi_check.py [operations]    (how many there must be)"""
import json
import re
import sys

METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}
TYPE = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+"
                  r"(\s*;.*)?")
faults = []


def no_twice(pairs):
    names = [name for name, _ in pairs]
    if len(names) != len(set(names)):
        faults.append("members twice in %s" % names)
    return dict(pairs)


def fields(where, value, needed, allowed=()):
    if not isinstance(value, dict):
        faults.append("%s is no object" % where)
        return {}
    for name in set(needed) - set(value):
        faults.append("%s has no %s" % (where, name))
    for name in set(value) - set(needed) - set(allowed):
        faults.append("%s has %s" % (where, name))
    return value


def content(where, value):
    if not isinstance(value, dict) or not value:
        faults.append("%s is empty" % where)
        return
    for name, media in value.items():
        if not TYPE.fullmatch(name):
            faults.append("%s: no media type: %s" % (where, name))
        fields(where, media, ())


def schema(where, value):
    if "anyOf" in value:
        fields(where, value, ["anyOf"])
        texts = [json.dumps(one) for one in value["anyOf"]]
        if len(texts) < 2 or len(texts) != len(set(texts)):
            faults.append("%s: alternatives %s" % (where, texts))
        for one in value["anyOf"]:
            schema(where, one)
        return
    fields(where, value, ["type"], ["format", "pattern", "description"])
    if value.get("type") not in ("string", "integer"):
        faults.append("%s: type %s" % (where, value.get("type")))
    pattern = value.get("pattern", "^$")
    if not pattern.startswith("^") or not pattern.endswith("$"):
        faults.append("%s: pattern is not anchored: %s" % (where, pattern))
    re.compile(pattern)


def operation(where, names, op, ids):
    fields(where, op, ["operationId", "responses"],
           ["summary", "parameters", "requestBody"])
    if op["operationId"] in ids or not re.fullmatch(r"\w+", op["operationId"]):
        faults.append("%s: id %s" % (where, op["operationId"]))
    ids.add(op["operationId"])
    parameters = op.get("parameters", [])
    if [p.get("name") for p in parameters] != names:
        faults.append("%s: parameters are not %s" % (where, names))
    for p in parameters:
        fields(where, p, ["name", "in", "required", "schema"])
        if p.get("in") != "path" or p.get("required") is not True:
            faults.append("%s: %s" % (where, p))
        schema(where, p.get("schema", {}))
    if "requestBody" in op:
        fields(where, op["requestBody"], ["required", "content"])
        content(where, op["requestBody"].get("content"))
    if not op.get("responses"):
        faults.append("%s has no responses" % where)
    for status, reply in op.get("responses", {}).items():
        if status not in ("200", "default"):
            faults.append("%s: status %s" % (where, status))
        fields(where, reply, ["description"], ["content"])
        if "content" in reply:
            content(where, reply["content"])


def main():
    doc = json.loads(sys.stdin.buffer.read().decode("utf-8", "strict"),
                     object_pairs_hook=no_twice)
    fields("document", doc, ["openapi", "info", "paths"])
    if doc.get("openapi") != "3.1.0":
        faults.append("openapi: %s" % doc.get("openapi"))
    info = fields("info", doc.get("info"), ["title", "version"])
    if not all(isinstance(v, str) and v for v in info.values()):
        faults.append("info: %s" % info)
    ids, shapes, n = set(), set(), 0
    for path, item in doc.get("paths", {}).items():
        names = re.findall(r"\{([^{}]+)\}", path)
        shape = re.sub(r"\{[^{}]+\}", "{}", path)
        if not re.fullmatch(r"(/([!$&-;=@A-Z_a-z~]|%[0-9A-F]{2}|\{\})*)+",
                            shape):
            faults.append("no path: %s" % path)
        if shape in shapes or len(names) != len(set(names)):
            faults.append("path or name twice: %s" % path)
        shapes.add(shape)
        fields(path, item, (), METHODS | {"x-methods"})
        if not item:
            faults.append("%s is empty" % path)
        for method in METHODS & set(item):
            operation("%s %s" % (method, path), names, item[method], ids)
            n += 1
    if len(sys.argv) > 1 and n != int(sys.argv[1]):
        faults.append("%d operations, not %s" % (n, sys.argv[1]))
    print("\n".join(faults), end="")
    sys.exit(1 if faults else 0)


main()
