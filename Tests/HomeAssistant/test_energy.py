"""The energy dashboard: what it takes, what it costs, what the recorder keeps, and that totals only rise."""
from __future__ import annotations

import datetime
import itertools
import json
import re
from typing import ClassVar

from support import Bridge, Demo, HomeAssistantCase, House, counts, wait_until
from support.children import TREE
from support.homeassistant import BROKER_AWAY
from support.statistics import OPTIONS, Rows, compile_now, period_start, recorded, wait_compiled

GUIDE = TREE / "config/home-assistant/energy.md"
HOME = "ftw/home"

TOTALS = {
    "import": "sensor.ftw_home_grid_import_energy", "export": "sensor.ftw_home_grid_export_energy",
    "solar": "sensor.ftw_home_solar_energy", "battery_in": "sensor.ftw_home_battery_charge_energy",
    "battery_out": "sensor.ftw_home_battery_discharge_energy", "house": "sensor.ftw_home_house_energy",
    "car": "sensor.ftw_home_car_energy",
}
"""Members of the energy document and the entities that show them."""

FLOWS = {
    "import": "grid_import", "export": "grid_export", "solar": "pv_generation",
    "battery_in": "battery_charge", "battery_out": "battery_discharge", "house": "consumer_use",
    "car": "vehicle_charge",
}
"""The same by the box's names."""


def steps() -> str:
    """The part of the guide that says where to click."""
    section = GUIDE.read_text().split("## The energy dashboard")[1].split("\n## ")[0]
    return "\n".join(re.findall(r"^(?:\d\.|   -) .*$", section, re.MULTILINE))


def click_path() -> dict[str, str]:
    """Field of Home Assistant's dialogs → name of our entity, as the guide says it."""
    return dict(re.findall(r"\*([^*]+)\*: `(.+?)`$", steps(), re.MULTILINE))


class CostTests(HomeAssistantCase):
    """A summer noon: the sun gives all the house takes, so that only what a test adds is imported."""

    cost = 70
    options = OPTIONS
    demo: ClassVar[Demo]

    @classmethod
    def arrange(cls) -> None:
        cls.demo = cls.keep(Demo(cls.broker, start="2026-06-21T12:00:00+02:00"))
        cls.demo("car unplug")

    def price(self, spot: float) -> str:
        """Lets every hour cost that much spot, in öre; the price that Home Assistant then shows."""
        for day in ("today", "tomorrow"):
            self.demo(f"prices {day} {spot:g}")
        self.demo("box restart")
        state = f"{(spot + 40) * 1.25 / 100:g}"
        self.ha.wait_for("sensor.ftw_home_price", state, 60)
        return state

    def import_one_kwh(self) -> None:
        """Lets 1 kWh be imported, and its stretch be counted."""
        before = float(self.ha.state(TOTALS["import"]) or "nan")
        self.demo("energy import 1")
        self.demo("speed 120")
        state = self.ha.wait_for(TOTALS["import"], lambda s: float(s["state"]) > before, 60)
        self.demo("speed 1")
        self.assertAlmostEqual(1, float(state["state"]) - before, 9)

    def entity(self, name: str) -> str:
        """The entity of a name that the guide uses."""
        found = [e["entity_id"] for e in self.ha.registry().values() if e["original_name"] == name]
        self.assertEqual(1, len(found), f"'{name}' of the guide: {found}")
        return str(found[0])

    def save_preferences(self) -> str:
        """Sets the dashboard up as the guide says; returns the entity that counts the cost."""
        path = {field: self.entity(name) for field, name in click_path().items()}
        self.ha.command(
            "energy/save_prefs",
            energy_sources=[
                {"type": "grid", "stat_energy_from": path["Energy imported from grid"],
                 "stat_energy_to": path["Energy exported to grid"], "stat_cost": None,
                 "entity_energy_price": path["Entity with the current price"], "number_energy_price": None,
                 "stat_compensation": None, "entity_energy_price_export": None,
                 "number_energy_price_export": None, "cost_adjustment_day": 0},
                {"type": "solar", "stat_energy_from": path["Solar production energy"],
                 "config_entry_solar_forecast": None},
                {"type": "battery", "stat_energy_from": path["Energy discharged from the battery"],
                 "stat_energy_to": path["Energy charged into the battery"]}],
            device_consumption=[{"stat_consumption": path["Device energy consumption"]}])
        self.addCleanup(self.ha.command, "energy/save_prefs", energy_sources=[], device_consumption=[])
        self.assertEqual(7, len(path))
        return f"{path['Energy imported from grid']}_cost"

    def test_the_documented_dashboard_is_valid_and_its_cost_is_right_to_the_ore(self) -> None:
        self.assertEqual("1.234", self.price(58.72))
        self.demo("speed 120")
        for entity in TOTALS.values():
            self.ha.wait_for(entity, lambda s: s["state"] not in ("unknown", "unavailable"), 90)
        self.demo("speed 1")
        cost = self.save_preferences()
        self.ha.wait_for(cost, lambda s: float(s["state"]) == 0)
        self.import_one_kwh()
        state = self.ha.wait_for(cost, lambda s: float(s["state"]) != 0)
        self.assertEqual("1.23", f"{float(state['state']):.2f}")
        self.assertEqual("SEK", state["attributes"]["unit_of_measurement"])
        self.assertEqual("monetary", state["attributes"]["device_class"])

        # At a negative price the cost falls.
        self.assertEqual("-0.4", self.price(-72))
        self.import_one_kwh()
        state = self.ha.wait_for(cost, lambda s: float(s["state"]) < 1.2)
        self.assertEqual("0.83", f"{float(state['state']):.2f}")
        counts["costs"] += 2

        # What the dialogs offer and the validation wants is there once statistics were compiled.
        compile_now(self.ha, [*TOTALS.values(), cost])
        told = self.ha.command("energy/validate")
        issues = [issue for part in told.values() for group in part for issue in group]
        self.assertEqual([], issues)
        self.assertEqual(3, len(told["energy_sources"]))
        self.assertEqual(1, len(told["device_consumption"]))


