# SPDX-License-Identifier: MIT
"""Raw HTTP/1.x exchanges and the language of the wire cases.

Wire      one connection: bytes out, replies in, strict about every reply.
Want      what one reply has to be.
case()    registers steps to send, the replies wanted and how it ends.
run()     plays a case against a daemon and returns the faults it found.

What holds for every reply (status line, Date, framing, problem documents,
Connection says close exactly when the connection ends) is checked here for
all cases, so that a table row says only what is special about it.
"""
import datetime
import email.utils
import json
import re
import select
import socket
import struct
import time

import rdproc

CRLF = b"\r\n"
TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
CANONICAL = re.compile(r"[A-Z][a-z0-9]*(-[A-Z][a-z0-9]*)*\Z")
SPECIAL_NAMES = {"ETag", "WWW-Authenticate"}
FIXDATE = re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} "
                     r"\d{4} \d\d:\d\d:\d\d GMT\Z")
REGISTERED = {
    100, 101, 102, 103, 200, 201, 202, 203, 204, 205, 206, 300, 301, 302, 303,
    304, 307, 308, 400, 401, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412,
    413, 414, 415, 416, 417, 421, 422, 426, 428, 429, 431, 500, 501, 502, 503,
    504, 505, 507, 508, 511}


class Reply:
    """One parsed reply. `faults` says what no server may send."""

    def __init__(self, status, minor, reason):
        self.status, self.minor, self.reason = status, minor, reason
        self.fields, self.body, self.faults = [], b"", []
        self.arrived = datetime.datetime.now(datetime.timezone.utc)
        self.headless = False

    def all(self, name):
        return [v for n, v in self.fields if n.lower() == name.lower()]

    def get(self, name, default=None):
        values = self.all(name)
        return ", ".join(values) if values else default

    def says(self, option):
        tokens = (self.get("connection") or "").lower().split(",")
        return option in [t.strip() for t in tokens]

    def json(self):
        return json.loads(self.body.decode("utf-8"))


class Bad(Exception):
    """The peer sent what is no reply."""


def parse_head(text):
    lines = text.split(CRLF)
    found = re.match(rb"HTTP/1\.([01]) (\d{3}) ([\t\x20-\x7e\x80-\xff]*)\Z",
                     lines[0])
    if not found:
        raise Bad("status line %r" % lines[0][:60])
    reply = Reply(int(found.group(2)), int(found.group(1)),
                  found.group(3).decode("latin-1"))
    for line in lines[1:]:
        name, colon, value = line.partition(b":")
        if not colon or not TOKEN.match(name):
            raise Bad("field line %r" % line[:60])
        if re.search(rb"[\x00-\x08\x0a-\x1f\x7f]", value):
            reply.faults.append("control character in %r" % line[:60])
        reply.fields.append((name.decode(), value.strip(b" \t")
                             .decode("latin-1")))
    return reply


def take_chunked(buf, pos):
    """-> (body, next position) or None when there is more to come."""
    body = b""
    while True:
        end = buf.find(CRLF, pos)
        if end < 0:
            return None
        if not re.match(rb"[0-9A-Fa-f]{1,16}(;.*)?\Z", buf[pos:end], re.S):
            raise Bad("chunk size line %r" % buf[pos:end][:40])
        size = int(buf[pos:end].split(b";")[0], 16)
        pos = end + 2
        if size == 0:
            break
        if len(buf) < pos + size + 2:
            return None
        body += buf[pos:pos + size]
        if buf[pos + size:pos + size + 2] != CRLF:
            raise Bad("chunk without its CRLF")
        pos += size + 2
    while True:
        end = buf.find(CRLF, pos)
        if end < 0:
            return None
        if end == pos:
            return body, pos + 2
        pos = end + 2


