"""Processes of a test, and where they leave what they said."""
from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import weakref
from pathlib import Path

TREE = Path(__file__).resolve().parents[3]
"""Top of the source tree."""


def program() -> str:
    """The bridge under test."""
    return os.environ.get("FTW_MQTT_PROGRAM") or str(TREE / ".build/debug/ftw-mqtt")


def free_port() -> int:
    """A loopback port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def work_folder(name: str) -> Path:
    """A new folder for one run of something; FTW_TEST_OUTPUT says below what."""
    top = os.environ.get("FTW_TEST_OUTPUT")
    if top:
        Path(top).mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=top))


def environment(more: dict[str, str] | None = None) -> dict[str, str]:
    """Ours without what would configure the bridge: a test says that itself."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FTW_MQTT_")}
    return {**kept, "SWIFT_BACKTRACE": "enable=no", **(more or {})}


_started: weakref.WeakSet[Child] = weakref.WeakSet()


def end_all() -> None:
    """Kills what still runs when everything else was ended: a test that was broken off ends nothing."""
    for child in list(_started):
        child.kill()


class Child:
    """One process, its output in a file."""

    def __init__(self, arguments: list[str], log: Path, more: dict[str, str] | None = None,
                 keeps_input: bool = False) -> None:
        self.arguments = arguments
        self.log = log
        self._started_at = log.stat().st_size if log.exists() else 0
        with open(log, "ab") as out:
            self._process = subprocess.Popen(
                arguments, stdin=subprocess.PIPE if keeps_input else subprocess.DEVNULL, stdout=out,
                stderr=subprocess.STDOUT, start_new_session=True,
                env=environment(more))
        _started.add(self)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def code(self) -> int | None:
        """How it ended; None while it runs."""
        return self._process.poll()

    @property
    def is_running(self) -> bool:
        return self.code is None

    def output(self) -> str:
        """What this run of it said so far."""
        with open(self.log, "rb") as file:
            file.seek(self._started_at)
            return file.read().decode("utf-8", "replace")

    def write(self, line: str) -> None:
        """A line to its standard input."""
        assert self._process.stdin is not None, "started without an input"
        self._process.stdin.write((line + "\n").encode())
        self._process.stdin.flush()

    def signal(self, number: int) -> None:
        if self.is_running:
            self._process.send_signal(number)

    def kill(self) -> None:
        """As a power cut would: no goodbye."""
        self.signal(signal.SIGKILL)
        self._ended(10)

    def stop(self, timeout: float = 20) -> int:
        """Asks it to end; a process that does not is killed, and that is an error."""
        self.signal(signal.SIGTERM)
        try:
            return self._ended(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.arguments[0]} did not end within {timeout:g} s") from None

    def _ended(self, timeout: float) -> int:
        code = self._process.wait(timeout)
        if self._process.stdin:
            self._process.stdin.close()
        return code
