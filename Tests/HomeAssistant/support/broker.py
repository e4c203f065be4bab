"""A mosquitto of a test's own."""
from __future__ import annotations

import shutil
import socket
from pathlib import Path

from .children import Child, free_port, work_folder
from .counts import counts
from .mqtt import MQTT
from .waiting import wait_until


class Broker:
    """One broker on a free loopback port, which it keeps over restarts.

    Without persistence a restart loses every retained message, as it does on many a Raspberry Pi:
    whoever published them has to do so again.
    """

    def __init__(self, persistence: bool = False, extra: str = "", folder: Path | None = None) -> None:
        self.port = free_port()
        self.host = "127.0.0.1"
        self.folder = folder or work_folder("broker")
        self._configuration = self.folder / "mosquitto.conf"
        stored = str(persistence).lower()
        self._configuration.write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\nuser root\n"
            f"persistence {stored}\npersistence_location {self.folder}/\n"
            # HA sends its subscriptions and answers in bursts; none may be dropped.
            "max_queued_messages 0\nmax_inflight_messages 0\n"
            f"log_type error\nlog_type warning\nlog_type notice\n{extra}\n")
        self._child: Child | None = None
        self._mqtt: MQTT | None = None

    def configure(self, line: str) -> None:
        """Adds a line to its configuration; it holds from the next start."""
        with self._configuration.open("a") as file:
            file.write(line + "\n")

    def start(self) -> Broker:
        """Starts it and waits until it takes connections."""
        binary = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
        self._child = Child([binary, "-c", str(self._configuration)], self.folder / "mosquitto.log")
        wait_until("the broker to listen", self._listens, 20, 0.02)
        return self

    def _listens(self) -> bool:
        assert self._child is not None and self._child.is_running, (
            f"mosquitto ended: {(self.folder / 'mosquitto.log').read_text()}")
        with socket.socket() as probe:
            probe.settimeout(1)
            return probe.connect_ex((self.host, self.port)) == 0

    def stop(self) -> None:
        """Ends it in order."""
        self._close_client()
        if self._child:
            self._child.stop()
            self._child = None

    def kill(self) -> None:
        """Ends it without a word: no will is sent, no connection is closed in order."""
        self._close_client()
        if self._child:
            self._child.kill()
            self._child = None

    def restart(self, abruptly: bool = False) -> None:
        counts["restarts"] += 1
        self.kill() if abruptly else self.stop()
        self.start()

    @property
    def mqtt(self) -> MQTT:
        """A connection of the test's own."""
        if self._mqtt is None:
            self._mqtt = MQTT(self.port, self.host)
        return self._mqtt

    def _close_client(self) -> None:
        if self._mqtt:
            self._mqtt.close()
            self._mqtt = None
