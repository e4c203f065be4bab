"""What becomes unavailable, by cause: exactly what depends on it, and nothing else."""
from __future__ import annotations

from support import HouseCase, Picture, announced, wait_until


class AvailabilityTests(HouseCase):
    """One cause after the other, each ended before the next."""

    cost = 90

    def setUp(self) -> None:
        """Each test begins with everything there, also after one that failed."""
        super().setUp()
        for name in ("roof-pv", "house-battery", "garage-charger"):
            self.house(f"source {name} live")
        self.house("meter restore")
        self.house("car situation car_live 60")
        self.all_back()

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
        # A charger that is silent leaves nobody who knows whether a car is plugged in.
        for source, *roles in [("roof-pv", "solar"), ("house-battery", "battery"),
                               ("garage-charger", "charger", "plugged")]:
            with self.subTest(source):
                self.house(f"source {source} down")
                self.assert_unavailable(self.picture.needing(*roles))
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
    """What a house lacks is not there or unknown, and never zero."""

    cost = 40

    def test_a_house_that_loses_its_battery(self) -> None:
        before = self.ha.moment
        self.house("battery remove")
        keys = tuple(sorted(key for key in self.keys() if "battery" in key))
        bare = Picture(without=keys, lacks=("battery",))
        gone = set(self.picture.rows) - set(bare.rows)
        wait_until("its entities to go", lambda: not gone & set(self.ha.states()), 60,
                   told=lambda: sorted(gone & set(self.ha.states())))
        wait_until("everything else to be there", lambda: not bare.unavailable(
            self.broker.mqtt.retained("ftw/home/#")), 45)
        bare.wait_equal(self.ha, self.broker.mqtt, 45)
        self.assertEqual([], [c.entity_id for c in self.ha.history(since=before)
                              if c.entity_id == "sensor.ftw_home_battery_level" and c.word == "0"])

    def test_a_box_that_loses_its_prices(self) -> None:
        before = self.ha.moment
        self.house("prices none")
        self.house("box restart")
        self.bridge.wait_live()
        # Published prices hold while the box has none.
        self.equal()
        prices = {"sensor.ftw_home_price", "sensor.ftw_home_price_next"}
        self.assertEqual([], [c for c in self.ha.history(since=before)
                              if c.entity_id in prices and c.word in ("0", "0.0")])

    def keys(self) -> set[str]:
        return {row.key for row, prefix in self.picture.rows.values() if not prefix}


class PricelessHouseTests(HouseCase):
    """A box that never had prices."""

    cost = 20

    @classmethod
    def prepare(cls) -> None:
        cls.house("prices none")
        keys = {row.key for row, prefix in Picture().rows.values() if not prefix
                and row.topic.startswith("price/")}
        cls.picture = Picture(without=tuple(keys))

    def test_has_no_price_entities_until_there_are_prices(self) -> None:
        self.assertEqual(set(self.picture.rows), {a.entity_id for a in announced(self.broker.mqtt)})
        self.house("prices known")
        self.house("box restart")
        whole = Picture()
        wait_until("the prices to be announced", lambda: set(whole.rows) == {
            a.entity_id for a in announced(self.broker.mqtt)}, 60)
        whole.wait_equal(self.ha, self.broker.mqtt, 45)
        self.assertGreater(float(self.ha.state("sensor.ftw_home_price") or 0), 0)
