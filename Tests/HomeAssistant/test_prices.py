"""Prices as automations and charts see them: the right minute, the right points."""
from __future__ import annotations

import ast
import datetime
import itertools
import re
import time
from dataclasses import dataclass
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

import yaml

from support import Demo, HomeAssistantCase, counts, wait_until
from support.children import TREE
from support.shipped import readme_block, readme_order
from support.statistics import OPTIONS

GUIDE = TREE / "config/home-assistant/energy.md"
HOME = "ftw/home"
ZONE = ZoneInfo("Europe/Stockholm")
QUARTER = 900
SWITCH = "switch.ftw_home_car_garage_switch"
CONTROL = "sensor.ftw_home_car_garage_control"
CHEAP = "binary_sensor.ftw_home_cheap_now"
LEVELS_THAT_ARE_CHEAP = 3


@dataclass(frozen=True)
class Day:
    """A household day and what each of its equal parts costs, in öre before tariff and tax."""

    date: datetime.date
    spot: list[float]

    @property
    def bounds(self) -> tuple[int, int]:
        midnight = datetime.datetime.combine(self.date, datetime.time(), ZONE)
        after = datetime.datetime.combine(self.date + datetime.timedelta(days=1), datetime.time(), ZONE)
        return int(midnight.timestamp()), int(after.timestamp())

    def quarters(self) -> list[tuple[int, float]]:
        """Start and what the household pays, in kronor."""
        begin, end = self.bounds
        count = (end - begin) // QUARTER
        return [(begin + i * QUARTER, (self.spot[i * len(self.spot) // count] + 40) * 1.25 / 100)
                for i in range(count)]


def is_cheap(slots: list[tuple[int, float]], place: int) -> bool:
    """By trying all: the quarter is of the three lower eighths between the extremes of its next 24 hours."""
    start, price = slots[place]
    ahead = [p for s, p in slots if start <= s < start + 86_400]
    low, high = min(ahead), max(ahead)
    level = 4 if high - low < 0.01 else 1 + min(7, int(8 * (price - low) / (high - low)))
    return level <= LEVELS_THAT_ARE_CHEAP


def edges(days: list[Day], since: int) -> list[tuple[int, bool]]:
    """When "cheap now" turns after a moment, and to what."""
    slots = [slot for day in days for slot in day.quarters()]
    found = []
    for place in range(1, len(slots)):
        before, now = is_cheap(slots, place - 1), is_cheap(slots, place)
        if slots[place][0] > since and before != now:
            found.append((slots[place][0], now))
    return found


def parsed(text: str) -> float:
    return datetime.datetime.fromisoformat(text).timestamp()


def said(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, ZONE).isoformat(timespec="seconds")


class Priced(HomeAssistantCase):
    """A house on its own clock, whose prices a test made."""

    def live_on(self, start: str, days: list[Day]) -> Demo:
        """A house that knows these two days and will hear of no third.

        Made for a fast day, so that the car is looked at again soon after the clock leaps.
        """
        demo: Demo = self.use(Demo(self.broker, start=start, speed=120))
        demo("speed 1")
        demo(f"clock {start}")
        demo("car plug")
        for name, day in zip(("today", "tomorrow"), days, strict=True):
            demo(f"prices {name} " + " ".join(f"{value:g}" for value in day.spot))
        demo("prices published yes")
        demo("box restart")
        wanted = [round(price, 4) for day in days for _, price in day.quarters()]
        self.broker.mqtt.wait_document(f"{HOME}/price/series", lambda d: d["total"] == wanted, 60)
        demo("prices published no")
        return demo


class CheapNowTests(Priced):
    """The README's automation, as it stands there, against the minute that trying all prices gives."""

    cost = 110
    options = OPTIONS
    SPEED = 4
    """While an edge passes: a minute of the house takes a quarter of a minute."""

    def setUp(self) -> None:
        super().setUp()
        self.automation = self.ha.automation("readme", yaml.safe_load(readme_block("Automations")))
        self.addCleanup(self.ha.remove_automation, "readme")

    def pass_edge(self, demo: Demo, edge: int, is_on: bool) -> None:
        """Lets the clock pass one edge, and looks when what happened."""
        demo("speed 1")
        # Some minutes before, until the car was looked at again; then close to it.
        demo(f"clock {said(edge - 300)}")
        demo("log clear")
        wait_until("the car to be looked at", lambda: demo.state()["requests"].get("/api/loadpoints", 0) > 1)
        if not is_on:
            # The clock leapt over what the bridge would have renewed: the same is ordered again.
            order = readme_order()
            self.broker.mqtt.publish(order["topic"], order["payload"])
            self.ha.wait_for(CONTROL, lambda s: s["attributes"].get("asked_by") == "cheap hours")
            demo("log clear")
        self.ha.wait_for(CHEAP, "off" if is_on else "on")
        self.ha.wait_for(SWITCH, "off" if is_on else "on")
        self.ha.wait_for(CONTROL, "plan" if is_on else "charge_now")
        demo(f"clock {said(edge - 10)}")
        demo(f"speed {self.SPEED}")
        asked = time.time()
        house = parsed(demo("clock"))
        asked = (asked + time.time()) / 2
        state = self.ha.wait_for(
            self.automation, lambda s: parsed(s["attributes"]["last_triggered"] or said(0)) > asked, 40)
        # Home Assistant's clock, in time of the house; that was asked to the second.
        at = house + (parsed(state["attributes"]["last_triggered"]) - asked) * self.SPEED
        self.assertGreater(at, edge - 2, f"{said(at)} is before {said(edge)}")
        self.assertLess(at, edge + 60, f"{said(at)} is not in the minute of {said(edge)}")

        def command() -> dict[str, Any] | None:
            return next((c for c in demo.state()["commands"] if c["op"] == "loadpoint.hold"), None)

        got = wait_until("the box to have the command", command, 20)
        # To the minute, and by which of the two hours: the offset is told.
        self.assertEqual(said(edge)[:16] + said(edge)[19:], got["at"][:16] + got["at"][19:])
        self.assertEqual("applied", got["outcome"])
        if is_on:
            self.assertGreater(got["args"]["power_w"], 0)
        else:
            self.assertTrue(got["args"].get("clear"))
        self.ha.wait_for(SWITCH, "on" if is_on else "off")
        counts["edges at the right minute"] += 1

    def run_day(self, start: str, days: list[Day], expected: list[str]) -> None:
        """Passes every edge of two days; `expected` are those that a person would say."""
        demo = self.live_on(start, days)
        turns = edges(days, int(parsed(start)))
        self.assertEqual(expected, [f"{said(at)} {'on' if is_on else 'off'}" for at, is_on in turns])
        self.ha.wait_for(CHEAP, "off" if turns[0][1] else "on")
        with self.broker.mqtt.watch(f"{HOME}/price/cheap_now") as watcher:
            for at, is_on in turns:
                with self.subTest(edge=said(at), on=is_on):
                    self.pass_edge(demo, at, is_on)
            words = [word for word, _ in itertools.groupby(m.payload for m in watcher.messages)]
        # The retained word, and one more for each edge: nothing flaps.
        self.assertEqual(["OFF" if turns[0][1] else "ON"] + ["ON" if on else "OFF" for _, on in turns], words)

    def test_a_day_with_negative_prices(self) -> None:
        today = Day(datetime.date(2026, 11, 30), [90.0] * 11 + [-60.0] * 5 + [110.0] * 8)
        tomorrow = Day(datetime.date(2026, 12, 1), [60, 60, -20, -20, -20] + [150.0] * 19)
        self.run_day("2026-11-30T10:30:00+01:00", [today, tomorrow], [
            "2026-11-30T11:00:00+01:00 on", "2026-11-30T16:00:00+01:00 off",
            "2026-12-01T02:00:00+01:00 on", "2026-12-01T05:00:00+01:00 off"])

    def test_the_night_whose_hour_comes_twice(self) -> None:
        eve = Day(datetime.date(2026, 10, 24), [100.0] * 24)
        # A price for each of the 25 hours: dear in the first 02:00, cheap in the second.
        night = Day(datetime.date(2026, 10, 25), [100, 20, 100, 10] + [100.0] * 21)
        self.run_day("2026-10-24T23:30:00+02:00", [eve, night], [
            "2026-10-25T01:00:00+02:00 on", "2026-10-25T02:00:00+02:00 off",
            "2026-10-25T02:00:00+01:00 on", "2026-10-25T03:00:00+01:00 off"])


class WindowTests(HomeAssistantCase):
    """The guide's trigger for the beginning of a cheapest window."""

    cost = 20
    options = OPTIONS
    START = "sensor.ftw_home_cheapest_3h_start"

    def setUp(self) -> None:
        super().setUp()
        found = re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(), re.DOTALL)
        block = next(text for text in found if self.START in text)
        self.automation = self.ha.automation(
            "window", {**yaml.safe_load(block), "mode": "queued", "actions": [{"event": "window_began"}]})
        self.addCleanup(self.ha.remove_automation, "window")
        self.addCleanup(self.ha.rest, "DELETE", f"/api/states/{self.START}")

    def runs(self) -> Any:
        return self.ha.attributes(self.automation).get("last_triggered")

    def show(self, state: str, running: bool | None) -> bool:
        """Lets the entity say that; whether the automation ran for it."""
        before = self.runs()
        attributes = {} if running is None else {"running": running}
        status, _ = self.ha.rest("POST", f"/api/states/{self.START}", {"state": state, "attributes": attributes})
        self.assertIn(status, (200, 201))
        time.sleep(1)
        return bool(self.runs() != before)

    def test_each_window_begins_once(self) -> None:
        said = [
            ("2026-11-30T12:00:00+00:00", False, False), ("2026-11-30T13:00:00+00:00", False, False),
            ("2026-11-30T13:00:00+00:00", True, True), ("2026-11-30T16:00:00+00:00", True, True),
            ("2026-11-30T23:00:00+00:00", False, False), ("unavailable", None, False),
            # A restart within a window is not its beginning.
            ("2026-11-30T23:00:00+00:00", True, False), ("unknown", None, False),
        ]
        for state, running, began in said:
            with self.subTest(state=state, running=running):
                self.assertEqual(began, self.show(state, running))


class PointTests(Priced):
    """The template of the guide, against the documents it is to draw."""

    cost = 40
    options = OPTIONS
    demo: ClassVar[Demo]

    def points(self, template: str) -> list[tuple[int, float | None]]:
        return [tuple(point) for point in ast.literal_eval(self.ha.template(template).strip())]

    @staticmethod
    def template() -> str:
        """The only one of the guide."""
        found = re.findall(r"```jinja\n(.*?)```", GUIDE.read_text(), re.DOTALL)
        assert len(found) == 1, f"{len(found)} templates in {GUIDE}"
        return str(found[0])

    def test_arrays_become_points_on_a_day_of_25_hours(self) -> None:
        eve = Day(datetime.date(2026, 10, 24), [float(hour) for hour in range(24)])
        night = Day(datetime.date(2026, 10, 25), [-float(hour) for hour in range(25)])
        demo = self.live_on("2026-10-24T23:59:30+02:00", [eve, night])
        self.assert_points([eve, night])
        demo("speed 20")
        self.broker.mqtt.wait_document(
            f"{HOME}/price/series", lambda d: d["start"] == "2026-10-25T00:00:00+02:00", 60)
        demo("speed 1")
        self.assert_points([night])
        document = self.broker.mqtt.document(f"{HOME}/price/series")
        self.assertEqual(100, len(document["total"]))

        # The same for the plan: other names, the same arrays.
        plan = self.template().replace("sensor.ftw_home_price", "sensor.ftw_home_plan").replace(
            "'total'", "'battery'")
        document = self.broker.mqtt.document(f"{HOME}/plan/series")
        self.ha.wait_for("sensor.ftw_home_plan",
                         lambda s: s["attributes"].get("battery") == document["battery"])
        start = int(parsed(document["start"])) * 1000
        self.assertEqual([(start + i * document["step_s"] * 1000, value)
                          for i, value in enumerate(document["battery"])], self.points(plan))

    def test_what_is_unknown_has_no_points(self) -> None:
        demo = self.live_on("2026-11-30T10:30:00+01:00", [
            Day(datetime.date(2026, 11, 30), [90.0] * 24), Day(datetime.date(2026, 12, 1), [90.0] * 24)])
        self.ha.wait_for("sensor.ftw_home_price", lambda s: s["attributes"].get("total"))
        demo("prices none")
        demo("box restart")
        self.ha.wait_for("sensor.ftw_home_price", lambda s: not s["attributes"].get("total"))
        self.assertEqual([], self.points(self.template()))
        # Nor has what is not there at all.
        self.assertEqual([], self.points(self.template().replace("ftw_home_price", "ftw_home_no_price")))

    def assert_points(self, days: list[Day]) -> None:
        wanted = [(start * 1000, round(price, 4)) for day in days for start, price in day.quarters()]
        self.ha.wait_for("sensor.ftw_home_price",
                         lambda s: s["attributes"].get("total") == [price for _, price in wanted])
        self.assertEqual(wanted, self.points(self.template()))
        counts["points"] += len(wanted)
