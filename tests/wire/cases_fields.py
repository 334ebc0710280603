# SPDX-License-Identifier: MIT
"""Header section: RFC 9112 sections 3.2 and 5, RFC 9110 sections 5, 6.6.1,
7.2 and 10.1.1."""
from wire import CLOSE, OPEN, TOLD, Interim, Pause, Silent, Want, case, request

START = b"GET /status HTTP/1.1\r\n"
END = b"Host: test\r\n\r\n"


def fields(*lines):
    """Host, then these lines as they are."""
    return START + b"Host: test\r\n" + b"".join(
        n + b"\r\n" for n in lines) + b"\r\n"


def host(*values, version=b"1.1"):
    return b"GET /status HTTP/" + version + b"\r\n" + b"".join(
        b"Host: " + v + b"\r\n" for v in values) + b"\r\n"


# Host.
case("host: missing", host(), 400, CLOSE)
case("host: missing in 1.0 is fine", host(version=b"1.0"), 200, CLOSE)
case("host: two that differ", host(b"a", b"b"), 400, CLOSE)
case("host: two that are equal", host(b"a", b"a"), 400, CLOSE)
case("host: two in 1.0", host(b"a", b"b", version=b"1.0"), 400, CLOSE)
for value in (b"", b" \t ", b"a", b"A.Example.ORG", b"a.b.c:8080", b"a:",
              b"127.0.0.1", b"127.0.0.1:1", b"[::1]", b"[::1]:8080",
              b"[2001:db8::7]", b"[v7.x:y]", b"a_b-c.d~e", b"a!$&'()*+,;=b",
              b"a%20b", b"xn--bcher-kva.example", b"x" * 255):
    case("host: %.30r is good" % value, host(value), 200)
for value in (b"a b", b":80", b":", b"a/b", b"/", b"me@a", b"a:x", b"a:8 0", b"a:80:80",
              b"a:-1", b"[::1", b"::1", b"::1]", b"[]", b"[::1]x", b"[::1]:x",
              b"[g::1]", b"a?b", b"a#b", b"a\\b", b"<a>", b"\"a\"", b"a{b}",
              b"a^b", b"a|b", b"a%zz", b"a%2", b"http://a", b"a\tb",
              b"caf\xc3\xa9"):
    case("host: %r is bad" % value, host(value), 400, CLOSE)

# Lines as they should be.
case("field: no white space behind the colon", START + b"Host:test\r\n\r\n",
     200)
case("field: white space around the value",
     START + b"Host: \t  test \t\r\n\r\n", 200)
case("field: name in other case", START + b"hOsT: test\r\n\r\n", 200)
case("field: name of every tchar",
     fields(b"!#$%&'*+-.^_`|~09azAZ: x"), 200)
case("field: empty value", fields(b"X-A:", b"X-B: ", b"X-C: \t \t"), 200)
case("field: tab within a value", fields(b"X-A: a\tb"), 200)
case("field: latin-1 within a value", fields(b"X-A: \xe4\x80\xff"), 200)
case("field: colons within a value", fields(b"X-A: :a::b:"), 200)
case("field: quotes that do not close", fields(b"X-A: \"a, b"), 200)
case("field: the same name many times", fields(*[b"Accept: */*"] * 20), 200)
case("field: value of 8,000 bytes", fields(b"X-A: " + b"v" * 8000), 200)
case("field: name of 2,000 bytes", fields(b"X" * 2000 + b": v"), 200)

