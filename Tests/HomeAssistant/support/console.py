"""The demo's console: one line in, one line out."""
from __future__ import annotations

import json
import threading
from typing import Any

from .children import Child
from .waiting import wait_until


class Console:
    """Steers a running demo house and tells the truth of it."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._answered = 0
        self._lock = threading.Lock()

    def _answers(self) -> list[str]:
        lines = self._child.output().splitlines()
        # An unfinished line is no answer yet.
        if lines and not self._child.output().endswith("\n"):
            lines.pop()
        return [line for line in lines if line.startswith(("= ", "! ")) or line in ("=", "!")]

    def __call__(self, command: str, timeout: float = 30) -> str:
        """Sends one command and returns its answer; a refusal is an error of the test."""
        with self._lock:
            self._child.write(command)
            place = self._answered

            def answer() -> str | None:
                assert self._child.is_running, f"the demo ended: {self._child.output()[-2000:]}"
                answers = self._answers()
                return answers[place] if len(answers) > place else None

            line = wait_until(f"an answer to '{command}'", answer, timeout, 0.02)
            self._answered += 1
        assert line.startswith("="), f"'{command}': {line}"
        return line[2:]

    def state(self) -> dict[str, Any]:
        """The whole truth of house and box."""
        found: dict[str, Any] = json.loads(self("state"))
        return found

    def car(self, loadpoint: str = "garage") -> dict[str, Any]:
        """The truth of one charging point."""
        return next(car for car in self.state()["cars"] if car["id"] == loadpoint)