def take_reply(buf, head_only, eof):
    """-> (reply, rest) or None when there is more to come."""
    end = buf.find(b"\r\n\r\n")
    if end < 0:
        if buf and not b"HTTP/1.".startswith(buf[:7]):
            raise Bad("no status line: %r" % buf[:60])
        return None
    reply = parse_head(buf[:end])
    pos = end + 4
    lengths, coding = reply.all("content-length"), reply.get(
        "transfer-encoding")
    if reply.status < 200:
        if lengths or coding:
            reply.faults.append("framing fields in a 1xx")
        return reply, buf[pos:]
    if len(lengths) > 1 or any(not re.match(r"\d+\Z", n) for n in lengths):
        reply.faults.append("Content-Length %r" % lengths)
        lengths = lengths[:0]
    if lengths and coding:
        reply.faults.append("Content-Length with Transfer-Encoding")
    if reply.status in (204, 304):
        if lengths and reply.status == 204:
            reply.faults.append("Content-Length in a 204")
        reply.headless = True
        return reply, buf[pos:]
    if not lengths and not coding and not reply.says("close"):
        reply.faults.append("no framing and no close")
    if head_only:
        reply.headless = True
        return reply, buf[pos:]
    if coding:
        if coding.lower() != "chunked":
            raise Bad("Transfer-Encoding %r" % coding)
        taken = take_chunked(buf, pos)
        if taken is None:
            return None
        reply.body, pos = taken
        return reply, buf[pos:]
    if lengths:
        size = int(lengths[0])
        if len(buf) < pos + size:
            return None
        reply.body = buf[pos:pos + size]
        return reply, buf[pos + size:]
    if not eof:
        return None
    reply.body = buf[pos:]
    return reply, b""


class Wire:
    """A client connection. `heads` holds one flag per reply that is to come:
    true when it answers a HEAD."""

    def __init__(self, target, heads=(), seconds=6.0, receive_buffer=0):
        self.heads, self.seconds = list(heads), rdproc.slow(seconds)
        self.replies, self.interim, self.buf = [], [], b""
        self.eof = self.reset = False
        self.junk = None
        family = (socket.AF_UNIX if isinstance(target, str) else
                  socket.AF_INET6 if ":" in target[0] else socket.AF_INET)
        self.sock = socket.socket(family, socket.SOCK_STREAM)
        if receive_buffer:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF,
                                 receive_buffer)
        self.sock.settimeout(self.seconds)
        self.sock.connect(target)
        if family != socket.AF_UNIX:
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _digest(self):
        while self.buf and self.junk is None:
            head = (self.heads[len(self.replies)]
                    if len(self.replies) < len(self.heads) else False)
            try:
                taken = take_reply(self.buf, head, self.eof)
            except Bad as fault:
                self.junk = str(fault)
                return
            if taken is None:
                if self.eof:
                    self.junk = "cut reply %r" % self.buf[:60]
                return
            reply, self.buf = taken
            if reply.status < 200:
                self.interim.append(reply)
            else:
                self.replies.append(reply)

    def _receive(self):
        try:
            data = self.sock.recv(1 << 18)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self.eof = self.reset = True
            self._digest()
            return
        if data:
            self.buf += data
        else:
            self.eof = True
        self._digest()

    def _poll(self, seconds, events=0):
        # Not select(): descriptors may be above 1,023.
        poll = select.poll()
        poll.register(self.sock, events if self.eof
                      else events | select.POLLIN)
        return sum(e for _, e in poll.poll(seconds * 1000))

    def send(self, data):
        """Sends while reading, so that neither side blocks the other. A peer
        that closes meanwhile is no fault here: the replies decide."""
        view, end = memoryview(data), time.monotonic() + self.seconds
        self.sock.setblocking(False)
        try:
            while len(view) and not self.reset and time.monotonic() < end:
                got = self._poll(0.2, select.POLLOUT)
                if got & ~select.POLLOUT and not self.eof:
                    self._receive()
                if got & select.POLLOUT:
                    try:
                        view = view[self.sock.send(view[:1 << 16]):]
                    except (BlockingIOError, InterruptedError):
                        pass
                    except OSError:
                        break
        finally:
            self.sock.settimeout(self.seconds)
        return not len(view)

    def wait(self, done, seconds=None):
        """Reads until done() or the end; True when done() came true."""
        end = time.monotonic() + (self.seconds if seconds is None
                                  else seconds)
        while not done():
            left = end - time.monotonic()
            if self.eof or self.junk or left <= 0:
                return bool(done())
            if self._poll(min(left, 0.25)):
                self._receive()
        return True

    def wait_replies(self, count, seconds=None):
        return self.wait(lambda: len(self.replies) >= count, seconds)

    def wait_eof(self, seconds=None):
        return self.wait(lambda: self.eof, seconds)

    def fin(self):
        try:
            self.sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        try:
            self.sock.close()
        except OSError:
            pass

    def rst(self):
        try:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                 struct.pack("ii", 1, 0))
        except OSError:
            pass
        self.close()


def request(method="GET", target="/status", *fields, version="HTTP/1.1",
            host="test", body=b""):
    """A request as bytes; `host` None leaves the field out."""
    lines = ["%s %s %s" % (method, target, version)]
    if host is not None:
        lines.append("Host: " + host)
    lines += fields
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def fetch(target, data, head=False, seconds=6.0):
    """One request on a connection of its own; the reply, or None."""
    with Wire(target, [head], seconds) as wire:
        wire.send(data)
        wire.wait_replies(1)
        return wire.replies[0] if wire.replies else None


