"""What every entity must be, one row each, written down beside the code and not read from it.

A row says which document of ours a state comes from and what it must then be. So a test compares
Home Assistant with what is retained on the broker, never with Home Assistant itself, nor with the
templates that the bridge announces.
"""
from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .counts import counts
from .homeassistant import HomeAssistant
from .mirror import State
from .mqtt import MQTT, Message
from .waiting import wait_until

UNKNOWN, UNAVAILABLE = "unknown", "unavailable"
SOURCES = {"meter": "grid-meter", "solar": "roof-pv", "battery": "house-battery",
           "charger": "garage-charger"}


@dataclass(frozen=True)
class Row:
    """One entity: its id without domain and stem, where its state is, and what it looks like."""

    domain: str
    key: str
    topic: str
    value: Callable[[Any], Any]
    """From the topic's document to the state; None is unknown."""
    needs: tuple[str, ...] = ()
    """Beside the bridge: `box`, a source's role, `plugged`, `commands` (whether the box takes any from
    us) and `take:<name>` (whether it takes that one)."""
    kind: str | None = None
    unit: str | None = None
    precision: int | None = None
    state_class: str | None = None
    diagnostic: bool = False
    attributes: str | None = None
    car: bool = False


def _member(name: str) -> Callable[[Any], Any]:
    return lambda d: d[name]


def _live(name: str) -> Callable[[Any], Any]:
    return lambda d: d[name] if d["live"] else None


def _flag(name: str, live: bool = False) -> Callable[[Any], Any]:
    def value(d: Any) -> Any:
        return None if d[name] is None or (live and not d["live"]) else "on" if d[name] else "off"
    return value


def _watts(name: str, sign: int = 0) -> Callable[[Any], Any]:
    """`sign` 1 or -1: only what flows that way, as a positive number."""
    def value(d: Any) -> Any:
        if d[name] is None or not d["live"]:
            return None
        return max(0, sign * d[name]) if sign else d[name]
    return value


def _kilowatt_hours(name: str) -> Callable[[Any], Any]:
    return lambda d: None if d[name] is None else d[name] / 1000


def _on(d: str) -> str | None:
    return {"ON": "on", "OFF": "off", "online": "on", "offline": "off"}.get(d)


def _site() -> Iterator[Row]:
    power = {"kind": "power", "unit": "W", "precision": 0, "state_class": "measurement"}
    everything = ("box", "meter", "solar", "battery", "charger")
    for key, member, sign, needs in [
            ("grid_power", "grid", 0, ("box", "meter")), ("grid_import_power", "grid", 1, ("box", "meter")),
            ("grid_export_power", "grid", -1, ("box", "meter")), ("house_power", "house", 0, everything),
            ("solar_power", "solar", -1, ("box", "solar")), ("car_power", "car", 0, ("box", "charger")),
            ("battery_power", "battery", 0, ("box", "battery")),
            ("battery_charge_power", "battery", 1, ("box", "battery")),
            ("battery_discharge_power", "battery", -1, ("box", "battery"))]:
        yield Row("sensor", key, "power", _watts(member, sign), needs, **power)
    yield Row("sensor", "battery_level", "battery", _live("level"), ("box", "battery"), "battery", "%", 0,
              "measurement")
    yield Row("binary_sensor", "in_control", "control", _flag("in_control"), ("box",), "running",
              attributes="control")
    yield Row("sensor", "control", "control", _member("sentence"), attributes="control")
    yield Row("sensor", "mode", "mode", _live("label"), ("box",), "enum")
    yield Row("select", "mode_choice", "mode", _live("label"), ("box", "take:mode"))
    yield from _boards()
    yield from _diagnostics()


