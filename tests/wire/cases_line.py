# SPDX-License-Identifier: MIT
"""Request line and target: RFC 9112 sections 2.2, 2.3 and 3, RFC 3986."""
from wire import CLOSE, OPEN, TOLD, Want, case, request

TAIL = b"Host: test\r\n\r\n"
REFUSED = (400,)


def line(text, rest=TAIL):
    return text + b"\r\n" + rest


def target(text, **more):
    return line(b"GET " + text + b" HTTP/1.1", **more)


# The line itself.
case("line: plain", request(), 200)
case("line: one empty line before it", b"\r\n" + request(), 200)
case("line: an empty line before each of two",
     b"\r\n" + request() + b"\r\n" + request(), [200, 200])
for label, text in {
        "space before the method": b" GET /status HTTP/1.1",
        "tab before the method": b"\tGET /status HTTP/1.1",
        "two spaces behind the method": b"GET  /status HTTP/1.1",
        "two spaces before the version": b"GET /status  HTTP/1.1",
        "tab behind the method": b"GET\t/status HTTP/1.1",
        "tab before the version": b"GET /status\tHTTP/1.1",
        "space behind the version": b"GET /status HTTP/1.1 ",
        "space within the target": b"GET /sta tus HTTP/1.1",
        "method only": b"GET",
        "method and target only": b"GET /status",
        "no target": b"GET HTTP/1.1",
        "no method": b"/status HTTP/1.1",
        "empty target between two spaces": b"GET  HTTP/1.1",
        "vertical tab as separator": b"GET\x0b/status HTTP/1.1",
        "form feed as separator": b"GET /status\x0cHTTP/1.1",
        "bare CR as separator": b"GET /status\rHTTP/1.1",
        "CR doubled at its end": b"GET /status HTTP/1.1\r",
        "NUL behind the version": b"GET /status HTTP/1.1\x00",
        "NUL in the method": b"G\x00T /status HTTP/1.1",
        "colon in the method": b"GET: /status HTTP/1.1",
        "at sign in the method": b"G@T /status HTTP/1.1",
        "slash in the method": b"GET/ /status HTTP/1.1",
        "brackets in the method": b"G[E]T /status HTTP/1.1",
        "quote in the method": b"\"GET\" /status HTTP/1.1",
        "latin-1 in the method": b"G\xc9T /status HTTP/1.1",
        "a TLS hello": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        "a status line": b"HTTP/1.1 200 OK",
}.items():
    case("line: " + label, line(text), Want(REFUSED), CLOSE)
case("line: ended by LF alone", b"GET /status HTTP/1.1\nHost: test\r\n\r\n",
     400, CLOSE)
case("line: all ended by LF alone", b"GET /status HTTP/1.1\nHost: test\n\n",
     400, CLOSE)
case("line: LF before it", b"\n" + request(), 400, CLOSE)
case("line: CR before it", b"\r" + request(), 400, CLOSE)

# Versions.
for version in ("HTTP/1.2", "HTTP/1.9"):
    case("version: %s is served as 1.1" % version,
         request(version=version), 200)
for version in ("HTTP/2.0", "HTTP/3.0", "HTTP/9.1"):
    case("version: %s is not spoken" % version,
         request(version=version), 505, CLOSE)
case("version: HTTP/0.9 with fields", request(version="HTTP/0.9"),
     Want((400, 505)), CLOSE)
for version in ("HTTP/01.1", "HTTP/1.01", "HTTP/1.10", "HTTP/11.1",
                "HTTP/1.x", "HTTP/x.1", "HTTP/1", "HTTP/1.", "HTTP/.1",
                "HTTP/", "HTTP", "HTTP/1,1", "HTTP/1.1.1", "HTTP/-1.1",
                "http/1.1", "Http/1.1", "HTTPS/1.1", "HTP/1.1", "1.1",
                "XHTTP/1.1", "HTTP/1 .1", "HTTP /1.1", "HTTP/ 1.1"):
    case("version: %r is none" % version, request(version=version),
         Want((400, 505)), CLOSE)
