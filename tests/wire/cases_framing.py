# SPDX-License-Identifier: MIT
"""Content and its framing: RFC 9112 sections 6 and 7. Behind most of these
requests stands a canary: a request that a server which loses the framing would
answer; one reply too many is a fault of every case."""
from wire import (CLOSE, FIN, TOLD, Deaf, Pause, Pieces, Silent, Want,
                  case, request)

CHUNKED = "Transfer-Encoding: chunked"
CANARY = request("POST", "/echo", "Content-Length: 8", body=b"SMUGGLED")
HELLO = Want(200, body=b"hello")
CUT = Want((400, 408), maybe=True)


def post(*fields, body=b"", target="/echo", version="HTTP/1.1"):
    return request("POST", target, *fields, body=body, version=version)


def chunks(*pieces, last=b"0\r\n\r\n"):
    return b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces) + last


def good(name, send, content=b"hello"):
    """Served, and the request behind it as well."""
    case(name, send + request(), [Want(200, body=content), 200])


def bad(name, send, status=400):
    """Refused, and nothing behind it is read as a request."""
    case(name, send + CANARY + request(), status, CLOSE)


# Content-Length.
good("length: five", post("Content-Length: 5", body=b"hello"))
good("length: none at all", post(), b"")
good("length: zero", post("Content-Length: 0"), b"")
good("length: zero, thrice", post("Content-Length: 000"), b"")
good("length: leading zeros", post("Content-Length: 0005", body=b"hello"))
good("length: white space around it",
     post("Content-Length: \t5 \t", body=b"hello"))
good("length: the same line twice",
     post("Content-Length: 5", "Content-Length: 5", body=b"hello"))
good("length: a list of equal numbers",
     post("Content-Length: 5, 5", body=b"hello"))
good("length: name in other case", post("content-LENGTH: 5", body=b"hello"))
good("length: every byte value",
     post("Content-Length: 256", body=bytes(range(256))), bytes(range(256)))
for value in ("+5", "-5", "-0", "5 5", "0x5", "5h", "5.0", "5e0", "", "five",
              "5,", ",5", "5,6", "5, 6", "5;5", "\"5\"", "\xb25", "5_0",
              "0b101", "1" + "0" * 19, "18446744073709551616",
              "18446744073709551621", "9223372036854775808"):
    bad("length: %r is none" % value,
        post("Content-Length: " + value, body=b"hello"),
        (400, 413) if value[-1:].isdigit() and len(value) > 18 else 400)
bad("length: forty digits", post("Content-Length: " + "9" * 40), (400, 413))
bad("length: two lines that differ",
    post("Content-Length: 5", "Content-Length: 6", body=b"hello"))
bad("length: two lines that differ by a zero only in form",
    post("Content-Length: 5", "Content-Length: 50", body=b"hello"))
bad("length: three lines, the last differs",
    post(*["Content-Length: 5"] * 2, "Content-Length: 4", body=b"hello"))
bad("length: an empty line beside a good one",
    post("Content-Length: 5", "Content-Length:", body=b"hello"))
bad("length: space before the colon",
    post("Content-Length : 5", body=b"hello"))
bad("length: hidden behind a fold",
    post("Content-Length:\r\n 5", body=b"hello"))

# Transfer-Encoding.
good("coding: chunked", post(CHUNKED, body=chunks(b"hel", b"lo")))
good("coding: in capitals", post("Transfer-Encoding: CHUNKED",
                                 body=chunks(b"hello")))
good("coding: white space around it", post("Transfer-Encoding: \tchunked ",
                                           body=chunks(b"hello")))
good("coding: no content", post(CHUNKED, body=chunks()), b"")
for value, status in {
        "gzip": (400, 501), "gzip, chunked": (400, 501), "identity": (400, 501),
        "chunked, gzip": (400, 501), "chunked, chunked": 400,
        "chunked, identity": (400, 501), "xchunked": (400, 501),
        "chunkedx": (400, 501), "chunke": (400, 501), "chun ked": (400, 501),
        "\"chunked\"": (400, 501), "chunked;q=1": (400, 501),
        "'chunked'": (400, 501), "chunked\x0b": 400, "\x0bchunked": 400,
        "chunked\x00": 400, "x, chunked": (400, 501), "": (400, 501),
        "=chunked": (400, 501), "chunked chunked": (400, 501),
        "chunked\t, \tchunked": 400, "\xe7hunked": (400, 501)}.items():
    bad("coding: %r" % value, post("Transfer-Encoding: " + value,
                                   body=chunks(b"hello")), status)