def _boards() -> Iterator[Row]:
    for key, member in [("price", "total"), ("price_next", "next")]:
        yield Row("sensor", key, "price/now", _member(member), (), None, "SEK/kWh", 2, "measurement",
                  attributes="price/series" if key == "price" else None)
    yield Row("sensor", "price_changes", "price/now", _member("end"), (), "timestamp")
    yield Row("sensor", "price_level", "price/now", _member("level"), state_class="measurement")
    yield Row("binary_sensor", "cheap_now", "price/cheap_now", _on)
    yield Row("binary_sensor", "tomorrow_known", "price/series", _flag("tomorrow_known"))
    for hours in (2, 3, 4):
        place = f"price/cheap/{hours}h"
        yield Row("sensor", f"cheapest_{hours}h_start", place, _member("start"), (), "timestamp",
                  attributes=place)
        yield Row("sensor", f"cheapest_{hours}h_end", place, _member("end"), (), "timestamp")
    yield Row("sensor", "plan", "plan/now", _member("action"), ("box",), "enum", attributes="plan/series")
    yield Row("sensor", "plan_until", "plan/now", _member("until"), ("box",), "timestamp",
              attributes="plan/now")
    for key, member in [("grid_import_energy", "import"), ("grid_export_energy", "export"),
                        ("house_energy", "house"), ("solar_energy", "solar"),
                        ("battery_charge_energy", "battery_in"),
                        ("battery_discharge_energy", "battery_out"), ("car_energy", "car")]:
        yield Row("sensor", key, "energy", _member(member), ("box",), "energy", "kWh", 2, "total_increasing")


def _diagnostics() -> Iterator[Row]:
    yield Row("binary_sensor", "box_connected", "box/availability", _on, (), "connectivity", diagnostic=True)
    yield Row("sensor", "box_link", "box/link", _member("state"), (), "enum", diagnostic=True,
              attributes="box/link")
    yield Row("sensor", "box_link_since", "box/link", _member("since"), (), "timestamp", diagnostic=True)
    yield Row("sensor", "box_version", "bridge/info", _member("box_build"), diagnostic=True)
    yield Row("sensor", "bridge_version", "bridge/info", _member("version"), diagnostic=True)
    yield Row("sensor", "last_error", "bridge/health", lambda d: d["last_error"] and d["last_error"]["code"],
              diagnostic=True, attributes="bridge/health")
    for source in SOURCES.values():
        key = "source_" + source.replace("-", "_")
        yield Row("binary_sensor", key, f"source/{source}/availability", _on, ("box",), "connectivity",
                  diagnostic=True)
        yield Row("sensor", f"{key}_state", f"source/{source}", _member("state"), ("box",), "enum",
                  diagnostic=True, attributes=f"source/{source}")


def _car(language: str) -> Iterator[Row]:
    yield from _car_level()
    yield from _car_charging()
    yield from _car_controls(language)
    for key, member in [("level_text", "level"), ("goal_text", "goal"), ("ready_text", "readiness"),
                        ("charging_text", "charging"), ("receipt_text", "receipt")]:
        yield Row("sensor", key, f"text/{language}", _member(member))
    for spoken in ("en", "sv"):
        yield Row("sensor", f"words_{spoken}", f"text/{spoken}", _member("level"), diagnostic=True,
                  attributes=f"text/{spoken}")


def _car_level() -> Iterator[Row]:
    charger = ("box", "charger")
    yield Row("sensor", "level", "level", _live("level"), charger, "battery", "%", 0, "measurement")
    yield Row("sensor", "level_measured", "level", _member("at"), (), "timestamp")
    yield Row("binary_sensor", "level_outdated", "level", _flag("outdated"), (), "problem")
    yield Row("sensor", "level_origin", "level", _member("origin"), (), "enum", diagnostic=True,
              attributes="level")
    yield Row("sensor", "plan_level", "level", _live("plan_level"), charger, None, "%", 0, "measurement")
    yield Row("sensor", "person_level", "level", _member("person_level"), ("box",), None, "%", 0,
              "measurement")
    yield Row("binary_sensor", "needs_real_level", "level", _flag("needs_real_level", True), ("box",))