class RecorderTests(HomeAssistantCase):
    """An hour of a day with negative prices and all of tomorrow known, in half a minute."""

    cost = 60
    options = OPTIONS

    def test_an_hour_is_recorded_with_every_attribute(self) -> None:
        demo = self.use(Demo(self.broker, start="2026-11-30T13:50:00+01:00"))
        demo("prices negative")
        demo("prices published yes")
        demo("box restart")
        mqtt = self.broker.mqtt
        series = mqtt.wait_document(f"{HOME}/price/series", lambda d: len(d["total"]) == 192, 60)
        self.assertLess(min(series["total"]), 0)
        self.ha.wait_for("sensor.ftw_home_price",
                         lambda s: len(s["attributes"].get("total") or []) == 192)
        began = self.ha.moment
        with mqtt.watch(f"{HOME}/#") as watcher:
            demo("speed 120")
            self.ha.wait_states(
                "an hour of quarters",
                lambda _: len({c.new["state"] for c in self.ha.history("sensor.ftw_home_price_changes", began)
                               if c.new}) >= 4, 90)
            demo("speed 1")
            sizes = {m.topic: len(m.payload.encode()) for m in sorted(
                watcher.messages, key=lambda m: len(m.payload.encode()))}
        too_big = {topic: size for topic, size in sizes.items() if size > 8000}
        self.assertEqual({}, too_big)
        self.assertGreater(sizes[f"{HOME}/price/series"], 1000)
        self.assertGreater(sizes[f"{HOME}/plan/series"], 1000)
        counts["messages"] += len(sizes)

        for entity, topic, member in [("sensor.ftw_home_price", "price/series", "total"),
                                      ("sensor.ftw_home_plan", "plan/series", "battery")]:
            document = mqtt.document(f"{HOME}/{topic}")
            self.ha.wait_for(entity, lambda s, d=document, m=member: s["attributes"].get(m) == d[m])
            wait_until(f"{entity} to be recorded with {member}",
                       lambda e=entity, d=document, m=member: any(
                           json.loads(a or "{}").get(m) == d[m] for _, a in recorded(self.ha, e)[-3:]), 20)
            for key, value in document.items():
                self.assertEqual(value, self.ha.attributes(entity).get(key), f"{entity} {key}")
        for entity in self.ha.states():
            if "ftw_home" not in entity:
                continue
            rows = recorded(self.ha, entity)
            self.assertTrue(rows, f"{entity} was never recorded")
            for state, attributes in rows:
                self.assertLess(len(attributes.encode()), 16_384, entity)
                # Home Assistant keeps nothing of attributes that are too big.
                if state != "None":  # That is when it went.
                    self.assertNotIn(attributes, ("", "{}"), f"{entity} {state}")