bad("coding: two lines", post(CHUNKED, CHUNKED, body=chunks(b"hello")))
bad("coding: two lines, one unknown",
    post(CHUNKED, "Transfer-Encoding: x", body=chunks(b"hello")), (400, 501))
bad("coding: space before the colon",
    post("Transfer-Encoding : chunked", body=chunks(b"hello")))
bad("coding: folded", post("Transfer-Encoding:\r\n chunked",
                           body=chunks(b"hello")))
bad("coding: in HTTP/1.0", post(CHUNKED, "Connection: keep-alive",
                                version="HTTP/1.0", body=chunks(b"hello")))
for label, fields in {
        "length first": ("Content-Length: 5", CHUNKED),
        "coding first": (CHUNKED, "Content-Length: 5"),
        "length zero": ("Content-Length: 0", CHUNKED),
        "length that fits": ("Content-Length: 15", CHUNKED),
        "length huge": ("Content-Length: 99999999", CHUNKED),
        "length bad": ("Content-Length: x", CHUNKED),
        "coding unknown": ("Content-Length: 5",
                           "Transfer-Encoding: xchunked")}.items():
    bad("both: " + label, post(*fields, body=chunks(b"hello")),
        (400, 501) if label == "coding unknown" else 400)

# Chunks.
good("chunk: digits in both cases",
     post(CHUNKED, body=b"A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n"),
     b"0123456789" * 2)
good("chunk: leading zeros", post(CHUNKED,
                                  body=b"0005\r\nhello\r\n000\r\n\r\n"))
good("chunk: size of sixteen digits",
     post(CHUNKED, body=b"0000000000000005\r\nhello\r\n0\r\n\r\n"))
good("chunk: a thousand of one byte",
     post(CHUNKED, body=chunks(*[b"x"] * 1000)), b"x" * 1000)
good("chunk: content that looks like a last chunk",
     post(CHUNKED, body=chunks(b"0\r\n\r\n", CANARY)), b"0\r\n\r\n" + CANARY)
for extension in (b";a", b";a=b", b";a=\"b\"", b";a=\"b;c\\\"d\"", b";a;b;c",
                  b";a=b;c=\"d e\";f", b" ; a = b", b"\t;a"):
    good("chunk: extension %r" % extension, post(
        CHUNKED, body=b"5" + extension + b"\r\nhello\r\n0" + extension +
        b"\r\n\r\n"))
for size in (b"", b" ", b"x", b"g", b"-5", b"+5", b"0x5", b"5x", b" 5", b"5 5",
             b"5,", b"5.", b"00000000000000005", b"1" + b"0" * 16,
             b"\x005", b"5\x00", b"\xb5", b"five", b"5=a", b"5:", b"\"5\""):
    bad("chunk: size %r" % size,
        post(CHUNKED, body=size + b"\r\nhello\r\n0\r\n\r\n"), (400, 413)
        if size == b"1" + b"0" * 16 else 400)
bad("chunk: size ffffffffffffffff",
    post(CHUNKED, body=b"ffffffffffffffff\r\nhello\r\n0\r\n\r\n"), (400, 413))
bad("chunk: size fffffffffffffffe behind content",
    post(CHUNKED, body=b"5\r\nhello\r\nfffffffffffffffe\r\nx"), (400, 413))
