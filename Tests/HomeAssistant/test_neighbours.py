"""Others at the same broker: a second house, a second bridge, the box's own bridge."""
from __future__ import annotations

import json
import re
import shutil

from support import Bridge, House, HouseCase, Picture, announced, wait_until


class TwoSitesTests(HouseCase):
    """One bridge, two houses with a box each."""

    cost = 40

    @classmethod
    def arrange(cls) -> None:
        cls.house = cls.keep(House(cls.broker))
        cls.cabin = cls.keep(House(cls.broker))
        cls.house("car situation car_live 60")
        cls.cabin("car situation car_live 30")
        cls.bridge = Bridge(cls.broker, {"home": cls.house, "cabin": cls.cabin},
                            settings={"car": {"read_interval": "15s"}})
        cls.bridge.pair_all()
        cls.keep(cls.bridge)
        cls.pictures = [Picture("home"), Picture("cabin")]
        cls.both_equal()

    @classmethod
    def both_equal(cls) -> None:
        for picture in cls.pictures:
            picture.wait_equal(cls.ha, cls.broker.mqtt, 60)

    def test_each_shows_its_own_house(self) -> None:
        # A car that charges has gone on by the time somebody looks.
        for site, level in [("home", 60), ("cabin", 30)]:
            self.ha.wait_for(f"sensor.ftw_{site}_car_garage_level",
                             lambda s, level=level: s["state"][:1].isdigit()
                             and level <= float(s["state"]) < level + 10)
        ids = {a.unique_id for a in announced(self.broker.mqtt)}
        self.assertEqual(sum(len(p.rows) for p in self.pictures), len(ids))
        self.assertEqual(6, len(self.ha.devices()))

    def test_a_command_reaches_one_house(self) -> None:
        self.ha.call("switch.turn_on", "switch.ftw_cabin_car_garage_switch")
        self.cabin.wait_car("the order", lambda c: c["hold"])
        self.ha.wait_for("switch.ftw_cabin_car_garage_switch", "on")
        self.assertIsNone(self.house.car()["hold"])
        self.assertEqual("off", self.ha.state("switch.ftw_home_car_garage_switch"))

    def test_one_box_away_leaves_the_other_house_alone(self) -> None:
        self.cabin("box away")
        needs_box = {e for e in self.pictures[1].needing("box")}
        wait_until("the cabin's values to go", lambda: all(
            self.ha.state(e) == "unavailable" for e in needs_box), 45)
        states = self.ha.fresh_states()
        self.assertEqual([], [e for e in self.pictures[0].rows if states[e]["state"] == "unavailable"])
        self.cabin("box back")
        self.both_equal()


class SecondBridgeTests(HouseCase):
    """The same configuration runs twice, as after moving to a new machine and forgetting the old one."""

    cost = 60

    def test_a_copy_stands_back_and_nothing_comes_twice(self) -> None:
        ids = {unique: e["entity_id"] for unique, e in self.ha.registry().items()}
        copy = Bridge(self.broker, {"home": self.house}, settings=self.settings)
        shutil.copytree(self.bridge.folder / "state", copy.folder / "state",
                        ignore=shutil.ignore_patterns("*.lock", "lock"))
        (copy.folder / "state").chmod(0o700)
        self.addCleanup(copy.stop)
        copy.start(wait=False)

        def told() -> str:
            return copy.output() + self.bridge.output()

        wait_until("one of them to say that there are two", lambda: re.search(
            r"second copy|another client uses the client id", told()), 60, told=told)
        before = self.ha.moment
        # Meanwhile the house is shown, by one of the two.
        self.ha.wait_states("readings to move on", lambda states: self.ha.history(
            "sensor.ftw_home_house_power", before) and states[
                "sensor.ftw_home_house_power"]["state"] != "unavailable", 60)
        self.assertEqual(1, len(re.findall(r"second copy|another client uses the client id", told())), told())
        ups_and_downs = self.ha.history("sensor.ftw_home_bridge_version", before)
        self.assertLess(len(ups_and_downs), 5, told())
        copy.stop()
        # It stands back for minutes; whoever stopped the copy need not wait so long.
        self.bridge.restart()
        self.equal(60)
        self.assertEqual(ids, {unique: e["entity_id"] for unique, e in self.ha.registry().items()})


class BoxOwnBridgeTests(HouseCase):
    """FTW's own bridge announces the same house, under ids of its own."""

    cost = 30

    def test_both_live_side_by_side(self) -> None:
        mqtt = self.broker.mqtt
        before = {a.unique_id for a in announced(mqtt)}
        device = {"identifiers": ["forty_two_watts"], "name": "FTW", "manufacturer": "Sourceful"}
        theirs = {
            "sensor/forty_two_watts/grid_w": {"name": "Grid Power", "unit_of_measurement": "W",
                                              "device_class": "power"},
            "sensor/forty_two_watts/pv_w": {"name": "PV Power", "unit_of_measurement": "W",
                                            "device_class": "power"},
            "sensor/forty_two_watts/price": {"name": "Electricity Price", "unit_of_measurement": "öre/kWh"},
            "select/forty_two_watts/mode": {"name": "Mode", "options": ["idle", "planner_self"],
                                            "command_topic": "forty_two_watts/cmd/mode"},
            "switch/forty_two_watts/battery_covers_ev": {
                "name": "Battery covers EV", "command_topic": "forty_two_watts/cmd/battery_covers_ev"}}
        for path, component in theirs.items():
            key = path.split("/")[-1]
            mqtt.publish(f"homeassistant/{path}/config", json.dumps({
                **component, "device": device, "unique_id": f"forty_two_watts_{key}",
                "state_topic": f"forty_two_watts/state/{key}"}), retain=True)
            mqtt.publish(f"forty_two_watts/state/{key}", {"mode": "idle", "battery_covers_ev": "ON"}.get(
                key, "12"), retain=True)
        wait_until("theirs to be there", lambda: len([
            u for u in self.ha.registry() if u.startswith("forty_two_watts")]) == len(theirs))
        self.bridge.restart()
        self.equal(60)
        registry = self.ha.registry()
        self.assertEqual(before, {u for u in registry if not u.startswith("forty_two_watts")})
        self.assertEqual(len(registry), len({e["entity_id"] for e in registry.values()}))
        self.assertEqual([], [e["entity_id"] for e in registry.values() if e["entity_id"].endswith("_2")])
        # What is theirs was left alone.
        self.assertEqual(2 * len(theirs), len([t for t in mqtt.retained() if "forty_two_watts" in t]))