case("version: the preface of HTTP/2",
     b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9),
     Want((400, 501, 505)), CLOSE)

# Methods.
for method in ("get", "Get", "FOO", "PROPFIND", "M-SEARCH", "GETT", "GE",
               "!#$%&'*+-.^_`|~", "X" * 20):
    case("method: %.20s is unknown" % method, request(method), 501, TOLD)
case("method: unknown one on an unknown path", request("FOO", "/nowhere"),
     501, TOLD)
case("method: one of 200 letters", request("A" * 200), Want((400, 501)), TOLD)
case("method: one of 10,000 letters", request("A" * 10000),
     Want((400, 414, 431, 501)), TOLD)
for method in ("POST", "PUT", "DELETE", "PATCH", "TRACE"):
    case("method: %s has no route on /status" % method, request(method),
         Want(405, fields={"Allow": r"\bGET\b.*\bHEAD\b"}), TOLD)
for method in ("GET", "PUT", "DELETE"):
    case("method: %s has no route on /echo" % method,
         request(method, "/echo"), Want(405, fields={"Allow": r"\bPOST\b"}))
for method in ("GET", "POST", "PUT", "DELETE", "PATCH"):
    case("method: %s on an unknown path" % method,
         request(method, "/nowhere"), 404)
case("method: HEAD on an unknown path", request("HEAD", "/nowhere"),
     Want(404, head=True))
case("method: HEAD on /echo", request("HEAD", "/echo"),
     Want(405, head=True, fields={"Allow": r"\bPOST\b"}))
case("method: HEAD on /status", request("HEAD"),
     Want(200, head=True, fields={"Content-Length": r"^[1-9]\d+$",
                                  "Content-Type": "^application/json"}))
case("method: OPTIONS on /status", request("OPTIONS"),
     Want((200, 204), fields={"Allow": r"\bGET\b.*\bHEAD\b"}))
case("method: OPTIONS on /echo", request("OPTIONS", "/echo"),
     Want((200, 204), fields={"Allow": r"\bPOST\b"}))
case("method: OPTIONS on an unknown path", request("OPTIONS", "/nowhere"),
     404)
case("method: OPTIONS *", request("OPTIONS", "*"), Want((200, 204)))
case("method: OPTIONS * twice, then GET",
     request("OPTIONS", "*") * 2 + request(), [(200, 204), (200, 204), 200])
case("method: OPTIONS with content", request(
    "OPTIONS", "/status", "Content-Length: 4", body=b"abcd"),
    Want((200, 204)), TOLD)
case("method: GET *", request("GET", "*"), 400, CLOSE)
case("method: OPTIONS *?a", request("OPTIONS", "*?a"), 400, CLOSE)
case("method: OPTIONS */", request("OPTIONS", "*/"), 400, CLOSE)
case("method: CONNECT makes no tunnel",
     request("CONNECT", "test:443"), Want((400, 404, 405, 501)), TOLD)
case("method: CONNECT with a path", request("CONNECT", "/status"),
     Want((400, 405, 501)), TOLD)
case("method: GET with an authority", request("GET", "test:80"), 400, CLOSE)

# Forms of the target.
for label, text, status in (
        ("http", b"http://test/status", 200),
        ("scheme in capitals", b"HTTP://test/status", 200),
        ("other host than Host says", b"http://other:81/status", 200),
        ("an address", b"http://127.0.0.1:80/status", 200),
        ("an IPv6 address", b"http://[::1]:80/status", 200),
        ("empty port", b"http://test:/status", 200),
        ("a query", b"http://test/status?a=b", 200),
        ("no path", b"http://test", 200),
        ("only a slash", b"http://test/", 200),
        ("an unknown path", b"http://test/nowhere", 404),
        ("userinfo", b"http://me@test/status", 400),
        ("userinfo with password", b"http://me:pw@test/status", 400),
        ("empty host", b"http:///status", 400),
        ("one slash", b"http:/test/status", 400),
        ("no slashes", b"http:test", 400),
        ("a port that is no number", b"http://test:8x/status", 400),
        ("an open bracket", b"http://[::1/status", 400),
        ("a scheme that starts with a digit", b"1http://test/status", 400)):
    case("absolute form: " + label, target(text), status,
         CLOSE if status == 400 else OPEN)