def _car_charging() -> Iterator[Row]:
    charger, box = ("box", "charger"), ("box",)
    yield Row("binary_sensor", "plugged_in", "state", _flag("plugged_in", True), charger, "plug")
    yield Row("binary_sensor", "charging", "state", _flag("charging", True), charger, "battery_charging")
    yield Row("sensor", "activity", "state", _live("activity"), charger, "enum", diagnostic=True)
    yield Row("sensor", "power", "state", _live("power"), charger, "power", "W", 0, "measurement")
    yield Row("sensor", "session_energy", "state", _live("session_kwh"), charger, "energy", "kWh", 2,
              "total_increasing")
    yield Row("sensor", "control", "control", lambda d: None if d == "unknown" else d, box, "enum",
               attributes="hold", diagnostic=True)
    yield Row("binary_sensor", "surplus_only", "state", _flag("surplus_only"), box)
    yield Row("binary_sensor", "boost", "state", _flag("boost"), box)
    yield Row("sensor", "goal", "goal", _live("level"), box, None, "%", 0)
    yield Row("sensor", "goal_deadline", "goal", _live("next_deadline"), box, "timestamp")
    yield Row("sensor", "ready", "ready", _member("state"), box, "enum", diagnostic=True,
              attributes="ready")
    yield Row("sensor", "expected_level", "ready", _member("expected"), box, None, "%", 0, "measurement")
    yield Row("sensor", "shortfall", "ready", _kilowatt_hours("shortfall_wh"), box, "energy", "kWh", 1)
    yield Row("sensor", "charging_start", "ready", _member("charging_start"), box, "timestamp")
    yield Row("sensor", "charging_end", "ready", _member("charging_end"), box, "timestamp")
    for key in ("min_power", "max_power"):
        yield Row("sensor", key, "state", _member(key), box, "power", "W", 0, diagnostic=True)


WORDS = {"en": {"plan": "Plan", "charge_now": "Charge now", "paused": "Paused"},
         "sv": {"plan": "Planen", "charge_now": "Ladda nu", "paused": "Pausad"}}


def _car_controls(language: str) -> Iterator[Row]:
    def free(command: str) -> tuple[str, ...]:
        return ("box", "commands", f"take:{command}")

    def held(command: str) -> tuple[str, ...]:
        return (*free(command), "plugged")

    def days(d: Any) -> Any:
        if not d["live"] or not d["active"]:
            return ""
        return "once" if d["once"] else " ".join(d["days"] or [])

    def rounded(name: str) -> Callable[[Any], Any]:
        return lambda d: round(d[name]) if d["live"] and d[name] is not None else None

    yield Row("switch", "switch", "control",
              lambda d: None if d == "unknown" else "on" if d == "charge_now" else "off", held("control"))
    yield Row("select", "control_choice", "control", lambda d: WORDS[language].get(d), held("control"))
    yield Row("number", "level_choice", "level", rounded("level"), held("level"), unit="%")
    yield Row("number", "goal_choice", "goal", rounded("level"), free("goal"), unit="%")
    yield Row("text", "goal_days", "goal", days, free("goal"))
    yield Row("time", "goal_time", "goal", lambda d: d["by"] and d["live"] and d["by"] + ":00" or None,
              free("goal"))
    yield Row("switch", "surplus_only_choice", "state", _flag("surplus_only"), free("surplus_only"))
    yield Row("switch", "boost_choice", "state", _flag("boost"), held("boost"))
    for key, needs in [("charge_now", held("control")), ("pause", held("control")),
                       ("level_up", held("level")), ("level_down", held("level")),
                       ("back_to_plan", free("control")), ("goal_clear", free("goal"))]:
        yield Row("button", key, "", lambda d: None, needs)
    yield Row("event", "command_result", "", lambda d: None)


@dataclass(frozen=True)
class Difference:
    """One entity that is not what the documents say."""

    entity_id: str
    expected: object
    there: object

    def __str__(self) -> str:
        return f"{self.entity_id}: {self.there!r}, not {self.expected!r}"