for label, content in {
        "size ended by LF": b"5\nhello\r\n0\r\n\r\n",
        "size ended by CR": b"5\rhello\r\n0\r\n\r\n",
        "content ended by LF": b"5\r\nhello\n0\r\n\r\n",
        "content ended by CR": b"5\r\nhello\r0\r\n\r\n",
        "content not ended": b"5\r\nhello0\r\n\r\n",
        "longer than its size": b"5\r\nhello!\r\n0\r\n\r\n",
        "shorter than its size": b"5\r\nhell\r\n0\r\n\r\n",
        "CRLF twice behind it": b"5\r\nhello\r\n\r\n0\r\n\r\n",
        "last one ended by LF": b"5\r\nhello\r\n0\n\r\n",
        "end of all by LF": b"5\r\nhello\r\n0\r\n\n",
        "end of all by CR and more": b"5\r\nhello\r\n0\r\n\rX",
        "not one at all": b"hello, this is no chunk\r\n",
        "empty extension": b"5;\r\nhello\r\n0\r\n\r\n",
        "extension without a name": b"5;=b\r\nhello\r\n0\r\n\r\n",
        "extension without a value": b"5;a=\r\nhello\r\n0\r\n\r\n",
        "extension with NUL": b"5;a=\x00\r\nhello\r\n0\r\n\r\n",
        "extension with LF": b"5;a\nhello\r\n0\r\n\r\n",
        "extension with a bare CR": b"5;a\rb\r\nhello\r\n0\r\n\r\n",
        "extension with LF in quotes": b"5;a=\"\n\"\r\nhello\r\n0\r\n\r\n",
        "extension with open quotes": b"5;a=\"b\r\nhello\r\n0\r\n\r\n",
        "extension of 5,000 bytes":
            b"5;" + b"a" * 5000 + b"\r\nhello\r\n0\r\n\r\n",
        "extensions of 5,000 bytes in all":
            b"1;aaaaaaaa\r\nx\r\n" * 550 + b"0\r\n\r\n"}.items():
    bad("chunk: " + label, post(CHUNKED, body=content))

# Trailers.
for label, trailer in {
        "one": b"X-Sum: 1\r\n", "three": b"X-A: 1\r\nX-B:\r\nX-C: \xe4\r\n",
        "Content-Length in it": b"Content-Length: 100\r\n",
        "Transfer-Encoding in it": b"Transfer-Encoding: gzip\r\n",
        "Host in it": b"Host: other\r\n"}.items():
    good("trailer: " + label, post(CHUNKED, body=chunks(
        b"hello", last=b"0\r\n" + trailer + b"\r\n")))
for label, trailer in {
        "no colon": b"X-Sum\r\n", "space before the colon": b"X : 1\r\n",
        "no name": b": 1\r\n", "folded": b"X: 1\r\n 2\r\n",
        "white space first": b" X: 1\r\n", "NUL": b"X: \x00\r\n",
        "bare LF": b"X: 1\nY: 2\r\n", "bare CR": b"X: 1\rY\r\n",
        "control": b"X: \x01\r\n", "bad name": b"X(Y): 1\r\n"}.items():
    bad("trailer: " + label, post(CHUNKED, body=chunks(
        b"hello", last=b"0\r\n" + trailer + b"\r\n")))
bad("trailer: of 20,000 bytes", post(CHUNKED, body=chunks(
    b"hello", last=b"0\r\nX: " + b"v" * 20000 + b"\r\n\r\n")), 431)

# Sizes: 64 KiB are held in memory for a handler.
FULL = bytes(range(256)) * 256
case("content: 65,536 bytes", post(
    "Content-Length: 65536", body=FULL) + request(),
    [Want(200, body=FULL), 200])
case("content: 65,536 bytes in chunks", post(CHUNKED, body=chunks(
    *[FULL[n:n + 1000] for n in range(0, 65536, 1000)])) + request(),
    [Want(200, body=FULL), 200])
case("content: 65,537 bytes", post(
    "Content-Length: 65537", body=FULL + b"x"), 413, CLOSE)
case("content: grows to 65,537 in chunks", post(CHUNKED, body=chunks(
    FULL, b"x")), 413, CLOSE)
case("content: one chunk announces a megabyte",
     post(CHUNKED, body=b"100000\r\n"), 413, CLOSE)
case("content: 10 GB announced", post("Content-Length: 10000000000"), 413,
     CLOSE)
