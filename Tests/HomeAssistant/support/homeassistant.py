"""A real Home Assistant of a test's own."""
from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probe import HA

from .broker import Broker
from .children import TREE, free_port, work_folder
from .counts import counts
from .mirror import Change, Mirror, State
from .waiting import wait_until

RIG = TREE / "Tests/HomeAssistant/rig"
LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]
LINE = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+)\S* (\w+) \((.*?)\) \[(.*?)\] (.*)$")
ABOUT_US = r"mqtt|helpers\.template|ftw"
"""What of the log may be about us."""

BROKER_AWAY = (
    r"mqtt\.(client|util)\] (Disconnected from MQTT server|Failed to connect to MQTT server"
    r"|Error returned from MQTT server: The connection was lost"
    r"|No ACK from MQTT server|Error talking to MQTT: The client is not currently connected)"
    r"|paho\.mqtt\.client\] failed to receive on socket: "
    r"|homeassistant\] Error doing job: (?s:.*)The client is not currently connected")
"""What Home Assistant says when its broker is gone: true, and not about us."""


def installed() -> Path:
    """Where Home Assistant was installed."""
    root = Path(os.environ.get("HOME_ASSISTANT_ROOT") or TREE / ".build/home-assistant")
    assert (root / "enter").exists(), f"no Home Assistant in {root}; run {RIG}/install.sh"
    return root


class ServiceRefused(AssertionError):
    """Home Assistant did not carry out a service call, and why."""


@dataclass(frozen=True)
class LogLine:
    """One line of Home Assistant's log, with what was printed below it."""

    level: str
    logger: str
    text: str

    def __str__(self) -> str:
        return f"{self.level} [{self.logger}] {self.text}"