case("absolute form: Host is still asked for",
     target(b"http://test/status", rest=b"\r\n"), 400, CLOSE)
case("absolute form: a bad Host is still bad",
     target(b"http://test/status", rest=b"Host: a b\r\n\r\n"), 400, CLOSE)
case("target: relative", target(b"status"), 400, CLOSE)
case("target: only a query", target(b"?a"), 400, CLOSE)

# What may stand in a target.
for label, text in {
        "fragment": b"/status#top", "empty fragment": b"/status#",
        "fragment behind a query": b"/status?a#b",
        "NUL": b"/sta\x00tus", "control 0x01": b"/sta\x01tus",
        "escape 0x1b": b"/\x1b[31m", "DEL": b"/status\x7f",
        "tab": b"/sta\ttus", "bare CR": b"/sta\rtus",
        "control in the query": b"/status?a\x02",
        "escape with a space": b"/status% 20"}.items():
    case("target: " + label, target(text), 400, CLOSE)
for label, text in {
        "escaped NUL": b"/status%00", "escaped NUL in the midst": b"/st%00atus",
        "escape cut off": b"/status%", "escape of one digit": b"/status%2",
        "escape of no digits": b"/status%zz", "escape %g0": b"/status%g0",
        "escape %2g": b"/status%2g", "escape with a sign": b"/status%-1",
        "escape cut by a slash": b"/status%2/x",
        "escape cut by the query": b"/status%2?0",
        "bad escape on an unknown path": b"/nowhere/%x"}.items():
    case("target: " + label, target(text), 400, TOLD)

# Normal forms of a path.
for text, status in {
        b"/%73tatus": 200, b"/%73%74%61%74%75%73": 200, b"/statu%73": 200,
        b"/./status": 200, b"/././status": 200, b"/x/../status": 200,
        b"/x/y/../../status": 200, b"/../status": 200,
        b"/../../../../../../status": 200, b"/%2e/status": 200,
        b"/x/%2E%2e/status": 200, b"/x/.%2e/status": 200,
        b"/status?": 200, b"/status?a": 200, b"/status?a=b&c=d": 200,
        b"/status?a=%20": 200, b"/status?/../nowhere": 200,
        b"/status?a?b=c": 200, b"/status?a=%c3%a4": 200,
        b"/status/.": 404, b"/status/..": 200, b"/x/..": 200,
        b"/status/x": 404, b"/Status": 404, b"/STATUS": 404,
        b"/statu": 404, b"/statuss": 404, b"/status;v=1": 404,
        b"/status%2f": 404, b"/%2fstatus": 404, b"/status%3f": 404,
        b"/status%20": 404, b"/status.": 404, b"/...": 404,
        b"/.status": 404, b"/status%0d%0aX-Injected:%20yes": 404,
        b"/nowhere?/status": 404, b"/%ff%fe": 404, b"/%252e/status": 404,
        b"/" + b"x/" * 500 + b"y": 404,
        b"/" + b"x/../" * 20 + b"status": 200}.items():
    case("path: %.40s" % text.decode("latin-1"), target(text),
         Want(status, fields={"X-Injected": None}))
for text in (b"//status", b"/status/", b"/status//", b"///", b"/x//../status"):
    case("path: %s is not taken for another" % text.decode(), target(text),
         Want((200, 404) if text == b"/x//../status" else 404))
for text in (b"/caf\xc3\xa9", b"/a\"b", b"/a<b>", b"/a\\b", b"/a^b", b"/a`b",
             b"/a{b}", b"/a|b", b"/status?q=\xe4"):
    case("path: %r is no URI" % text, target(text), Want((200, 400, 404)),
         TOLD)