# Lines that are none.
BAD = {
    "space before the colon": b"X-A : b",
    "tab before the colon": b"X-A\t: b",
    "no name": b": b", "no name, only space": b" : b",
    "no colon": b"X-A b", "one word": b"X-A",
    "folded with a space": b"X-A: a\r\n b",
    "folded with a tab": b"X-A: a\r\n\tb",
    "folded, empty": b"X-A: a\r\n ",
    "NUL in the name": b"X\x00A: b", "control in the name": b"X\x1fA: b",
    "DEL in the name": b"X\x7fA: b", "latin-1 in the name": b"X\xe4: b",
    "NUL in the value": b"X-A: a\x00b", "NUL alone": b"X-A: \x00",
    "NUL at the end": b"X-A: b\x00", "backspace in the value": b"X-A: a\x08b",
    "vertical tab in the value": b"X-A: a\x0bb",
    "form feed in the value": b"X-A: a\x0cb",
    "escape in the value": b"X-A: \x1b[0m", "DEL in the value": b"X-A: a\x7f",
    "control 0x01 in the value": b"X-A: \x01",
    "control 0x1f in the value": b"X-A: a\x1fb",
    "bare CR in the value": b"X-A: a\rb",
    "bare CR at the end": b"X-A: a\r",
    "bare CR before the name": b"\rX-A: a",
    "CR in the name": b"X\rA: a",
    "bare LF hides a field": b"X-A: a\nX-B: b",
    "bare LF at the end": b"X-A: a\n",
    "LF alone as a line": b"\n"}
for label, text in BAD.items():
    case("field: " + label, fields(text), 400, CLOSE)
for character in b"\"(),/;<=>?@[\\]{}":
    case("field: %r in the name" % chr(character),
         fields(b"X%cA: b" % character), 400, CLOSE)
case("field: white space before the first",
     START + b" X: a\r\n" + END, 400, CLOSE)
case("field: fold right behind the request line",
     START + b"\tHost: test\r\n\r\n", 400, CLOSE)
case("field: space before the colon of Host",
     START + b"Host : test\r\n\r\n", 400, CLOSE)
case("field: section ended by LF", START + b"Host: test\r\n\n", 400, CLOSE)
case("field: section ended by CR", START + b"Host: test\r\n\r\r\n", 400,
     CLOSE)
case("field: one line ended by LF", START + b"X-A: a\nHost: test\r\n\r\n",
     400, CLOSE)

# Fields that ask for what is not there.
case("field: unknown upgrade", fields(b"Connection: upgrade",
                                      b"Upgrade: frob/1"), 200)
case("field: upgrade to h2c", fields(
    b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c",
    b"HTTP2-Settings: AAMAAABkAAQAAP__"), 200)
case("field: unsatisfiable Accept", fields(b"Accept: image/x-none"), 200)
case("field: Range is not for this", fields(b"Range: bytes=0-0"),
     Want(200, fields={"Content-Range": None}))
case("field: If-None-Match *", fields(b"If-None-Match: \"x\""), 200)
case("field: Accept-Encoding is not obeyed blindly",
     fields(b"Accept-Encoding: identity;q=0, *;q=0"),
     Want(200, fields={"Content-Encoding": None}))

# Expect.


def expecting(value, *more, size=5, version="HTTP/1.1", target="/echo"):
    return request("POST", target, "Expect: " + value,
                   "Content-Length: %d" % size, *more, version=version)


for value in ("100-continue", "100-Continue", "100-CONTINUE"):
    case("expect: %s, the content later" % value,
         [expecting(value), Interim(1), b"hello"],
         Want(200, body=b"hello"), interim=1)
case("expect: content sent without waiting",
     expecting("100-continue") + b"hello" + request(),
     [Want(200, body=b"hello"), 200], interim=(0, 1))
case("expect: chunked content later",
     [request("POST", "/echo", "Expect: 100-continue",
              "Transfer-Encoding: chunked"), Interim(1),
      b"5\r\nhello\r\n0\r\n\r\n"], Want(200, body=b"hello"), interim=1)
case("expect: no content announced", expecting("100-continue", size=0),
     Want(200, body=b""), interim=(0, 1))
case("expect: a GET without content",
     request("GET", "/status", "Expect: 100-continue"), 200, interim=(0, 1))
case("expect: HTTP/1.0 gets no 100",
     [expecting("100-continue", version="HTTP/1.0"), Silent(0.3), b"hello"],
     Want(200, body=b"hello"), CLOSE)
