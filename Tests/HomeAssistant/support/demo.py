"""House, box, relay and bridge in one process, on the house's own clock."""
from __future__ import annotations

from pathlib import Path

from .broker import Broker
from .children import program
from .steered import Steered


class Demo(Steered):
    """`ftw-mqtt demo` at a broker: for what needs another date, or no bridge that can be restarted."""

    def __init__(self, broker: Broker, start: str | None = None, speed: float | None = None,
                 language: str = "en", variables: dict[str, str] | None = None, console: bool = True,
                 options: list[str] | None = None, folder: Path | None = None) -> None:
        super().__init__(broker, "demo", folder)
        self._arguments = [program(), "demo", "--plain", "--language", language,
                           "--broker", f"{broker.host}:{broker.port}", *(options or [])]
        if console:
            self._arguments += ["--console", "--no-print"]
        if start:
            self._arguments += ["--start", start]
        if speed:
            self._arguments += ["--speed", f"{speed:g}"]
        self._environment = variables

    def start(self) -> Demo:
        """Starts it; when it returns, the site's bridge has said `online` and its box is live."""
        with self.broker.mqtt.watch("ftw/home/box/availability") as watcher:
            self._run(self._arguments, self._environment)
            watcher.wait("the demo's box to be live", lambda m: m.payload == "online", 60)
        return self