class Restarts(HomeAssistantCase):
    """Totals while bridge, box and broker restart in every order; what is the same in both variants.

    The house's clock is a quarter of an hour slow: for the bridge its five minutes under way are long
    closed, so that what flows counts at the next reading instead of fifteen minutes later.
    """

    seeds: ClassVar[dict[str, float]] = {
        member: 1_234_500.0 - 100_000 * place for place, member in enumerate(TOTALS)}
    """In Wh: what the totals were before."""

    house: ClassVar[House]
    bridge: ClassVar[Bridge]

    @classmethod
    def arrange(cls) -> None:
        slow = datetime.datetime.now(datetime.UTC) - datetime.timedelta(minutes=15)
        cls.house = cls.keep(House(cls.broker, options=["--start", slow.isoformat(timespec="seconds")]))
        cls.bridge = Bridge(cls.broker, {"home": cls.house}).pair_all()
        cls.bridge.start()
        cls.bridge.stop()
        cls.seed(slow)
        cls.keep(cls.bridge)

    @classmethod
    def seed(cls, moment: datetime.datetime) -> None:
        """Lets the bridge have been at this house before: with totals, answered up to `moment`."""
        folder = cls.bridge.folder / "state"
        box = json.loads((folder / "memory-home.car_levels.json").read_text())["body"]["box"]
        since = int(period_start(moment).timestamp() * 1000)
        ledger = {"since_ms": since, "answered_until_ms": since, "recent": [],
                  "totals_wh": {FLOWS[member]: wh for member, wh in cls.seeds.items()}}
        file = folder / "memory-home.energy.json"
        file.touch(0o600)
        file.write_text(json.dumps({
            "kind": "memory", "format": 1,
            "body": {"box": box, "kept": {"ledger": ledger, "complete": True}}}) + "\n")

    def setUp(self) -> None:
        super().setUp()
        self.allow_log(BROKER_AWAY)
        self.allow_log(r"paho\.mqtt\.client\] failed to receive on socket")
        self.imported = 0.0

    # -- what is there

    def total(self, member: str) -> float:
        """In kWh, as Home Assistant shows it; an error where it shows none."""
        return float(self.ha.state(TOTALS[member]) or "nan")

    def flowed(self) -> dict[str, float]:
        """In kWh, all that the box's ledger holds."""
        return {member: self.house.state()["energy_wh"][flow] / 1000 for member, flow in FLOWS.items()}

    def add(self, kwh: float) -> None:
        self.house(f"energy import {kwh:g}")
        self.imported += kwh

    def counted(self) -> None:
        """Waits until Home Assistant shows all that the box's ledger holds now."""
        self.house("log clear")
        self.house("box restart")
        wait_until("the box to be asked for its ledger",
                   lambda: self.house.state()["requests"].get("/api/energy/history"), 60, 0.2)
        self.ha.wait_for(TOTALS["import"], lambda s: s["state"][0].isdigit()
                         and float(s["state"]) >= self.seeds["import"] / 1000 + self.imported - 0.011, 90)

        def is_shown() -> bool:
            document = self.broker.mqtt.document(f"{HOME}/energy")
            return all(self.total(member) == document[member] for member in TOTALS)

        wait_until("every total to be shown", is_shown, 30)

    def restart(self, what: str, abruptly: bool) -> None:
        """One of the three, with energy that flows before it."""
        self.add(0.12)
        if what == "bridge":
            self.bridge.restart(abruptly, wait=False)
        elif what == "box":
            self.house("box restart")
        else:
            self.broker.restart(abruptly)
        counts["restarts in order"] += 1

    def restart_in_order(self, order: tuple[str, ...], abruptly: bool) -> None:
        with self.subTest(order=order):
            before = self.imported
            for what in order:
                self.restart(what, abruptly)
            self.counted()
            self.assertAlmostEqual(before + 0.36, self.imported)

    def begin(self) -> tuple[list[dict[str, float]], dict[str, float]]:
        """Waits for every total; returns what the box had counted before and after, and what is shown."""
        for member, wh in self.seeds.items():
            self.ha.wait_for(TOTALS[member], lambda s, kwh=wh / 1000: s["state"][0].isdigit()
                             and float(s["state"]) >= kwh, 60)
        before = [self.flowed()]
        self.add(0.01)
        self.counted()
        before.append(self.flowed())
        return before, {member: self.total(member) for member in TOTALS}

    # -- what must be true at the end

    def assert_only_rose(self, since: int) -> dict[str, tuple[float, float]]:
        """No total was ever below an earlier one; returns the first and the last of each."""
        ends = {}
        for member, entity in TOTALS.items():
            heard = [float(c.word) for c in self.ha.history(entity, since)
                     if c.word and c.word not in ("unknown", "unavailable")]
            self.assertEqual(sorted(heard), heard, f"{entity} fell")
            self.assertGreaterEqual(heard[0], self.seeds[member] / 1000, f"{entity} forgot what was kept")
            ends[member] = heard[0], heard[-1]
            counts["totals heard"] += len(heard)
        return ends

    def assert_statistics(self, rows: Rows,
                          ends: dict[str, tuple[float, float]]) -> None:
        """The sums rose by what the totals rose by.

        Energy flows on, so what counts is the total as it was when the last stretch was compiled.
        """
        for member, entity in TOTALS.items():
            last = rows[entity][-1]
            self.assertGreaterEqual(last["state"], ends[member][1] - 0.05, entity)
            self.assertAlmostEqual(last["state"] - ends[member][0], last["sum"], 6, f"sum of {entity}")
            sums = [row["sum"] for row in rows[entity]]
            self.assertEqual(sorted(sums), sums, entity)
            counts["sums compared"] += 1

    def assert_box_agrees(self, before: list[dict[str, float]], after: list[dict[str, float]],
                          shown: dict[str, float]) -> None:
        """What is shown rose by what the box's ledger did, to the hundredth.

        Each reading of the box is one before and one after the bridge's.
        """
        for member in TOTALS:
            risen = self.total(member) - shown[member]
            least = after[0][member] - before[1][member] - 0.011
            most = after[1][member] - before[0][member] + 0.011
            self.assertTrue(least <= risen <= most, f"{member}: {risen}, the box {least} to {most}")
            counts["totals compared"] += 1


