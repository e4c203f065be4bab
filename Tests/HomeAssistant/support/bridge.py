"""The bridge as people run it: a configuration file, a state folder, `pair`, `run`."""
from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

from .broker import Broker
from .children import Child, environment, program, work_folder
from .counts import counts
from .house import House


class BridgeFailed(AssertionError):
    """A verb of the program ended as it should not have."""


class Bridge:
    """One installation of the bridge, for one or several houses."""

    def __init__(self, broker: Broker, sites: dict[str, House | None] | None = None, base: str = "ftw",
                 language: str = "en", settings: dict[str, Any] | None = None,
                 variables: dict[str, str] | None = None, folder: Path | None = None,
                 names: dict[str, str] | None = None) -> None:
        """`settings` are further sections of the configuration, `names` what the sites are called.

        `variables` are added to the environment of the program.
        """
        self.broker, self.sites = broker, sites or {"home": None}
        self.base, self.language = base, language
        self.settings = settings or {}
        self.names = names or {}
        self.folder = folder or work_folder("bridge")
        self._environment = variables
        self._child: Child | None = None
        self._runs = 0
        self.write()

    # -- configuration

    @property
    def configuration(self) -> Path:
        return self.folder / "config.yaml"

    def write(self) -> None:
        """Writes the configuration as it should be now; JSON is YAML too."""
        mqtt = {"host": self.broker.host, "port": self.broker.port, "base_topic": self.base}
        whole = {
            "language": self.language, "state_dir": str(self.folder / "state"),
            **{key: value for key, value in self.settings.items() if key != "mqtt"},
            "mqtt": {**mqtt, **self.settings.get("mqtt", {})},
            "sites": [{"id": site, "name": self.names.get(site, site.capitalize()),
                       **self.settings.get("site", {})} for site in self.sites]}
        whole.pop("site", None)
        self.configuration.write_text(json.dumps(whole, indent=2, ensure_ascii=False) + "\n")

    def root(self, site: str = "home") -> str:
        """First levels of a site's topics."""
        return f"{self.base}/{site}"

    # -- verbs

    def verb(self, *arguments: str, text: str = "", code: int | None = 0, timeout: float = 90) -> str:
        """Runs one verb to its end and returns what it said."""
        done = subprocess.run(
            [program(), *arguments, "--config", str(self.configuration)], input=text.encode(),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout, check=False,
            env=environment(self._environment))
        said = done.stdout.decode("utf-8", "replace")
        if code is not None and done.returncode != code:
            raise BridgeFailed(f"ftw-mqtt {' '.join(arguments)}: exit {done.returncode}, not {code}:\n{said}")
        return said

    def pair(self, site: str = "home", house: House | None = None, role: str = "owner",
             replace: bool = False) -> str:
        """Pairs a site with its house, by a new link of that house."""
        house = house or self.sites[site]
        assert house is not None, f"no house to pair {site} with"
        self.sites[site] = house
        more = ["--replace"] if replace else []
        return self.verb("pair", "-", "--site", site, "--relay", house.relay_url, *more,
                         text=house.link(role) + "\n")

    def pair_all(self) -> Bridge:
        for site in self.sites:
            self.pair(site)
        return self

    def unpair(self, site: str = "home") -> str:
        return self.verb("unpair", site, "--yes")

    # -- the daemon

    def start(self, wait: bool = True) -> Bridge:
        """Starts the daemon; with `wait` it returns once every paired site is live."""
        self._child = Child([program(), "run", "--config", str(self.configuration), "--plain"],
                            self.folder / "bridge.log", self._environment)
        if wait:
            self.wait_live()
        return self

    def wait_live(self, timeout: float = 60) -> None:
        """Waits until every site's box is live by the retained topics, and its bridge online."""
        for site in self.sites:
            for topic in ("bridge/availability", "box/availability"):
                self.broker.mqtt.wait_text(f"{self.root(site)}/{topic}", "online", timeout)

    @property
    def is_running(self) -> bool:
        return self._child is not None and self._child.is_running

    @property
    def pid(self) -> int:
        """The running daemon's."""
        assert self._child is not None, "the bridge is not running"
        return self._child.pid

    def output(self) -> str:
        """What this run of the daemon logged."""
        return self._child.output() if self._child else ""

    def stop(self) -> int:
        """Ends it in order."""
        code = self._child.stop() if self._child else 0
        self._child = None
        return code

    def kill(self) -> None:
        """As a power cut would."""
        if self._child:
            self._child.kill()
            self._child = None

    def restart(self, abruptly: bool = False, wait: bool = True) -> None:
        counts["restarts"] += 1
        self.kill() if abruptly else self.stop()
        self.start(wait)

    def signal(self, number: int) -> None:
        """A signal to the running daemon."""
        assert self._child is not None
        self._child.signal(number)

    def reload(self) -> None:
        """After `write`: reads the configuration again."""
        self.signal(signal.SIGHUP)
