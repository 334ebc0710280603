# SPDX-License-Identifier: MIT
"""Life of a connection: RFC 9112 section 9; pipelines; half-close; reset."""
from wire import (CLOSE, FIN, GONE, OPEN, RST, Pause, Pieces, Replies, Silent,
                  Want, case, request)

HEADED = Want(200, head=True)
CUT = Want((400, 408), maybe=True)


def kept(*fields, version="HTTP/1.1", target="/status", method="GET"):
    return request(method, target, *fields, version=version)


def echo(text, *fields, **more):
    return request("POST", "/echo", "Content-Length: %d" % len(text), *fields,
                   body=text, **more)


# Keep-alive and close.
for value in ("close", "Close", "CLOSE", "x, close", "close, x",
              "keep-alive, close", ",, close ,", "close\t", "TE,close"):
    case("close: Connection %r" % value, kept("Connection: " + value),
         Want(200, fields={"Connection": "^close$"}), CLOSE)
case("close: in the second of two lines",
     kept("Connection: x", "Connection: close"), 200, CLOSE)
case("close: ends what is behind it",
     kept("Connection: close") + request() * 3, 200, CLOSE)
case("close: behind two kept requests",
     request() * 2 + kept("Connection: close") + request(), [200] * 3, CLOSE)
case("close: with a 404", kept("Connection: close", target="/nowhere"), 404,
     CLOSE)
case("close: with a HEAD", kept("Connection: close", method="HEAD"), HEADED,
     CLOSE)
case("close: with content", echo(b"bye", "Connection: close"),
     Want(200, body=b"bye"), CLOSE)
for value in ("keep-alive", "Keep-Alive", "closed", "x", "clos", "",
              "\"close\"", "close=1"):
    case("keep: Connection %r" % value, kept("Connection: " + value), 200)
case("keep: Proxy-Connection says nothing",
     kept("Proxy-Connection: close"), 200)
case("keep: one after the other",
     [request(), Replies(1), kept(target="/nowhere"), Replies(2),
      echo(b"three"), Replies(3), request()],
     [200, 404, Want(200, body=b"three"), 200])
case("keep: silence between two", [request(), Replies(1), Silent(1.2),
                                   request()], [200, 200])

# HTTP/1.0.
OLD = dict(version="HTTP/1.0")
KEPT = Want(200, fields={"Connection": "(?i)^keep-alive$",
                         "Transfer-Encoding": None})
case("1.0: closes", kept(**OLD), Want(200, fields={
    "Transfer-Encoding": None}), CLOSE)
case("1.0: keep-alive is honoured", kept("Connection: keep-alive", **OLD),
     KEPT)
case("1.0: keep-alive in capitals", kept("Connection: KEEP-ALIVE", **OLD),
     KEPT)
case("1.0: keep-alive in a list", kept("Connection: x, keep-alive", **OLD),
     KEPT)
case("1.0: keep-alive thrice", kept("Connection: keep-alive", **OLD) * 3,
     [KEPT] * 3)
case("1.0: keep-alive, then not",
     kept("Connection: keep-alive", **OLD) + kept(**OLD) + request(),
     [KEPT, 200], CLOSE)
case("1.0: close beats keep-alive",
     kept("Connection: keep-alive, close", **OLD), 200, CLOSE)
case("1.0: a pipeline without keep-alive", kept(**OLD) * 3, 200, CLOSE)
case("1.0: an echo", echo(b"old", **OLD), Want(200, body=b"old"), CLOSE)
case("1.0: a kept echo", echo(b"old", "Connection: keep-alive", **OLD),
     Want(200, body=b"old", fields={"Connection": "(?i)^keep-alive$"}))
case("1.0: a kept 404", kept("Connection: keep-alive", target="/nowhere",
                             **OLD),
     Want(404, fields={"Connection": "(?i)^keep-alive$"}))
case("1.0: HEAD", kept(method="HEAD", **OLD), HEADED, CLOSE)
case("1.0: between two of 1.1",
     request() + kept("Connection: keep-alive", **OLD) + request(),
     [200, KEPT, 200])