# ------------------------------------------------------------ language
class Want:
    """One reply: a status or several permitted ones, and what else holds.
    `maybe`: there may also be none, which only the last one can have."""

    def __init__(self, status, body=None, fields=None, head=False, test=None,
                 maybe=False):
        self.statuses = (status,) if isinstance(status, int) else tuple(status)
        self.maybe = maybe
        self.body, self.fields = body, fields or {}
        self.head, self.test = head, test

    def faults(self, reply):
        if reply.status not in self.statuses:
            yield "status %d, not %s" % (reply.status, "/".join(
                map(str, self.statuses)))
            return
        if self.body is not None and reply.body != self.body:
            yield "body %r" % reply.body[:60]
        for name, pattern in self.fields.items():
            value = reply.get(name)
            if pattern is None and value is not None:
                yield "field %s: %r" % (name, value)
            elif pattern is not None and (
                    value is None or not re.search(pattern, value)):
                yield "field %s is %r" % (name, value)
        if self.test:
            fault = self.test(reply)
            if fault:
                yield fault


class Pause:
    def __init__(self, seconds):
        self.seconds = seconds


class Silent(Pause):
    """Nothing may arrive for that long."""


class Replies:
    """Waits for so many replies in all."""

    def __init__(self, count):
        self.count = count


class Interim(Replies):
    """Waits for so many 1xx replies in all."""


class Pieces:
    """Bytes in pieces of `size`, `gap` seconds apart."""

    def __init__(self, data, size=1, gap=0.001):
        self.data, self.size, self.gap = data, size, gap


class Deaf:
    """Bytes sent without reading anything meanwhile."""

    def __init__(self, data):
        self.data = data


FIN, RST = "fin", "rst"
OPEN, CLOSE, TOLD, GONE = "open", "close", "told", "gone"
CASES = []


def case(name, send, want, end=OPEN, interim=(0, 0), cut=None):
    """Registers a case. `send`: bytes or a list of bytes and steps. `want`: a
    reply or a list of them (Want, status, or tuple of statuses). `end`: OPEN
    (it must serve another request), CLOSE, TOLD (as the last reply's
    Connection says), GONE (the client has reset). `cut`: also play it cut in
    pieces; by default when it is plain bytes of no great length."""
    steps = send if isinstance(send, list) else [send]
    if not isinstance(want, list):
        want = [want]
    want = [w if isinstance(w, Want) else Want(w) for w in want]
    if any(c["name"] == name for c in CASES):
        raise ValueError("two cases named %s" % name)
    plain = all(isinstance(s, bytes) for s in steps)
    if cut is None:
        cut = plain and sum(map(len, steps)) < 20000
    interim = (interim, interim) if isinstance(interim, int) else interim
    CASES.append(dict(name=name, steps=steps, want=want, end=end,
                      interim=interim, cut=cut))


# ------------------------------------------------------------ checks
def date_fault(value, arrived, late):
    if value is None:
        return "no Date"
    if not FIXDATE.match(value):
        return "Date %r" % value
    when = email.utils.parsedate_to_datetime(value)
    if when.strftime("%a, %d %b %Y %H:%M:%S GMT") != value:
        return "Date %r does not agree with itself" % value
    if abs((arrived - when).total_seconds()) > rdproc.slow(3) + late:
        return "Date %r is off" % value
    return None


def problem_faults(reply):
    """RFC 9457, for every 4xx and 5xx."""
    kind = reply.get("content-type") or ""
    if kind.split(";")[0].strip().lower() != "application/problem+json":
        yield "error of type %r" % kind
        return
    if reply.headless:
        return
    try:
        document = reply.json()
    except ValueError as fault:
        yield "problem document: %s" % fault
        return
    if not isinstance(document, dict):
        yield "problem document is no object"
    elif document.get("status") != reply.status:
        yield "problem status %r" % (document.get("status"),)
    elif not document.get("title") or not isinstance(document["title"], str):
        yield "problem title %r" % (document.get("title"),)


