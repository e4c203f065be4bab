"""A very small WebSocket client and HTTP helper on the standard library alone (Python >= 3.9).

Shared by probe.py (Home Assistant) and shot.py (Chromium's DevTools).
Text frames only; ws:// only; loopback is what it is meant for.
"""
import base64
import json
import os
import socket
import struct
import time
import urllib.error
import urllib.parse
import urllib.request


class WS:
    def __init__(self, url, timeout=30):
        u = urllib.parse.urlsplit(url)
        self.s = socket.create_connection((u.hostname, u.port or 80), timeout)
        self.s.settimeout(timeout)
        key = base64.b64encode(os.urandom(16)).decode()
        path = (u.path or "/") + (("?" + u.query) if u.query else "")
        self.s.sendall((f"GET {path} HTTP/1.1\r\nHost: {u.netloc}\r\nUpgrade: websocket\r\n"
                        f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
                        "Sec-WebSocket-Version: 13\r\n\r\n").encode())
        self.buf = b""
        while b"\r\n\r\n" not in self.buf:
            d = self.s.recv(65536)
            if not d:
                raise ConnectionError("closed during websocket handshake")
            self.buf += d
        head, self.buf = self.buf.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0] + b" ":
            raise ConnectionError(head.decode(errors="replace"))

    def _need(self, n):
        while len(self.buf) < n:
            d = self.s.recv(262144)
            if not d:
                raise ConnectionError("websocket closed")
            self.buf += d

    def _take(self, n):
        self._need(n)
        r, self.buf = self.buf[:n], self.buf[n:]
        return r

    def _frame(self, op, payload):
        mask = os.urandom(4)
        n = len(payload)
        if n < 126:
            h = struct.pack("!BB", 0x80 | op, 0x80 | n)
        elif n < 65536:
            h = struct.pack("!BBH", 0x80 | op, 0x80 | 126, n)
        else:
            h = struct.pack("!BBQ", 0x80 | op, 0x80 | 127, n)
        m = (mask * (n // 4 + 1))[:n]
        body = (int.from_bytes(payload, "big") ^ int.from_bytes(m, "big")).to_bytes(n, "big") if n else b""
        self.s.sendall(h + mask + body)

    def send(self, obj):
        self._frame(1, (obj if isinstance(obj, str) else json.dumps(obj)).encode())

    def recv(self, timeout=None):
        """Next message (parsed JSON), or None when `timeout` seconds pass without one."""
        if timeout is not None:
            self.s.settimeout(max(timeout, 0.01))
        try:
            parts = []
            while True:
                # peek the whole frame before consuming, so that a timeout loses nothing
                self._need(2)
                b0, b1 = self.buf[0], self.buf[1]
                n, off = b1 & 0x7F, 2
                if n == 126:
                    self._need(4)
                    n, off = struct.unpack("!H", self.buf[2:4])[0], 4
                elif n == 127:
                    self._need(10)
                    n, off = struct.unpack("!Q", self.buf[2:10])[0], 10
                if b1 & 0x80:
                    off += 4
                self._need(off + n)
                self._take(off)
                data = self._take(n)
                op = b0 & 0x0F
                if op == 9:
                    self._frame(10, data)
                    continue
                if op == 8:
                    raise ConnectionError("websocket closed by peer")
                if op in (0, 1, 2):
                    parts.append(data)
                    if b0 & 0x80:
                        return json.loads(b"".join(parts))
        except (socket.timeout, TimeoutError):
            if timeout is None:
                raise
            return None
        finally:
            if timeout is not None:
                try:
                    self.s.settimeout(30)
                except OSError:
                    pass

    def close(self):
        try:
            self._frame(8, b"")
            self.s.close()
        except OSError:
            pass


def http(method, url, token=None, body=None, form=None, timeout=30):
    """(status, parsed JSON or text).  HTTP error statuses are returned, not raised."""
    headers = {}
    data = None
    if token:
        headers["Authorization"] = "Bearer " + token
    if form is not None:
        data = urllib.parse.urlencode(form).encode()
    elif body is not None:
        data = json.dumps(body).encode()
        headers["Content-Type"] = "application/json"
    req = urllib.request.Request(url, data=data, headers=headers, method=method)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(req, timeout=timeout) as r:
            status, raw, ct = r.status, r.read(), r.headers.get("Content-Type", "")
    except urllib.error.HTTPError as e:
        status, raw, ct = e.code, e.read(), e.headers.get("Content-Type", "")
    text = raw.decode("utf-8", "replace")
    if "json" in ct:
        try:
            return status, json.loads(text)
        except ValueError:
            pass
    return status, text


def wait_until(fn, timeout, what, step=0.25):
    end = time.time() + timeout
    last = None
    while time.time() < end:
        try:
            r = fn()
            if r:
                return r
        except (OSError, ConnectionError, ValueError) as e:
            last = e
        time.sleep(step)
    raise SystemExit(f"timed out after {timeout}s waiting for {what}" + (f" ({last})" if last else ""))