# Pipelines.
case("pipeline: fifty", request() * 50, [200] * 50)
case("pipeline: fifty in pieces",
     [Pieces(request() * 50, 37, 0.0005)], [200] * 50)
case("pipeline: a thousand", request() * 1000, [200] * 1000)
case("pipeline: fifty in their order",
     b"".join(echo(b"no %d" % n) for n in range(50)),
     [Want(200, body=b"no %d" % n) for n in range(50)])
case("pipeline: all kinds", (
    request() + kept(method="HEAD") + kept(target="/nowhere") +
    kept(method="PUT") + echo(b"a") + request("OPTIONS", "*") +
    kept(target="/livez") + kept(method="HEAD", target="/nowhere") + request()),
    [200, HEADED, 404, 405, Want(200, body=b"a"), (200, 204),
     Want(200, body=b"ok\n"), Want(404, head=True), 200])
case("pipeline: fifty times HEAD", kept(method="HEAD") * 50, [HEADED] * 50)
case("pipeline: 404 is no end of it", (request() + kept(
    target="/nowhere")) * 25, [200, 404] * 25)
for at in (0, 1, 20, 49):
    case("pipeline: a bad one behind %d" % at,
         request() * at + b"BAD\r\n\r\n" + request() * (50 - at),
         [200] * at + [400], CLOSE)
case("pipeline: a bad field behind ten",
     request() * 10 + kept("X : y") + request() * 10, [200] * 10 + [400],
     CLOSE)
case("pipeline: a bad chunk behind an echo",
     echo(b"one") + request("POST", "/echo", "Transfer-Encoding: chunked",
                            body=b"zz\r\n") + request() * 5,
     [Want(200, body=b"one"), 400], CLOSE)
case("pipeline: a wrong version behind one",
     request() + kept(version="HTTP/2.0") + request(), [200, 505], CLOSE)
case("pipeline: too long a target behind one",
     request() + kept(target="/" + "a" * 9000) + request(), [200, 414], CLOSE)
case("pipeline: too much content behind one",
     request() + request("POST", "/echo", "Content-Length: 70000") +
     request(), [200, 413], CLOSE)
case("pipeline: large echoes",
     b"".join(echo(b"%c" % (97 + n) * 50000) for n in range(8)),
     [Want(200, body=b"%c" % (97 + n) * 50000) for n in range(8)])
case("pipeline: the last one half",
     [request() * 3 + request()[:20], Replies(3), Silent(0.1),
      request()[20:]], [200] * 4)
case("pipeline: echo and status in turn",
     (echo(b"x" * 100) + request()) * 30, [Want(200, body=b"x" * 100),
                                           200] * 30)

# The client closes its side, or all.
case("half-close: behind a request", [request(), FIN], 200, CLOSE)
case("half-close: behind three", [request() * 3, FIN], [200] * 3, CLOSE)
case("half-close: behind a HEAD", [kept(method="HEAD"), FIN], HEADED, CLOSE)
case("half-close: behind a bad one", [b"BAD\r\n\r\n", FIN], 400, CLOSE)
case("half-close: before anything", [FIN], [], CLOSE)
case("half-close: behind an empty line", [b"\r\n", FIN], CUT, CLOSE)
case("half-close: within the request line", [b"GET /sta", FIN], CUT, CLOSE)
case("half-close: within the fields", [request()[:-2], FIN], CUT, CLOSE)
case("half-close: behind one and a half", [request() + request()[:-2], FIN],
     [200, CUT], CLOSE)
case("half-close: later", [request(), Replies(1), Pause(0.1), FIN],
     200, CLOSE)
case("reset: at once", [RST], [], GONE)
case("reset: behind a request", [request(), RST], [], GONE)
case("reset: within the fields", [request()[:-2], RST], [], GONE)
case("reset: within the content", [echo(b"x" * 1000)[:-500], Pause(0.05),
                                   RST], [], GONE)
case("reset: behind a thousand", [request() * 1000, RST], [], GONE)
case("reset: with replies unread", [request() * 100, Replies(1), RST], [],
     GONE)
case("end of all cases is open by default", request(), 200, OPEN)
