"""A simulated house with its box and relay, in a process of its own, with no bridge in it."""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .broker import Broker
from .children import free_port, program
from .counts import counts
from .steered import Steered
from .waiting import wait_until


class House(Steered):
    """`ftw-mqtt demo --no-bridge --console`: what a real bridge pairs with.

    The box's identity lies in a file, so that a house that was killed and started again is the same
    house to a paired bridge.
    """

    def __init__(self, broker: Broker, folder: Path | None = None,
                 options: list[str] | None = None) -> None:
        super().__init__(broker, "house", folder)
        self.relay_port = free_port()
        self._options = options or []

    def start(self) -> House:
        """Starts it and waits until it can be asked."""
        self._run(
            [program(), "demo", "--no-bridge", "--console", "--no-print", "--plain",
             "--relay-port", str(self.relay_port), "--state", str(self.folder / "box.json"),
             "--broker", f"{self.broker.host}:{self.broker.port}", *self._options])
        self("where")
        return self

    def wait_car(self, what: str, fits: Callable[[dict[str, Any]], Any], loadpoint: str = "garage",
                 timeout: float = 30) -> dict[str, Any]:
        """Waits until the truth of a charging point fits."""
        def find() -> dict[str, Any] | None:
            car = self.car(loadpoint)
            return car if fits(car) else None

        return wait_until(what, find, timeout, 0.2, told=lambda: self.car(loadpoint))

    def link(self, role: str = "owner") -> str:
        """A new pairing link; the one before it is void."""
        return self(f"link {role}")

    @property
    def relay_url(self) -> str:
        return f"ws://127.0.0.1:{self.relay_port}"

    def restart(self) -> None:
        counts["restarts"] += 1
        self.kill()
        self.start()
