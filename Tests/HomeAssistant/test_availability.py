"""What becomes unavailable, by cause: exactly what depends on it, and nothing else."""
from __future__ import annotations

from typing import ClassVar

from support import Bridge, HomeAssistantCase, House, Message, Picture, wait_until

SITE_BATTERY = {f"sensor.ftw_home_{key}" for key in (
    "battery_level", "battery_power", "battery_charge_power", "battery_discharge_power")}


class HouseCase(HomeAssistantCase):
    """A house, and a bridge paired with it as people do."""

    house: ClassVar[House]
    bridge: ClassVar[Bridge]
    picture: ClassVar[Picture]

    @classmethod
    def arrange(cls) -> None:
        cls.house = cls.keep(House(cls.broker))
        cls.house("car situation car_live 60")
        cls.bridge = Bridge(cls.broker, {"home": cls.house}, settings={"car": {"read_interval": "15s"}})
        cls.bridge.pair_all()
        cls.keep(cls.bridge)
        cls.picture = Picture()
        cls.equal()

    @classmethod
    def equal(cls, timeout: float = 45) -> dict[str, Message]:
        """Waits until every entity is what its document says."""
        return cls.picture.wait_equal(cls.ha, cls.broker.mqtt, timeout)

    def assert_unavailable(self, expected: set[str]) -> None:
        """Exactly these, by the documents and in Home Assistant."""
        def look() -> bool:
            retained = self.broker.mqtt.retained("ftw/home/#")
            return self.picture.unavailable(retained) == expected and not self.picture.differences(
                self.ha.fresh_states(), retained)

        def told() -> str:
            retained = self.broker.mqtt.retained("ftw/home/#")
            by_documents = self.picture.unavailable(retained)
            there = {e for e, s in self.ha.fresh_states().items()
                     if e in self.picture.rows and s["state"] == "unavailable"}
            return (f"too many {sorted(by_documents - expected)}, missing {sorted(expected - by_documents)}; "
                    f"Home Assistant too many {sorted(there - expected)}, "
                    f"missing {sorted(expected - there)}")

        wait_until("exactly the expected entities to be unavailable", look, 45, 0.3, told=told)

    def all_back(self) -> None:
        self.assert_unavailable(set())


class AvailabilityTests(HouseCase):
    """One cause after the other, each ended before the next."""

    cost = 90

    def test_a_killed_bridge_takes_everything_along_until_it_is_back(self) -> None:
        self.bridge.kill()
        self.assert_unavailable(set(self.picture.rows))
        self.bridge.start()
        self.all_back()

    def test_a_box_that_is_away_leaves_what_needs_only_the_bridge(self) -> None:
        self.house("box away")
        self.assert_unavailable(self.picture.needing("box"))
        self.assertEqual("off", self.ha.state("binary_sensor.ftw_home_box_connected"))
        self.assertNotEqual("live", self.ha.state("sensor.ftw_home_box_link"))
        self.house("box back")
        self.all_back()

    def test_a_source_that_is_down_takes_only_its_own_values(self) -> None:
        for source, role in [("roof-pv", "solar"), ("house-battery", "battery"),
                             ("garage-charger", "charger")]:
            with self.subTest(source):
                self.house(f"source {source} down")
                self.assert_unavailable(self.picture.needing(role))
                self.house(f"source {source} live")
                self.all_back()

    def test_a_stale_source_is_as_good_as_none(self) -> None:
        self.house("source roof-pv stale")
        self.assert_unavailable(self.picture.needing("solar"))
        self.house("source roof-pv live")
        self.all_back()

    def test_a_lost_meter_takes_grid_and_house_and_blocks_the_box(self) -> None:
        self.house("meter lose")
        self.assert_unavailable(self.picture.needing("meter"))
        self.ha.wait_for("binary_sensor.ftw_home_in_control", "off")
        self.house("meter restore")
        self.all_back()
        self.ha.wait_for("binary_sensor.ftw_home_in_control", "on")

    def test_a_viewer_has_no_controls(self) -> None:
        self.house("role viewer")
        self.house("box restart")
        self.assert_unavailable(self.picture.needing("commands"))
        self.house("role owner")
        self.house("box restart")
        self.all_back()

    def test_without_a_car_there_is_nothing_to_charge(self) -> None:
        """The goal and the way back to the plan need no car."""
        self.house("car unplug")
        self.assert_unavailable(self.picture.needing("plugged"))
        self.assertEqual("off", self.ha.state("binary_sensor.ftw_home_car_garage_plugged_in"))
        self.house("car situation car_live 60")
        self.all_back()


class BareHouseTests(HouseCase):
    """A house whose box lost things: what is missing is unknown, and never zero."""

    cost = 60

    def test_a_house_without_its_battery(self) -> None:
        before = self.ha.moment
        mark = len(SITE_BATTERY)
        self.house("battery remove")
        wait_until("the battery to be gone or unknown", lambda: all(
            self.ha.state(e) in (None, "unknown", "unavailable") for e in SITE_BATTERY), 60,
            told=lambda: {e: self.ha.state(e) for e in SITE_BATTERY})
        self.assertEqual(4, mark)
        said = [c for c in self.ha.history(since=before) if c.entity_id in SITE_BATTERY and c.word == "0"]
        self.assertEqual([], [c.entity_id for c in said if c.entity_id.endswith("level")])
        # What is not the battery's goes on.
        self.ha.wait_for("sensor.ftw_home_solar_power", lambda s: s["state"] not in ("unknown", "unavailable"))

    def test_a_box_without_prices(self) -> None:
        before = self.ha.moment
        self.house("prices none")
        self.house("box restart")
        prices = {"sensor.ftw_home_price", "sensor.ftw_home_price_next"}
        self.equal()
        zero = [c for c in self.ha.history(since=before) if c.entity_id in prices and c.word in ("0", "0.0")]
        self.assertEqual([], zero)
        self.house("prices known")
        self.house("box restart")
        self.equal()