class HomeAssistant:
    """One instance with its own folder and port, at one broker.

    - `files`: further files of its configuration folder, such as
      `{"custom_sentences/en/ftw.yaml": text}`, there before the first start.
    - `packages`: YAML by name, read as `packages/<name>.yaml`.
    """

    def __init__(self, broker: Broker, zone: str = "UTC", language: str = "en", country: str = "SE",
                 currency: str = "SEK", files: dict[str, str] | None = None,
                 packages: dict[str, str] | None = None, log_level: str = "warning",
                 folder: Path | None = None) -> None:
        self.broker = broker
        self.folder = folder or work_folder("home-assistant")
        self.port = free_port()
        self.config = self.folder / "config"
        self._environment = {
            "HA_PORT": str(self.port), "MQTT_HOST": broker.host, "MQTT_PORT": str(broker.port),
            "MQTT_EXTERNAL": "1", "HA_TZ": zone, "HA_LANGUAGE": language, "HA_COUNTRY": country,
            "HA_CURRENCY": currency, "HA_LOG": log_level}
        for path, text in (files or {}).items():
            self.write(path, text)
        for name, text in (packages or {}).items():
            self.write(f"packages/{name}.yaml", text)
        self._ha: HA | None = None
        self._mirror: Mirror | None = None
        self._lock = threading.RLock()

    def write(self, path: str, text: str) -> None:
        """A file of the configuration folder."""
        target = self.config / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    # -- life

    def start(self) -> HomeAssistant:
        """Starts it; when it returns, it is onboarded, running, and its MQTT integration is loaded."""
        counts["home assistants"] += 1
        done = subprocess.run(
            ["bash", str(RIG / "run.sh"), str(installed()), str(self.folder), "ha"],
            env={**os.environ, **self._environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=False, timeout=300)
        assert done.returncode == 0, f"Home Assistant did not start:\n{done.stdout.decode()}"
        self._ha = HA(str(self.folder))
        if self._mirror is None:
            self._mirror = Mirror(self._ha.url, self._ha.token)
        return self

    def stop(self) -> None:
        """Ends it for good."""
        if self._mirror:
            self._mirror.close()
            self._mirror = None
        self.down()

    def down(self) -> None:
        """Ends the process; `start` brings it back with all it knows."""
        self._ha = None
        subprocess.run(["bash", str(RIG / "stop.sh"), str(installed()), str(self.folder), "ha"],
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False, timeout=120)

    def restart(self) -> None:
        counts["restarts"] += 1
        self.down()
        self.start()

    @property
    def is_healthy(self) -> bool:
        """Whether it answers and is connected to its broker's integration."""
        try:
            return bool(self._ha) and (self.ha.mqtt_entry() or {}).get("state") == "loaded"
        except (OSError, SystemExit):
            return False

    # -- asking

    @property
    def ha(self) -> HA:
        assert self._ha is not None, "Home Assistant is not running"
        return self._ha

    @property
    def token(self) -> str:
        return str(self.ha.token)

    @property
    def url(self) -> str:
        return str(self.ha.url)

    def command(self, kind: str, **parameters: Any) -> Any:
        """Any command of the websocket API; its result, or an error of the test."""
        with self._lock:
            try:
                answer = self.ha.cmd(kind, allow_error=True, **parameters)
            except OSError:
                # The connection did not outlive a restart; what asks nothing twice is asked again.
                if kind == "call_service":
                    raise
                self._ha = HA(str(self.folder))
                answer = self.ha.cmd(kind, allow_error=True, **parameters)
        if isinstance(answer, dict) and answer.get("success") is False and "error" in answer:
            raise ServiceRefused(f"{kind}: {answer['error'].get('message')}")
        return answer

    def rest(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Any request of the REST API: status and answer."""
        status, answer = self.ha.rest(method, path, body)
        return status, answer

    def states(self, prefix: str = "") -> dict[str, State]:
        """Every state by entity id, as last heard."""
        assert self._mirror is not None
        return {e: s for e, s in self._mirror.states().items() if e.startswith(prefix)}

    def fresh_states(self) -> dict[str, State]:
        """Every state by entity id, asked for now."""
        return {s["entity_id"]: s for s in self.command("get_states")}

    def state(self, entity_id: str) -> str | None:
        """The state's word; None for an entity that has none."""
        found = self.states().get(entity_id)
        return found["state"] if found else None

    def attributes(self, entity_id: str) -> dict[str, Any]:
        found = self.states().get(entity_id)
        return found["attributes"] if found else {}

    def wait_for(self, entity_id: str, fits: str | Callable[[State], Any] | Iterable[str],
                 timeout: float = 30) -> State:
        """Waits until an entity's state is that word, one of these, or fits, and returns the state."""
        assert self._mirror is not None

        def find(states: dict[str, State]) -> State | None:
            state = states.get(entity_id)
            if state is None:
                return None
            if callable(fits):
                return state if fits(state) else None
            return state if state["state"] in ([fits] if isinstance(fits, str) else fits) else None

        found = self._mirror.wait(find, timeout)
        counts["states"] += 1
        if found is None:
            there = self.states().get(entity_id)
            wanted = "" if callable(fits) else f" to be {fits!r}"
            raise AssertionError(
                f"waited {timeout:g} s for {entity_id}{wanted}; it is "
                + (f"{there['state']!r} {there['attributes']}" if there else "not there"))
        return dict(found)

    def wait_states(self, what: str, fits: Callable[[dict[str, State]], Any], timeout: float = 30,
                    told: Callable[[dict[str, State]], object] | None = None) -> Any:
        """Waits until something is true of all states at once, and returns that."""
        assert self._mirror is not None
        found = self._mirror.wait(fits, timeout)
        if not found:
            raise AssertionError(f"waited {timeout:g} s for {what}"
                                 + (f"; there is: {told(self.states())}" if told else ""))
        return found

    def wait_gone(self, entity_id: str, timeout: float = 30) -> None:
        """Waits until there is no such entity."""
        self.wait_states(f"{entity_id} to go", lambda states: entity_id not in states, timeout)

    def history(self, entity_id: str | None = None, since: int = 0) -> list[Change]:
        """Every change that was heard, in order; `since` is an earlier length of the whole list."""
        assert self._mirror is not None
        return [c for c in self._mirror.history()[since:] if entity_id in (None, c.entity_id)]

    @property
    def moment(self) -> int:
        """How many changes were heard so far; for `history(since=…)`."""
        return len(self._mirror.history()) if self._mirror else 0

    def template(self, text: str) -> str:
        """A template of Home Assistant, rendered."""
        status, answer = self.rest("POST", "/api/template", {"template": text})
        assert status == 200, f"template: {status} {answer}"
        return str(answer)

    # -- acting

    def call(self, service: str, entity_id: str | list[str] | None = None, response: bool = False,
             **data: Any) -> Any:
        """Calls a service, such as `switch.turn_on`; a refusal raises `ServiceRefused`."""
        counts["commands"] += 1
        domain, name = service.split(".", 1)
        more: dict[str, Any] = {"target": {"entity_id": entity_id}} if entity_id else {}
        if response:
            more["return_response"] = True
        return self.command("call_service", domain=domain, service=name, service_data=data, **more)

    def say(self, sentence: str, language: str = "en") -> dict[str, Any]:
        """A sentence to Assist: `kind` (action_done, query_answer, error), `speech`, `whole` answer."""
        counts["sentences"] += 1
        status, answer = self.rest("POST", "/api/conversation/process", {
            "text": sentence, "language": language, "agent_id": "conversation.home_assistant"})
        assert status == 200, f"'{sentence}': {status} {answer}"
        reply = answer["response"]
        return {"kind": reply["response_type"], "speech": reply["speech"]["plain"]["speech"], "whole": answer}

    def set_core(self, **settings: Any) -> None:
        """Core settings while it runs, such as `time_zone="Europe/London"`, `language="sv"`."""
        self.command("config/core/update", **settings)

    def reload(self, domain: str) -> None:
        """Reads one domain's YAML again, such as `automation`, `script`, `conversation`."""
        self.call(f"{domain}.reload")

    def automation(self, name: str, configuration: dict[str, Any]) -> str:
        """Writes an automation as the editor does; returns its entity id once it is loaded and on."""
        status, answer = self.rest("POST", f"/api/config/automation/config/{name}", configuration)
        assert status == 200, f"automation {name}: {status} {answer}"

        def find(states: dict[str, State]) -> State | None:
            return next((s for e, s in states.items() if e.startswith("automation.")
                         and s["attributes"].get("id") == name and s["state"] == "on"), None)

        return str(self.wait_states(f"automation {name} to be on", find)["entity_id"])

    def remove_automation(self, name: str) -> None:
        self.rest("DELETE", f"/api/config/automation/config/{name}")

    def blueprint(self, path: str, text: str, domain: str = "automation") -> None:
        """Saves a blueprint as the import dialog does, such as `ftw/charge_when_cheap.yaml`."""
        self.command("blueprint/save", domain=domain, path=path, yaml=text, allow_override=True)

    # -- registry

    def registry(self) -> dict[str, dict[str, Any]]:
        """MQTT's entities by unique id."""
        return {e["unique_id"]: e for e in self.command("config/entity_registry/list")
                if e["platform"] == "mqtt"}

    def entity_id(self, unique_id: str) -> str | None:
        found = self.registry().get(unique_id)
        return str(found["entity_id"]) if found else None

    def devices(self) -> list[dict[str, Any]]:
        """MQTT's devices."""
        return [view["device"] for view in self.ha.mqtt_view()["devices"]]

    # -- log

    def mark(self) -> int:
        """A place in the log; give it to `log` later."""
        path = self.folder / "ha.out"
        return path.stat().st_size if path.exists() else 0

    def log(self, mark: int = 0, level: str = "WARNING", about: str = ABOUT_US) -> list[LogLine]:
        """Lines since the mark that are about us, also of runs that ended meanwhile."""
        path = self.folder / "ha.out"
        if not path.exists():
            return []
        with open(path, "rb") as file:
            file.seek(mark)
            text = file.read().decode("utf-8", "replace")
        lines: list[LogLine] = []
        for row in text.splitlines():
            match = LINE.match(row)
            if match:
                lines.append(LogLine(match[2], match[4], match[5]))
            elif lines:
                last = lines[-1]
                lines[-1] = LogLine(last.level, last.logger, last.text + "\n" + row)
        counts["log lines"] += len(lines)
        wanted = re.compile(about, re.IGNORECASE)
        return [line for line in lines
                if line.level in LEVELS and LEVELS.index(line.level) >= LEVELS.index(level)
                and wanted.search(f"{line.logger} {line.text}")]

    def wait_empty(self, timeout: float = 30) -> None:
        """Waits until no entity of MQTT is left."""
        wait_until("every MQTT entity to go", lambda: not self.registry(), timeout, 0.2,
                   told=lambda: list(self.registry())[:5])