def reply_faults(reply, late=0):
    """What holds for every final reply, read up to `late` seconds after it
    was sent."""
    yield from reply.faults
    if reply.status not in REGISTERED:
        yield "unregistered status %d" % reply.status
    if not reply.reason:
        yield "no reason phrase"
    fault = date_fault(reply.get("date"), reply.arrived, late)
    if fault:
        yield fault
    for name in ("date", "content-length", "content-type", "connection"):
        if len(reply.all(name)) > 1:
            yield "%s twice" % name
    for name, _ in reply.fields:
        if not CANONICAL.match(name) and name not in SPECIAL_NAMES:
            yield "name %s is not in canonical case" % name
    if reply.body and not reply.get("content-type"):
        yield "content without Content-Type"
    if reply.status == 405 and not reply.get("allow"):
        yield "405 without Allow"
    if reply.status >= 400:
        yield from problem_faults(reply)


def play(wire, steps, cut):
    """Sends a case's steps; yields faults."""
    for step in steps:
        if isinstance(step, bytes):
            size = max(1, len(step) // 48) if cut else 0
            step = Pieces(step, size, 0.001) if cut else step
        if isinstance(step, bytes):
            wire.send(step)
        elif isinstance(step, Pieces):
            for at in range(0, len(step.data), step.size):
                wire.send(step.data[at:at + step.size])
                wire.wait(lambda: False, step.gap)
                if wire.reset:
                    break
        elif isinstance(step, Deaf):
            try:
                wire.sock.sendall(step.data)
            except OSError:
                pass
        elif isinstance(step, Silent):
            before = len(wire.replies) + len(wire.interim)
            wire.wait(lambda: False, step.seconds)
            if len(wire.replies) + len(wire.interim) != before or wire.eof:
                yield "something came before the request was complete"
        elif isinstance(step, Pause):
            wire.wait(lambda: False, step.seconds)
        elif isinstance(step, Interim):
            if not wire.wait(lambda: len(wire.interim) >= step.count):
                yield "no interim reply"
        elif isinstance(step, Replies):
            if not wire.wait_replies(step.count):
                yield "%d replies, waited for %d" % (len(wire.replies),
                                                     step.count)
        elif step == FIN:
            wire.fin()
        elif step == RST:
            wire.rst()


def end_faults(wire, end, count, token, finished):
    """How the connection has to end, behind `count` replies. `finished`: the
    client has half-closed, which the server may see only behind the reply."""
    last = wire.replies[count - 1] if 0 < count <= len(wire.replies) else None
    if end == TOLD:
        end = CLOSE if last is not None and last.says("close") else OPEN
    if end == CLOSE:
        if not wire.wait_eof():
            yield "left open"
        if last is not None and not last.says("close") and not finished:
            yield "closes without Connection: close"
    else:
        if last is not None and last.says("close"):
            yield "says close"
        wire.heads = wire.heads[:count] + [False]
        wire.send(request("POST", "/echo", "Connection: close",
                          "Content-Length: %d" % len(token), body=token))
        wire.wait_eof()
        probe = wire.replies[count:count + 1]
        if not probe or probe[0].status != 200 or probe[0].body != token:
            yield "did not serve the next request (%s)" % (
                probe[0].status if probe else "closed" if wire.eof
                else "nothing came")
        count += 1
    if len(wire.replies) > count:
        yield "%d replies too many: %s" % (
            len(wire.replies) - count,
            [r.status for r in wire.replies[count:]][:5])


def run(target, one, cut=False):
    """Plays one case; returns its list of faults."""
    want, faults = one["want"], []
    with Wire(target, [w.head for w in want]) as wire:
        faults += play(wire, one["steps"], cut)
        if one["end"] == GONE:
            return faults
        wire.wait_replies(len(want))
        if want and want[-1].maybe and len(wire.replies) < len(want):
            want = want[:-1]
        token = ("probe-" + one["name"]).encode()
        faults += end_faults(wire, one["end"], len(want), token,
                             FIN in one["steps"])
        replies = wire.replies[:len(want)]
        late = 10 if any(isinstance(s, Deaf) for s in one["steps"]) else 0
        if len(replies) < len(want):
            faults.append("%d of %d replies: %s" % (
                len(replies), len(want), [r.status for r in replies][-5:]))
        for number, (reply, wanted) in enumerate(zip(replies, want)):
            found = list(wanted.faults(reply)) + list(
                reply_faults(reply, late))
            if number + 1 < len(replies) and reply.says("close"):
                found.append("says close, but it is not the last")
            faults += ["reply %d: %s" % (number + 1, f) for f in found]
        low, high = one["interim"]
        if not low <= len(wire.interim) <= high:
            faults.append("%d interim replies" % len(wire.interim))
        if any(r.status != 100 or r.faults for r in wire.interim):
            faults.append("interim %s" % [r.status for r in wire.interim])
        if wire.junk:
            faults.append(wire.junk)
    return faults
