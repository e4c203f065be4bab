"""House, box, relay and bridge in one process, on the house's own clock."""
from __future__ import annotations

from pathlib import Path
from typing import Any

from .broker import Broker
from .children import Child, program, work_folder
from .console import Console


class Demo:
    """`ftw-mqtt demo` at a broker: for what needs another date, or no bridge that can be restarted."""

    def __init__(self, broker: Broker, start: str | None = None, speed: float | None = None,
                 language: str = "en", variables: dict[str, str] | None = None, console: bool = True,
                 options: list[str] | None = None, folder: Path | None = None) -> None:
        self.broker = broker
        self.folder = folder or work_folder("demo")
        self._arguments = [program(), "demo", "--plain", "--language", language,
                           "--broker", f"{broker.host}:{broker.port}", *(options or [])]
        if console:
            self._arguments += ["--console", "--no-print"]
        if start:
            self._arguments += ["--start", start]
        if speed:
            self._arguments += ["--speed", f"{speed:g}"]
        self._environment = variables
        self._child: Child | None = None
        self._console: Console | None = None

    def start(self) -> Demo:
        """Starts it; when it returns, the site's bridge has said `online` and its box is live."""
        with self.broker.mqtt.watch("ftw/home/box/availability") as watcher:
            self._child = Child(self._arguments, self.folder / "demo.log", self._environment,
                                keeps_input=True)
            self._console = Console(self._child)
            watcher.wait("the demo's box to be live", lambda m: m.payload == "online", 60)
        return self

    def __call__(self, command: str) -> str:
        assert self._console is not None, "the demo is not running"
        return self._console(command)

    def state(self) -> dict[str, Any]:
        assert self._console is not None, "the demo is not running"
        return self._console.state()

    def car(self, loadpoint: str = "garage") -> dict[str, Any]:
        assert self._console is not None, "the demo is not running"
        return self._console.car(loadpoint)

    def output(self) -> str:
        return self._child.output() if self._child else ""

    def stop(self) -> None:
        """Ends it in order: the bridge says `offline` and marks its values as not live."""
        if self._child:
            self._child.stop()
            self._child = None

    def kill(self) -> None:
        if self._child:
            self._child.kill()
            self._child = None
