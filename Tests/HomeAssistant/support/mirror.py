"""Every state of a Home Assistant, kept as it changes, so that waiting costs nobody anything."""
from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any

from ws import WS

State = dict[str, Any]


@dataclass(frozen=True)
class Change:
    """One change of one entity; `new` is None when it went."""

    entity_id: str
    old: State | None
    new: State | None

    @property
    def word(self) -> str | None:
        return self.new["state"] if self.new else None


class Mirror:
    """Follows the state machine over a connection of its own, and over restarts."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url.replace("http", "ws", 1) + "/api/websocket"
        self._token = token
        self._changed = threading.Condition()
        self._states: dict[str, State] = {}
        self._history: list[Change] = []
        self._is_whole = False
        self._ends = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    # -- asking

    def states(self) -> dict[str, State]:
        with self._changed:
            return dict(self._states)

    def history(self) -> list[Change]:
        with self._changed:
            return list(self._history)

    def wait(self, fits: Any, timeout: float) -> Any:
        """Waits until `fits(states)` is true and returns that; None when the time is over."""
        end = time.monotonic() + timeout
        with self._changed:
            while True:
                if self._is_whole:
                    found = fits(self._states)
                    if found:
                        return found
                left = end - time.monotonic()
                if left <= 0:
                    return None
                self._changed.wait(min(left, 1))

    def close(self) -> None:
        self._ends = True
        self._thread.join(10)

    # -- following

    def _run(self) -> None:
        while not self._ends:
            try:
                self._follow()
            except (OSError, ConnectionError, ValueError, KeyError):
                pass
            with self._changed:
                self._is_whole = False
            if not self._ends:
                time.sleep(0.2)

    def _follow(self) -> None:
        socket = WS(self._url)
        try:
            socket.recv()
            socket.send({"type": "auth", "access_token": self._token})
            if socket.recv().get("type") != "auth_ok":
                raise ConnectionError("refused")
            socket.send({"id": 1, "type": "subscribe_events", "event_type": "state_changed"})
            socket.send({"id": 2, "type": "get_states"})
            early: list[dict[str, Any]] = []
            while not self._ends:
                message = socket.recv(timeout=0.5)
                if message is None:
                    continue
                if message.get("type") == "event":
                    if self._is_whole:
                        self._take(message["event"]["data"])
                    else:
                        early.append(message["event"]["data"])
                elif message.get("id") == 2:
                    with self._changed:
                        self._states = {s["entity_id"]: s for s in message["result"]}
                        self._is_whole = True
                        self._changed.notify_all()
                    for data in early:
                        self._take(data)
        finally:
            socket.close()

    def _take(self, data: dict[str, Any]) -> None:
        entity, new = data["entity_id"], data["new_state"]
        with self._changed:
            known = self._states.get(entity)
            if new and known and new["last_updated"] < known["last_updated"]:
                return
            self._history.append(Change(entity, data["old_state"], new))
            if new:
                self._states[entity] = new
            else:
                self._states.pop(entity, None)
            self._changed.notify_all()
