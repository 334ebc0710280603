#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""json_data: both documents, as another reader of JSON sees them."""
import datetime

import extest


def test(example):
    reply = example.curl("/flat")
    flat = reply.json()
    when = datetime.datetime.strptime(flat.pop("time"),
                                      "%Y-%m-%dT%H:%M:%S.%fZ")
    example.same("flat", flat, {
        "text": 'two "words", and a line\nbreak', "integer": -42,
        "number": 1.5, "yes": True, "nothing": None})
    age = (datetime.datetime.utcnow() - when).total_seconds()
    example.report.case("time", 0 <= age < extest.slow(20), age)
    example.same("type", reply.headers.get("content-type"),
                 "application/json")
    example.same("nested", example.curl("/nested").json(), {"star": {
        "name": "Sun", "planets": [
            {"name": "Mercury", "moons": 0}, {"name": "Venus", "moons": 0},
            {"name": "Earth", "moons": 1}, {"name": "Mars", "moons": 2}]}})


extest.run("json_data", test)
