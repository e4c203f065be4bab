"""The dashboards: everything they show exists, their templates render, and the page draws."""
from __future__ import annotations

import base64
import datetime
import re
import xml.etree.ElementTree as ET
import zoneinfo
from collections.abc import Iterator
from typing import Any, ClassVar

import yaml

from support import counts
from support.shipped import SHIPPED, shipped_files
from support.shipping import CAR, LOUD, TOPIC, ShippedCase

ENTITY = re.compile(r"\b(?:sensor|binary_sensor|switch|select|number|button|time|text|event)\.ftw_[a-z0-9_]+")
SVG = "{http://www.w3.org/2000/svg}"


def strings(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for value in node.values():
            yield from strings(value)
    elif isinstance(node, list):
        for value in node:
            yield from strings(value)
    elif isinstance(node, str):
        yield node


def cards(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if "type" in node:
            yield node
        for value in node.values():
            yield from cards(value)
    elif isinstance(node, list):
        for value in node:
            yield from cards(value)


class DashboardTests(ShippedCase):
    """In a Home Assistant with the packages as shipped, and one of the Swedish dashboard."""

    cost = 40
    patient = True
    languages: ClassVar[tuple[str, ...]] = ("en", "sv")

    STOCK: ClassVar[set[str]] = {
        "sections", "grid", "heading", "markdown", "tile", "entities", "entity", "select-options",
        "conditional"}

    def dashboard(self, language: str) -> dict[str, Any]:
        """As Home Assistant loads it."""
        path = {"en": "ftw-mqtt", "sv": "ftw-mqtt-sv"}[language]
        if language == "en":
            return dict(self.ha.command("lovelace/config", url_path=path, force=True))
        return dict(yaml.safe_load((SHIPPED / "dashboard.sv.yaml").read_text()))

    def test_the_dashboard_is_in_the_sidebar_and_loads(self) -> None:
        found = {d["url_path"]: d for d in self.ha.command("lovelace/dashboards/list")}
        self.assertEqual("dashboard.en.yaml", found["ftw-mqtt"]["filename"])
        self.assertEqual(yaml.safe_load((SHIPPED / "dashboard.en.yaml").read_text()), self.dashboard("en"))

    def test_nothing_was_said_when_it_was_read_for_the_first_time(self) -> None:
        self.assertEqual([], [str(line) for line in self.ha.log(0, about=LOUD)])

    def test_every_entity_that_is_shown_exists(self) -> None:
        states = self.ha.fresh_states()
        for language in self.languages:
            there = {e for text in strings(self.dashboard(language)) for e in ENTITY.findall(text)}
            self.assertGreater(len(there), 20)
            with self.subTest(language):
                self.assertEqual([], sorted(there - set(states)))
                gone = {e for e in there if states[e]["state"] == "unavailable"}
                self.assertEqual(set(), gone)
            counts["entities shown"] += len(there)

    def test_every_entity_in_what_else_is_shipped_exists(self) -> None:
        states = set(self.ha.fresh_states())
        for path, text in shipped_files().items():
            text = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
            with self.subTest(path):
                named = {e for e in ENTITY.findall(text) if not e.endswith("_")}
                self.assertEqual([], sorted(named - states))
        for path in sorted(SHIPPED.glob("*.md")):
            with self.subTest(path.name):
                self.assertEqual([], sorted(set(ENTITY.findall(path.read_text())) - states))

    def test_only_stock_cards_are_used(self) -> None:
        for language in self.languages:
            self.assertEqual(set(), {c["type"] for c in cards(self.dashboard(language))} - self.STOCK)

    def test_no_tile_counts_up_from_a_moment_that_is_over(self) -> None:
        """A tile shows a moment as "3 seconds ago"; when the car charges is told in a sentence."""
        states = self.ha.fresh_states()
        for language in self.languages:
            moments = {c["entity"] for c in cards(self.dashboard(language)) if c["type"] == "tile"
                       and states[c["entity"]]["attributes"].get("device_class") == "timestamp"}
            self.assertEqual({f"sensor.{CAR}_goal_deadline"}, moments)

    def test_both_languages_show_the_same(self) -> None:
        def shape(node: Any) -> Any:
            if isinstance(node, dict):
                return {k: shape(v) for k, v in node.items()
                        if k not in ("name", "heading", "title", "path")}
            if isinstance(node, list):
                return [shape(v) for v in node]
            if isinstance(node, str) and ("{%" in node or "{{" in node):
                return ENTITY.findall(node)
            return node

        self.assertEqual(shape(self.dashboard("en")), shape(self.dashboard("sv")))

    def contents(self, language: str) -> list[str]:
        return [c["content"] for c in cards(self.dashboard(language)) if c["type"] == "markdown"]

    def test_every_template_renders(self) -> None:
        for language in self.languages:
            for content in self.contents(language):
                with self.subTest(content[:60]):
                    said = self.ha.template(content)
                    self.assertTrue(said.strip())
                    self.assertNotRegex(said, r"\b(None|unknown|unavailable|nan|undefined)\b")
                    counts["templates"] += 1

    def test_the_last_command_is_told_with_what_and_when(self) -> None:
        """What, who asked for it where that is known, when, and how it ended."""
        for command, payload, who, named in [
                ("control", {"id": "dash-1", "value": "charge_now", "from": "assist"}, "Assist",
                 {"en": "Charge now", "sv": "Ladda nu"}),
                ("control", "pause", None, {"en": "Pause", "sv": "Pausa"}),
                ("goal", {"value": {"level": 70, "by": "06:45"}, "from": "kitchen <b>"}, "kitchen &lt;b&gt;",
                 {"en": "The goal", "sv": "Målet"}),
                ("control", "plan", None, {"en": "Back to the plan", "sv": "Tillbaka till planen"})]:
            mark = self.ha.attributes(f"event.{CAR}_command_result").get("id")
            self.broker.mqtt.publish(f"{TOPIC}/{command}/set", payload)
            event = self.ha.wait_for(f"event.{CAR}_command_result", lambda s, mark=mark: s["attributes"].get(
                "event_type") == "done" and s["attributes"]["id"] != mark)
            at = datetime.datetime.fromisoformat(event["attributes"]["at"]).strftime("%H:%M")
            self.heard(lambda w: w["receipt"] == "Done.")
            for language, line, by, done in [("en", "Last command", "from", "Done."),
                                             ("sv", "Senaste kommandot", "från", "Klart.")]:
                with self.subTest(command=command, payload=payload, language=language):
                    said = "\n".join(self.ha.template(content) for content in self.contents(language))
                    self.assertIn(f"{line}: **{named[language]}**" + (f" {by} {who}" if who else "")
                                  + f", {at}. {done}", said)

    def test_a_guess_is_never_shown_as_a_plain_number(self) -> None:
        """While FTW guesses, what shows the number is gone, or says that it is a guess."""
        self.situation("assumed", lambda w: "FTW guesses" in w["level"])
        self.addCleanup(self.situation, "car_live 60", lambda w: "60 %" in w["level"])
        origin = f"sensor.{CAR}_level_origin"
        self.ha.wait_for(origin, "assumed")
        numbers = {f"sensor.{CAR}_level", f"number.{CAR}_level_choice"}

        def shown(node: Any) -> Iterator[dict[str, Any]]:
            if isinstance(node, list):
                for item in node:
                    yield from shown(item)
            elif isinstance(node, dict):
                conditions = node.get("visibility") or node.get("conditions") or []
                if not any(c.get("entity") == origin and (
                        c.get("state_not") == "assumed" or c.get("state", "assumed") != "assumed")
                        for c in conditions):
                    yield node
                    for value in node.values():
                        yield from shown(value)

        for language, word in [("en", "guess"), ("sv", "gissning")]:
            there = [c for c in shown(self.dashboard(language)) if c.get("entity") in numbers]
            self.assertEqual(1, len(there), there)
            self.assertIn(word, there[0]["name"])
            said = "\n".join(self.ha.template(content) for content in self.contents(language))
            self.assertIn({"en": "FTW guesses 20 %", "sv": "FTW gissar 20 %"}[language], said)

    def pictures(self, language: str) -> list[ET.Element]:
        """The pictures that the templates draw, read as a browser does."""
        found = []
        for content in self.contents(language):
            said = self.ha.template(content)
            for data in re.findall(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)", said):
                found.append(ET.fromstring(base64.b64decode(data)))
        return found

    def test_the_pictures_show_the_series(self) -> None:
        for language in self.languages:
            plan, price = self.pictures(language)
            series = self.broker.mqtt.document("ftw/home/price/series")
            bars = [r for r in price.iter(SVG + "rect") if r.get("fill", "").startswith("hsl")]
            self.assertEqual(len([v for v in series["total"] if v is not None]), len(bars))
            # The tallest bar is the dearest slot, and the reddest.
            values = [v for v in series["total"] if v is not None]
            tallest = max(range(len(bars)), key=lambda i: float(bars[i].get("height", "0")))
            self.assertAlmostEqual(max(values), values[tallest], delta=0.02)
            self.assertEqual("hsl(0,58%,46%)", bars[values.index(max(values))].get("fill"))
            level = self.broker.mqtt.document("ftw/home/plan/series")["level"]
            path = next(plan.iter(SVG + "path")).get("d", "")
            self.assertEqual(len([v for v in level if v is not None][:96]), len(re.findall(r"[ML]", path)))
            # The level is on a scale of its own, in the line's colour.
            colour = next(plan.iter(SVG + "path")).get("stroke")
            scale = {text.text: float(text.get("y", "")) for text in plan.iter(SVG + "text")
                     if text.get("fill") == colour}
            self.assertEqual(["100 %", "50 %", "0 %"], list(scale))
            first, known = re.match(r"M[\d.]+ ([\d.]+)", path), next(v for v in level if v is not None)
            assert first
            height = scale["0 %"] - scale["100 %"]
            self.assertAlmostEqual(float(first[1]) + 4, scale["0 %"] - height * known / 100, delta=0.2)

    def test_what_is_missing_is_a_gap_and_what_is_negative_is_below(self) -> None:
        self.broker.mqtt.publish("homeassistant/sensor/stage/series/config", {
            "name": "Stage series", "unique_id": "stage_series", "default_entity_id": "sensor.stage_series",
            "state_topic": "stage/series", "value_template": "{{ value_json.total | length }}",
            "json_attributes_topic": "stage/series"}, retain=True)
        self.addCleanup(self.broker.mqtt.publish, "homeassistant/sensor/stage/series/config", "", True)
        self.ha.wait_for("sensor.stage_series", "unknown")

        def draw(total: list[float | None]) -> tuple[str, list[ET.Element]]:
            self.broker.mqtt.publish("stage/series", {
                "start": "2026-10-25T00:00:00+02:00", "step_s": 3600, "total": total, "unit": "SEK/kWh"},
                retain=True)
            self.ha.wait_for("sensor.stage_series", lambda s: s["attributes"].get("total") == total)
            said = self.ha.template(
                "{% from 'ftw_mqtt.jinja' import price_chart %}"
                "{{ price_chart('sensor.stage_series', 'sv') }}")
            data = re.findall(r"base64,([A-Za-z0-9+/=]+)", said)
            svg = ET.fromstring(base64.b64decode(data[0])) if data else ET.Element("none")
            return said, [r for r in svg.iter(SVG + "rect") if r.get("fill", "").startswith("hsl")]

        # The long day of autumn has 25 hours, of which one is missing.
        _, bars = draw([1.0] * 10 + [None] + [1.0] * 14)
        self.assertEqual(24, len(bars))
        _, bars = draw([1.0, -0.5, 0.5])
        above, below = (float(bars[i].get("y", "0")) for i in (0, 1))
        self.assertLess(above, below)
        for empty in ([], [None], [None, None], [1.0]):
            said, bars = draw(empty)
            self.assertEqual(("Inga priser är kända.", []), (said, bars))
        _, bars = draw([0.7] * 24)
        self.assertEqual(24, len(bars))

    def test_a_window_is_said_so_that_it_can_only_be_that_one(self) -> None:
        self.broker.mqtt.publish("homeassistant/sensor/stage/window/config", {
            "name": "Stage window", "unique_id": "stage_window", "default_entity_id": "sensor.stage_window",
            "state_topic": "stage/window", "value_template": "{{ value_json.start }}",
            "device_class": "timestamp", "json_attributes_topic": "stage/window"}, retain=True)
        self.addCleanup(self.broker.mqtt.publish, "homeassistant/sensor/stage/window/config", "", True)
        self.ha.wait_for("sensor.stage_window", "unknown")
        zone = zoneinfo.ZoneInfo("Europe/Stockholm")
        today = datetime.datetime.now(zone).date()

        def on(days: int, hour: int) -> str:
            at = datetime.datetime.combine(today + datetime.timedelta(days=days), datetime.time(hour), zone)
            return at.isoformat()

        def named(days: int, language: str) -> str:
            date = today + datetime.timedelta(days=days)
            names = {"en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
                     "sv": "måndag tisdag onsdag torsdag fredag lördag söndag"}[language]
            return names.split()[date.weekday()]

        def said(start: str, end: str, language: str) -> str:
            self.broker.mqtt.publish("stage/window", {"start": start, "end": end, "hours": 3}, retain=True)
            self.ha.wait_for("sensor.stage_window", lambda s: s["attributes"].get("end") == end
                             and datetime.datetime.fromisoformat(s["state"])
                             == datetime.datetime.fromisoformat(start))
            return self.ha.template("{% from 'ftw_mqtt.jinja' import cheapest %}"
                                    f"{{{{ cheapest('sensor.stage_window', '{language}') }}}}")

        for start, end, en, sv in [
                (on(0, 9), on(0, 12), "09:00–12:00", "09:00–12:00"),
                (on(1, 9), on(1, 12), "tomorrow 09:00–12:00", "i morgon 09:00–12:00"),
                (on(-1, 22), on(0, 1), "yesterday 22:00–01:00", "i går 22:00–01:00"),
                (on(0, 22), on(1, 1), "22:00–tomorrow 01:00", "22:00–i morgon 01:00"),
                (on(1, 22), on(2, 1), f"tomorrow 22:00–{named(2, 'en')} 01:00",
                 f"i morgon 22:00–{named(2, 'sv')} 01:00")]:
            self.assertEqual(f"Cheapest 3 h: {en}", said(start, end, "en"))
            self.assertEqual(f"Billigaste 3 h: {sv}", said(start, end, "sv"))
        # The night whose hour comes twice, of a year that nobody will call yesterday.
        for start, end, en, sv in [
                ("02:30:00+02:00", "02:30:00+01:00", "02:30 summer time–02:30 winter time",
                 "02:30 sommartid–02:30 vintertid"),
                ("02:00:00+02:00", "02:45:00+02:00", "02:00–02:45 summer time", "02:00–02:45 sommartid"),
                ("02:15:00+01:00", "03:15:00+01:00", "02:15 winter time–03:15", "02:15 vintertid–03:15"),
                ("01:00:00+02:00", "03:00:00+01:00", "01:00–03:00", "01:00–03:00")]:
            night = ("2025-10-26T" + start, "2025-10-26T" + end)
            self.assertEqual(f"Cheapest 3 h: 2025-10-26 {en}", said(*night, "en"))
            self.assertEqual(f"Billigaste 3 h: 2025-10-26 {sv}", said(*night, "sv"))

    def test_the_points_for_chart_cards(self) -> None:
        series = self.broker.mqtt.document("ftw/home/price/series")
        said = yaml.safe_load(self.ha.template(
            "{% from 'ftw_mqtt.jinja' import points %}{{ points('sensor.ftw_home_price', 'total') }}"))
        self.assertEqual(series["total"], [value for _, value in said])
        self.assertEqual(series["step_s"] * 1000, said[1][0] - said[0][0])

    def test_what_is_told_while_the_bridge_is_away(self) -> None:
        """Nothing old looks live, and no template fails."""
        self.bridge.stop()
        try:
            self.ha.wait_for(f"sensor.{CAR}_words_en", "unavailable")
            for language, nobody in [("en", "The bridge cannot be reached"), ("sv", "Bryggan kan inte nås")]:
                said = [self.ha.template(content) for content in self.contents(language)]
                self.assertEqual(2, len([s for s in said if nobody in s]))
                self.assertEqual([], [s for s in said if "base64" in s or "<font" in s])
        finally:
            self.bridge.start()
            self.ready()