class RestartTests(Restarts):
    """All six orders, and answers of the box that are no answers."""

    cost = 170
    # Of its own: the statistics of these entities begin here.
    options = {**OPTIONS, "zone": "Europe/Stockholm"}

    def test_totals_rise_by_what_flowed_over_restarts_in_every_order(self) -> None:
        before, shown = self.begin()

        for place, order in enumerate(itertools.permutations(("bridge", "box", "broker"))):
            self.restart_in_order(order, abruptly=place % 2 == 1)

        # No usable answer is none: what was counted stays.
        for fault in ("status 500", "foreign", "garbled"):
            with self.subTest(fault=fault):
                self.house(f"api fault /api/energy/history {fault}")
                self.add(0.1)
                self.bridge.restart()
                wait_until("the total to be back", lambda: self.total("import") > 0, 60)
        self.house("api fault /api/energy/history none")
        after = [self.flowed()]
        self.counted()
        after.append(self.flowed())
        self.assert_box_agrees(before, after, shown)
        ends = self.assert_only_rose(0)
        self.assert_statistics(compile_now(self.ha, list(TOTALS.values())), ends)

        # A box that lost its ledger tells of less, or of nothing: no total falls for it.
        self.house.kill()
        self.ha.wait_for(TOTALS["import"], "unavailable", 60)
        self.house.start()
        self.bridge.wait_live()
        self.bridge.restart()
        wait_until("the total to be back", lambda: self.total("import") > 0, 60)
        self.assert_only_rose(0)


class LongRestartTests(Restarts):
    """The same against the statistics that Home Assistant compiles by itself, each five minutes."""

    is_long = True
    cost = 700
    options = {"zone": "Europe/Stockholm"}

    def test_home_assistants_own_statistics_rise_by_what_flowed(self) -> None:
        ids = list(TOTALS.values())
        before, shown = self.begin()
        orders = list(itertools.permutations(("bridge", "box", "broker")))
        for place, order in enumerate(orders):
            self.restart_in_order(order, abruptly=place % 2 == 1)
            if place == 2:
                # The other half lies in later minutes than these.
                wait_compiled(self.ha, ids, period_start(), 420)
        after = [self.flowed()]
        self.counted()
        after.append(self.flowed())
        self.assert_box_agrees(before, after, shown)
        ends = self.assert_only_rose(0)
        rows = wait_compiled(self.ha, ids, period_start(), 420)
        self.assert_statistics(rows, ends)
        for entity in ids:
            self.assertGreaterEqual(len(rows[entity]), 2, entity)