case("expect: too much content", expecting("100-continue", size=1 << 30),
     413, CLOSE)
case("expect: a route that is not there",
     [expecting("100-continue", target="/nowhere"), Pause(0.05)],
     404, TOLD, interim=0)
case("expect: a method that has no route",
     [expecting("100-continue", target="/status"), Pause(0.05)],
     405, TOLD, interim=0)
for value in ("200-ok", "100-continued", "100", "frob=1", "100-continue, x",
              "x, 100-continue"):
    case("expect: %s cannot be met" % value,
         expecting(value), 417, TOLD, interim=0)
case("expect: 417 with the content behind it",
     expecting("magic") + b"hello", 417, TOLD, interim=0)

# Sizes. The limits are 8 KiB, 16 KiB and 100 fields.


def long_target(size):
    return request("GET", "/status?" + "a" * (size - len("/status?")))


case("size: target of 8,192 bytes", long_target(8192), 200)
case("size: target of 8,193 bytes", long_target(8193), 414, CLOSE)
case("size: target of 12,000 bytes", long_target(12000), 414, CLOSE)
case("size: target of 100,000 bytes", long_target(100000), 414, CLOSE)
case("size: target of 3 MB", long_target(3000000), 414, CLOSE)
case("size: a target without end", [b"GET /" + b"a" * 20000], 414, CLOSE)
case("size: long absolute form",
     request("GET", "http://test/" + "a" * 9000), 414, CLOSE)
case("size: 99 fields and Host", fields(*[b"X-%d: v" % n
                                          for n in range(99)]), 200)
case("size: 100 fields and Host", fields(*[b"X-%d: v" % n
                                           for n in range(100)]), 431, CLOSE)
case("size: 500 fields", fields(*[b"X-%d: v" % n for n in range(500)]), 431,
     CLOSE)
case("size: 100,000 fields", fields(*[b"a:"] * 100000), 431, CLOSE)


def section(size):
    """A header section of so many bytes, its empty line not counted."""
    rest = size - len(b"Host: test\r\n")
    lines = [b"X-%d: " % n + b"v" * 1580 for n in range(rest // 1600)]
    used = sum(len(n) + 2 for n in lines)
    return fields(*lines, b"Y: " + b"v" * (rest - used - 5))


case("size: section of 16,000 bytes", section(16000), 200)
case("size: section of 16,384 bytes", section(16384), 200)
case("size: section of 16,385 bytes", section(16385), 431, CLOSE)
case("size: section of 17,000 bytes", section(17000), 431, CLOSE)
case("size: section of 200,000 bytes", section(200000), 431, CLOSE)
case("size: one value of 20,000 bytes", fields(b"X-A: " + b"v" * 20000), 431,
     CLOSE)
case("size: one value of 3 MB", fields(b"X-A: " + b"v" * 3000000), 431, CLOSE)
case("size: a value without end", [START + b"X-A: " + b"v" * 40000], 431,
     CLOSE)
case("size: a name of 20,000 bytes", fields(b"X" * 20000 + b": v"), 431,
     CLOSE)
case("size: both limits reached at once and served", request(
    "GET", "/status?" + "a" * 8000, *["X-%d: %s" % (n, "v" * 1500)
                                      for n in range(10)]), 200)
case("size: 431 behind two that are served",
     request() * 2 + fields(b"X-A: " + b"v" * 20000) + request(),
     [200, 200, 431], CLOSE)

# What replies carry.
case("reply: /status is JSON", request(), Want(200, fields={
    "Content-Type": r"^application/json", "Cache-Control": "no-store"}))
case("reply: no Server field", request(), Want(200, fields={"Server": None}))
case("reply: 404 is a problem document", request("GET", "/nowhere"),
     Want(404, fields={"Content-Type": r"^application/problem\+json"},
          test=lambda r: None if r.json().get("status") == 404
          else "no status member"))
case("reply: kept connections do not say close", request() * 3,
     [Want(200, fields={"Connection": None})] * 3, OPEN)
