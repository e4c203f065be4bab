"""What is steered through the demo's console: the house alone, or the whole demo."""
from __future__ import annotations

from pathlib import Path
from typing import Any

from .broker import Broker
from .children import Child, work_folder
from .console import Console


class Steered:
    """One `ftw-mqtt demo` at a broker, with its folder, its process and its console."""

    def __init__(self, broker: Broker, what: str, folder: Path | None) -> None:
        self.broker = broker
        self.folder = folder or work_folder(what)
        self._what = what
        self._child: Child | None = None
        self._console: Console | None = None

    def _run(self, arguments: list[str], environment: dict[str, str] | None = None) -> None:
        self._child = Child(arguments, self.folder / f"{self._what}.log", environment, keeps_input=True)
        self._console = Console(self._child)

    @property
    def _steering(self) -> Console:
        assert self._console is not None, f"the {self._what} is not running"
        return self._console

    def __call__(self, command: str) -> str:
        """One line to the console, such as `car plug`; its answer without the mark."""
        return self._steering(command)

    def state(self) -> dict[str, Any]:
        """The truth: what house and box hold, whatever anybody shows."""
        return self._steering.state()

    def car(self, loadpoint: str = "garage") -> dict[str, Any]:
        """The truth of one charging point."""
        return self._steering.car(loadpoint)

    def output(self) -> str:
        return self._child.output() if self._child else ""

    def stop(self) -> None:
        """Ends it in order; a bridge in it says `offline` and marks its values as not live."""
        if self._child:
            self._child.stop()
            self._child = None

    def kill(self) -> None:
        """The power fails."""
        if self._child:
            self._child.kill()
            self._child = None