class Picture:
    """One site's rows, and how they compare."""

    def __init__(self, site: str = "home", base: str = "ftw", loadpoints: tuple[str, ...] = ("garage",),
                 without: tuple[str, ...] = (), lacks: tuple[str, ...] = (), language: str = "en") -> None:
        """What a site is expected to look like.

        `without` are keys of the site that this house lacks, `lacks` roles that none of its
        sources has, such as `battery`.
        """
        self.site, self.root, self.loadpoints = site, f"{base}/{site}", loadpoints
        self.lacks = lacks
        self.rows: dict[str, tuple[Row, str]] = {}
        stem = f"ftw_{site.replace('-', '_')}"
        for row in _site():
            if row.key not in without:
                self.rows[f"{row.domain}.{stem}_{row.key}"] = (row, "")
        for loadpoint in loadpoints:
            for row in _car(language):
                entity = f"{row.domain}.{stem}_car_{loadpoint.replace('-', '_')}_{row.key}"
                self.rows[entity] = (row, f"car/{loadpoint}/")

    def expected(self, entity_id: str, retained: dict[str, Message]) -> object:
        """What an entity must be by the retained documents."""
        row, prefix = self.rows[entity_id]

        def text(topic: str) -> str | None:
            message = retained.get(f"{self.root}/{topic}")
            return message.payload if message else None

        if not self._is_available(row, prefix, text):
            return UNAVAILABLE
        payload = text(prefix + row.topic) if row.topic else None
        if payload is None:
            return UNKNOWN
        value = row.value(_parsed(payload))
        return UNKNOWN if value is None else value

    def _is_available(self, row: Row, prefix: str, text: Callable[[str], str | None]) -> bool:
        if text("bridge/availability") != "online":
            return False
        for need in set(row.needs) - set(self.lacks):
            if need == "plugged":
                state = _parsed(text(f"{prefix}state") or "null")
                if not state or not state["plugged_in"] or not state["live"]:
                    return False
            elif need.startswith("take:"):
                taken = _parsed(text(f"{prefix}commands") or "null")
                if not taken or not taken[need.removeprefix("take:")]:
                    return False
            else:
                place = {"box": "box/availability", "commands": f"{prefix}commands/availability"}.get(
                    need) or f"source/{SOURCES[need]}/availability"
                if text(place) != "online":
                    return False
        return True

    def differences(self, states: dict[str, State], retained: dict[str, Message]) -> list[Difference]:
        """Every entity whose state is not what the documents say."""
        found: list[Difference] = []
        for entity_id, (row, _) in self.rows.items():
            state = states.get(entity_id)
            there = state["state"] if state else None
            expected = self.expected(entity_id, retained)
            if not row.topic and expected == UNKNOWN and there not in (None, UNAVAILABLE):
                continue  # a button or an event remembers its last time, which is nobody's state
            if not _equal(row, expected, there):
                found.append(Difference(entity_id, expected, there))
        return found

    def wait_equal(self, ha: HomeAssistant, mqtt: MQTT, timeout: float = 30) -> dict[str, Message]:
        """Waits until every entity is what the documents say, and returns those.

        Values move while they are read, so an entity counts once it was right in one look, and all
        of them must be within the time.
        """
        left: dict[str, Difference] = {}
        retained: dict[str, Message] = {}
        first = True

        def look() -> bool:
            nonlocal left, retained, first
            retained = mqtt.retained(f"{self.root}/#")
            now = {d.entity_id: d for d in self.differences(ha.fresh_states(), retained)}
            left = now if first else {e: d for e, d in now.items() if e in left}
            first = False
            return not left

        wait_until("every entity to be what its document says", look, timeout, 0.3,
                   told=lambda: [str(d) for d in left.values()])
        counts["entities compared"] += len(self.rows)
        return retained

    def unavailable(self, retained: dict[str, Message]) -> set[str]:
        """Entities that must be unavailable by the documents."""
        return {e for e in self.rows if self.expected(e, retained) == UNAVAILABLE}

    def unknown(self, retained: dict[str, Message]) -> set[str]:
        """Entities with a topic that must be unknown by the documents."""
        return {e for e, (row, _) in self.rows.items() if row.topic and self.expected(e, retained) == UNKNOWN}

    def needing(self, *needs: str) -> set[str]:
        """Entities that need one of these."""
        return {e for e, (row, _) in self.rows.items() if set(needs) & set(row.needs)}


def _parsed(payload: str) -> Any:
    try:
        return json.loads(payload)
    except ValueError:
        return payload


def _equal(row: Row, expected: object, there: str | None) -> bool:
    if there is None:
        return False
    if expected in (UNKNOWN, UNAVAILABLE):
        return there == expected
    if row.kind == "timestamp":
        try:
            return abs((datetime.datetime.fromisoformat(there)
                        - datetime.datetime.fromisoformat(str(expected))).total_seconds()) < 1
        except ValueError:
            return False
    if isinstance(expected, (int, float)):
        try:
            return abs(float(there) - float(expected)) < 1e-6
        except ValueError:
            return False
    return there == expected
