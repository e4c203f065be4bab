"""A wire that is listened to: passes on what two ends say, and notes when each piece went by."""
from __future__ import annotations

import selectors
import socket
import threading
import time
from dataclasses import dataclass, field

from .children import free_port


@dataclass(frozen=True)
class Piece:
    """Bytes that went by in one go."""

    at: float
    """Monotonic seconds: before they were handed to the program, or after they came from it."""
    from_program: bool
    count: int


@dataclass(frozen=True)
class Packet:
    """One MQTT packet (MQTT 5.0 §2.1); `at` is when its last byte went by."""

    at: float
    from_program: bool
    kind: int
    topic: str


CONNACK, PUBLISH = 2, 3


@dataclass
class _Packets:
    """Cuts one direction of one connection into packets."""

    rest: bytearray = field(default_factory=bytearray)

    def take(self, data: bytes) -> list[tuple[int, str]]:
        self.rest += data
        found: list[tuple[int, str]] = []
        while (whole := self._next()) is not None:
            found.append(whole)
        return found

    def _next(self) -> tuple[int, str] | None:
        length, shift, place = 0, 0, 1
        while True:
            if place >= len(self.rest) or place > 4:
                return None
            byte = self.rest[place]
            length |= (byte & 0x7F) << shift
            shift, place = shift + 7, place + 1
            if byte < 0x80:
                break
        if len(self.rest) < place + length:
            return None
        kind, body = self.rest[0] >> 4, bytes(self.rest[place:place + length])
        del self.rest[:place + length]
        if kind != PUBLISH:
            return kind, ""
        size = int.from_bytes(body[:2], "big")
        return kind, body[2:2 + size].decode("utf-8", "replace")


class Tap:
    """Listens on a free loopback port and passes every connection on to another."""

    def __init__(self, port: int, reads_mqtt: bool = False) -> None:
        self.port, self._to, self._reads_mqtt = free_port(), port, reads_mqtt
        self._lock = threading.Lock()
        self._pieces: list[Piece] = []
        self._packets: list[Packet] = []
        self._selector = selectors.DefaultSelector()
        self._server = socket.create_server(("127.0.0.1", self.port))
        self._selector.register(self._server, selectors.EVENT_READ)
        self._other: dict[socket.socket, socket.socket] = {}
        self._cutters: dict[socket.socket, _Packets] = {}
        self._program_ends: set[socket.socket] = set()
        self._ends = False
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def pieces(self) -> list[Piece]:
        with self._lock:
            return list(self._pieces)

    @property
    def packets(self) -> list[Packet]:
        with self._lock:
            return list(self._packets)

    def close(self) -> None:
        self._ends = True
        self._thread.join(5)

    def _serve(self) -> None:
        while not self._ends:
            for key, _ in self._selector.select(0.2):
                end = key.fileobj
                assert isinstance(end, socket.socket)
                if end is self._server:
                    self._accept()
                elif end in self._other:
                    self._pass(end)
        for end in [self._server, *self._other]:
            end.close()

    def _accept(self) -> None:
        program, _ = self._server.accept()
        try:
            world = socket.create_connection(("127.0.0.1", self._to))
        except OSError:
            program.close()
            return
        self._other.update({program: world, world: program})
        self._program_ends.add(program)
        for end in (program, world):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._cutters[end] = _Packets()
            self._selector.register(end, selectors.EVENT_READ)

    def _pass(self, end: socket.socket) -> None:
        other = self._other[end]
        from_program = end in self._program_ends
        try:
            data = end.recv(1 << 16)
            at = time.monotonic()
            if data:
                other.sendall(data)
        except OSError:
            data = b""
        if not data:
            self._drop(end, other)
            return
        with self._lock:
            self._pieces.append(Piece(at, from_program, len(data)))
            if self._reads_mqtt:
                for kind, topic in self._cutters[end].take(data):
                    self._packets.append(Packet(at, from_program, kind, topic))

    def _drop(self, *ends: socket.socket) -> None:
        for end in ends:
            self._selector.unregister(end)
            end.close()
            self._other.pop(end, None)
            self._cutters.pop(end, None)
            self._program_ends.discard(end)
