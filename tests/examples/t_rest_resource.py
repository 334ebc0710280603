#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rest_resource: the life of a customer, what is refused, many at once."""
import json
import threading

import extest


def send(example, method, path, value):
    text = value if isinstance(value, str) else json.dumps(value)
    return example.curl(path, "-X", method, "-H",
                        "Content-Type: application/json", "-d", text)


def person(name, email):
    return {"name": name, "email": email}


def life(example):
    same = example.same
    reply = example.curl("/customers")
    same("none yet", (reply.status, reply.json()), (200, []))

    name = 'Ada "A" K\u00f6nig'
    reply = send(example, "POST", "/customers", person(name, "ada@a.example"))
    same("created", reply.status, 201)
    place = reply.headers.get("location", "")
    ada = reply.json()
    same("its id is in its place", place, "/customers/%d" % ada["id"])
    same("as sent", ada, dict(person(name, "ada@a.example"), id=ada["id"]))
    reply = example.curl(place)
    same("read", (reply.status, reply.json()), (200, ada))
    same("type", reply.headers.get("content-type"), "application/json")

    bob = send(example, "POST", "/customers",
               person("Bob", "bob@a.example")).json()
    same("listed", example.curl("/customers").json(), [ada, bob])

    reply = send(example, "PUT", place, person("Ada B", "ada@b.example"))
    ada = dict(person("Ada B", "ada@b.example"), id=ada["id"])
    same("replaced", (reply.status, reply.json()), (200, ada))
    same("read again", example.curl(place).json(), ada)

    reply = example.curl(place, "-X", "DELETE")
    same("deleted", (reply.status, reply.body), (204, b""))
    same("gone", example.curl(place).status, 404)
    same("deleted twice", example.curl(place, "-X", "DELETE").status, 404)
    same("replaced when gone", send(example, "PUT", place, ada).status, 404)
    same("the other one stays", example.curl("/customers").json(), [bob])
    return bob


def refused(example, bob):
    def problem(title, reply, status):
        example.same(title, (reply.status, reply.headers.get("content-type")),
                     (status, "application/problem+json"))

    carl = person("Carl", "carl@a.example")
    problem("no JSON", send(example, "POST", "/customers", "{"), 400)
    problem("empty", send(example, "POST", "/customers", ""), 400)
    problem("no object", send(example, "POST", "/customers", [1]), 400)
    problem("lacks email", send(example, "POST", "/customers",
                                {"name": "x"}), 400)
    problem("name is a number", send(example, "POST", "/customers",
                                     person(1, "x")), 400)
    problem("name too long", send(example, "POST", "/customers",
                                  person("x" * 64, "x")), 400)
    problem("email taken", send(example, "POST", "/customers",
                                person("Bob 2", "bob@a.example")), 409)
    carl = send(example, "POST", "/customers", carl).json()
    problem("email taken by PUT",
            send(example, "PUT", "/customers/%d" % carl["id"],
                 person("Carl", "bob@a.example")), 409)
    example.same("own email kept", send(
        example, "PUT", "/customers/%d" % bob["id"], bob).status, 200)
    for number in ("0", "-1", "999", "4294967297", "9" * 19):
        problem("no customer " + number,
                example.curl("/customers/" + number), 404)
    problem("no number", example.curl("/customers/x"), 404)
    problem("method", example.curl("/customers", "-X", "DELETE"), 405)


def full(example):
    """The store has room for 100; four clients fill it at once."""
    there = len(example.curl("/customers").json())
    statuses = []

    def client(part):
        connection = example.connect()
        for i in range(30):
            connection.request("POST", "/customers", json.dumps(
                person("n", "%d-%d" % (part, i))))
            reply = connection.getresponse()
            reply.read()
            statuses.append(reply.status)
        connection.close()

    clients = [threading.Thread(target=client, args=(n,)) for n in range(4)]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()
    example.same("until it is full", sorted(statuses),
                 [201] * (100 - there) + [507] * (20 + there))
    ids = [c["id"] for c in example.curl("/customers").json()]
    example.same("each id once", (len(ids), len(set(ids))), (100, 100))


def test(example):
    bob = life(example)
    refused(example, bob)
    full(example)


extest.run("rest_resource", test)