for target, status in (("/echo", 413), ("/status", (405, 413)),
                       ("/nowhere", (404, 413))):
    case("content: 4 MB to %s, reply readable" % target,
         post("Content-Length: 4000000", target=target,
              body=b"x" * 4000000), status, CLOSE)
    case("content: 4 MB to %s, read only afterwards" % target,
         [Deaf(post("Content-Length: 4000000", target=target,
                    body=b"x" * 4000000))], status, CLOSE)
case("content: 4 MB in chunks, reply readable", post(CHUNKED, body=chunks(
    *[b"x" * 100000] * 40)), 413, CLOSE)
case("content: 4 MB behind a bad request",
     b"GET /status HTTP/1.1\r\nbad line\r\n\r\n" + b"x" * 4000000, 400, CLOSE)

# Requests that carry content nobody asked for.
for method, target, status in (
        ("GET", "/status", (200, 400, 413)), ("DELETE", "/status", 405),
        ("PUT", "/status", 405), ("POST", "/status", 405),
        ("POST", "/nowhere", 404), ("GET", "/nowhere", (404, 400)),
        ("GET", "/echo", 405), ("OPTIONS", "/status", (200, 204))):
    case("canary: in the content of %s %s" % (method, target), request(
        method, target, "Content-Length: %d" % len(CANARY), body=CANARY),
        status, TOLD)
    case("canary: in the chunks of %s %s" % (method, target), request(
        method, target, CHUNKED, body=chunks(CANARY, CANARY)), status, TOLD)
case("canary: in the content of HEAD", request(
    "HEAD", "/status", "Content-Length: %d" % len(CANARY), body=CANARY),
    Want((200, 400), head=True), TOLD)
case("canary: in the content of an unknown method", request(
    "FROB", "/status", "Content-Length: %d" % len(CANARY), body=CANARY),
    501, TOLD)
good("canary: echoed as content", post(
    "Content-Length: %d" % len(CANARY), body=CANARY), CANARY)
case("canary: half of it within, half behind",
     post("Content-Length: 20", body=CANARY), [200, (400, 501)], CLOSE)

# Time between the parts.
case("parts: content behind the head",
     [post("Content-Length: 5"), Silent(0.3), b"hel", Silent(0.1), b"lo"],
     HELLO)
case("parts: chunk by chunk",
     [post(CHUNKED), Pause(0.05), b"2\r", Pause(0.05), b"\nhe\r\n3\r\nl",
      Silent(0.1), b"lo\r\n0\r\n", Silent(0.2), b"\r\n"], HELLO)
case("parts: head in three",
     [b"POST /echo HT", Silent(0.1), b"TP/1.1\r\nHost: a\r", Silent(0.1),
      b"\nContent-Length: 5\r\n\r\nhello"], HELLO)
case("parts: large content slowly",
     [post("Content-Length: 60000"), Pieces(b"z" * 60000, 4000, 0.01)],
     Want(200, body=b"z" * 60000))
case("parts: next request with the last byte",
     [post("Content-Length: 5", body=b"hell"), Silent(0.1),
      b"o" + request()], [HELLO, 200])
case("parts: byte by byte",
     [Pieces(post(CHUNKED, "X-A: b", body=chunks(
         b"hel", b"lo", last=b"0;x=\"y\"\r\nT: u\r\n\r\n")))], HELLO)

# The client ends early.
case("early end: within the content",
     [post("Content-Length: 5", body=b"hel"), FIN], CUT, CLOSE)
case("early end: within a chunk",
     [post(CHUNKED, body=b"5\r\nhel"), FIN], CUT, CLOSE)
case("early end: before the last chunk",
     [post(CHUNKED, body=b"5\r\nhello\r\n"), FIN], CUT, CLOSE)
case("early end: before the end of the trailer",
     [post(CHUNKED, body=b"5\r\nhello\r\n0\r\nX: 1\r\n"), FIN], CUT, CLOSE)
case("early end: behind the content",
     [post("Content-Length: 5", body=b"hello"), FIN], HELLO, CLOSE)
case("early end: behind the chunks",
     [post(CHUNKED, body=chunks(b"hello")), FIN], HELLO, CLOSE)
