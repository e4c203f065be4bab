"""Entities stay who they are, and go when what they show is gone."""
from __future__ import annotations

from typing import Any

from support import HouseCase, Picture, announced, wait_until


class IdentityTests(HouseCase):
    """Name, language and base topic change; ids do not."""

    cost = 60

    def ids(self) -> dict[str, str]:
        return {unique: entry["entity_id"] for unique, entry in self.ha.registry().items()}

    def changed(self, what: str, **settings: Any) -> None:
        """Restarts the bridge with something else in its configuration; every id must stay."""
        before = self.ids()
        for name, value in settings.items():
            setattr(self.bridge, name, value)
        self.bridge.write()
        self.bridge.restart()
        self.picture = Picture(base=self.bridge.base, language=self.bridge.language)
        self.equal_now()
        self.assertEqual(before, self.ids(), what)
        self.assertEqual([], [e for e in self.ids().values() if e.endswith("_2")])

    def equal_now(self) -> None:
        retained = self.picture.wait_equal(self.ha, self.broker.mqtt, 45)
        self.assertEqual(set(), self.picture.unavailable(retained))

    def test_a_site_that_is_renamed(self) -> None:
        self.changed("name", names={"home": "Villa Älvdalen, \"Norr\""})
        self.ha.wait_for("sensor.ftw_home_grid_power", lambda s: s["attributes"]["friendly_name"]
                         == 'Villa Älvdalen, "Norr" Grid power')
        self.changed("name", names={})

    def test_another_language(self) -> None:
        self.changed("language", language="sv")
        for entity, name in [("sensor.ftw_home_grid_power", "Home Näteffekt"),
                             ("switch.ftw_home_car_garage_switch", "Billaddningen"),
                             ("sensor.ftw_home_car_garage_level", "Billaddningen Nivå"),
                             ("sensor.ftw_home_battery_level", "Hemmabatteri Nivå")]:
            self.ha.wait_for(entity, lambda s, name=name: s["attributes"]["friendly_name"] == name)
        self.changed("language", language="en")
        self.ha.wait_for("switch.ftw_home_car_garage_switch",
                         lambda s: s["attributes"]["friendly_name"] == "Car charging")

    def test_another_base_topic(self) -> None:
        self.changed("base topic", base="hus/energi")
        self.assertEqual({}, self.broker.mqtt.retained("ftw/#"), "what was under the old base topic stays")
        self.changed("base topic", base="ftw")
        self.assertEqual({}, self.broker.mqtt.retained("hus/#"))


class RemovalTests(HouseCase):
    """What is gone from the house goes from Home Assistant, and nothing else."""

    cost = 60

    def test_a_second_charging_point_comes_and_goes(self) -> None:
        before = set(self.ha.states())
        self.house("car situation two_chargers")
        self.ha.wait_for("switch.ftw_home_car_carport_switch", lambda s: True, 60)
        both = Picture(loadpoints=("garage", "carport"))
        wait_until("both cars to be announced", lambda: set(both.rows) <= {
            a.entity_id for a in announced(self.broker.mqtt)}, 30)
        # A new process of the same house has only the first.
        self.house.restart()
        self.house("car situation car_live 60")
        self.bridge.wait_live()
        wait_until("the second car to go", lambda: not self.ha.states("switch.ftw_home_car_carport"), 90,
                   told=lambda: sorted(self.ha.states("switch.")))
        self.equal(60)
        wait_until("no entity of it to be left", lambda: not [
            e for e in set(self.ha.states()) - before if "carport" in e], 30,
            told=lambda: sorted(set(self.ha.states()) - before))
        self.assertEqual([], [t for t in self.broker.mqtt.retained("ftw/#") if "carport" in t])

    def test_unpairing_takes_everything_along(self) -> None:
        self.bridge.stop()
        self.bridge.unpair()
        self.ha.wait_empty(60)
        self.assertEqual({}, self.broker.mqtt.retained("ftw/#"))
        self.assertEqual([], [t for t in self.broker.mqtt.retained("homeassistant/#") if "/config" in t])
        self.assertEqual([], self.ha.devices())
        # And paired again, everything has its old id.
        self.bridge.pair()
        self.bridge.start()
        self.equal(60)
