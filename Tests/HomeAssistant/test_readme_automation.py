"""The automation in the README, as a reader copies it, through the edges of a cheap hour."""
from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from typing import Any, ClassVar

import yaml

from support import Demo, counts, wait_until
from support.shipped import SHIPPED, blueprints, readme_block, readme_order, shipped_files
from support.shipping import CAR, ShippedCase

CHEAP = "binary_sensor.ftw_home_cheap_now"


class ReadmeAutomationTests(ShippedCase):
    """Charge now while cheap, tell me if refused, back to the plan when dear."""

    cost = 140
    demo: ClassVar[Demo]
    day: ClassVar[int] = 23

    @classmethod
    def arrange(cls) -> None:
        # The house's clock runs ten times as fast: the test is about an hour's edges.
        cls.demo = cls.keep(Demo(cls.broker, start="2026-11-23T10:00:00+01:00", speed=10))
        cls.ready()

    def setUp(self) -> None:
        """A new day of which only the hour from twelve is cheap, a minute before that."""
        super().setUp()
        type(self).day += 1
        self.clock("11:58:00")
        self.demo("prices today " + " ".join("5" if hour == 12 else "200" for hour in range(24)))
        self.demo("car situation car_live 40")
        self.demo("box restart")
        self.ha.wait_for("sensor.ftw_home_price", lambda s: s["state"] not in ("unknown", "unavailable")
                         and float(s["state"]) > 2, 60)
        self.ha.wait_for(CHEAP, "off", 60)
        self.ha.wait_for(f"sensor.{CAR}_control", "plan", 60)
        self.ha.wait_for(f"binary_sensor.{CAR}_plugged_in", "on", 60)
        self.ha.wait_for(f"switch.{CAR}_switch", "off", 60)
        self.ha.automation("readme", yaml.safe_load(readme_block("Automations")))
        self.addCleanup(self.ha.remove_automation, "readme")
        self.demo("log clear")

    def clock(self, time: str) -> None:
        self.demo(f"clock 2026-11-{self.day}T{time}+01:00")

    def box_has(self, what: str, fits: Callable[[dict[str, Any]], Any], hour: int) -> None:
        """Waits for it, and looks when the box was told: within the first minute of that hour."""
        wait_until(what, lambda: fits(self.demo.car()), 60, 0.1, told=self.demo.car)
        told = datetime.datetime.fromisoformat(self.demo.state()["commands"][-1]["at"])
        self.assertEqual((self.day, hour, 0), (told.day, told.hour, told.minute))
        counts["effects seen in the house"] += 1

    def nearly_dear(self) -> None:
        """A minute before one, with the automation's charge under way.

        The clock leaps over what the bridge would have renewed meanwhile, so the same is ordered again.
        """
        self.clock("12:59:00")
        self.ha.wait_for(f"sensor.{CAR}_control", "plan", 60)
        self.demo("log clear")
        order = readme_order()
        self.broker.mqtt.publish(order["topic"], order["payload"])
        self.ha.wait_for(f"sensor.{CAR}_control", lambda s: s["state"] == "charge_now"
                         and s["attributes"].get("asked_by") == "cheap hours", 60)

    def test_it_charges_while_it_is_cheap_and_not_longer(self) -> None:
        self.box_has("charge now", lambda c: c["hold"] and c["hold"]["power_w"] >= 4140, 12)
        self.ha.wait_for(f"switch.{CAR}_switch", "on")
        self.assertEqual(1, len(self.demo.state()["commands"]))
        self.nearly_dear()
        self.box_has("the plan again", lambda c: c["hold"] is None, 13)
        self.ha.wait_for(CHEAP, "off")
        self.assertEqual(2, len(self.demo.state()["commands"]))
        self.assertIsNone(self.notification("ftw_refused"))

    def test_it_ends_by_itself_though_nobody_ends_it(self) -> None:
        """The box holds for half an hour at most, and the bridge renews that until the order's end."""
        self.box_has("charge now", lambda c: c["hold"] and c["hold"]["power_w"] >= 4140, 12)
        hold = self.demo.car()["hold"]
        began, ends = (datetime.datetime.fromisoformat(hold[key]) for key in ("started_at", "expires_at"))
        self.assertLessEqual(ends - began, datetime.timedelta(minutes=30))
        self.ha.wait_for(f"sensor.{CAR}_control", lambda s: s["attributes"].get("until"))
        until = datetime.datetime.fromisoformat(self.ha.attributes(f"sensor.{CAR}_control")["until"])
        self.assertAlmostEqual(6, (until - began) / datetime.timedelta(hours=1), 1)

    def test_it_ends_although_home_assistant_slept_over_the_end(self) -> None:
        self.box_has("charge now", lambda c: c["hold"] and c["hold"]["power_w"] >= 4140, 12)
        self.ha.wait_for(f"sensor.{CAR}_control", "charge_now")
        self.nearly_dear()
        self.ha.down()
        self.broker.mqtt.wait_text("ftw/home/price/cheap_now", "OFF", 60)
        self.assertIsNotNone(self.demo.car()["hold"])
        self.ha.start()
        wait_until("the plan again", lambda: self.demo.car()["hold"] is None, 60, 0.1, told=self.demo.car)
        counts["effects seen in the house"] += 1
        self.ha.wait_for(CHEAP, "off", 60)
        # Either of the two triggers may be the first, and the other may find the charge still there.
        order, *ends = self.demo.state()["commands"]
        self.assertGreater(order["args"]["power_w"], 0)
        self.assertIn(len(ends), (1, 2))
        self.assertEqual({True}, {end["args"].get("clear") for end in ends})

    def test_a_charge_of_ones_own_goes_on(self) -> None:
        # Not by the switch: right after the clock leapt it may be unavailable for a moment.
        self.broker.mqtt.publish("ftw/home/car/garage/control/set", "charge_now")
        self.ha.wait_for(f"sensor.{CAR}_control", lambda s: s["state"] == "charge_now"
                         and s["attributes"].get("asked_by") == "bridge", 40)
        self.demo("log clear")
        self.ha.wait_for(CHEAP, "on", 60)
        self.clock("12:59:00")
        self.ha.wait_for(CHEAP, "off", 60)
        self.assertEqual([], self.demo.state()["commands"])
        self.assertIsNotNone(self.demo.car()["hold"])
        self.demo("phone hold release")

    def test_a_refusal_is_told(self) -> None:
        self.demo("next refused_at_execution E_PRECONDITION")
        self.ha.wait_for(CHEAP, "on", 60)
        told = self.wait_notification("ftw_refused")
        self.assertEqual("Not done: it does not fit what the box is doing now.", told["message"])
        self.assertIsNone(self.demo.car()["hold"])
        self.dismiss("ftw_refused")

    def test_a_pause_stays_a_pause(self) -> None:
        self.demo("phone hold pause")
        self.ha.wait_for(f"sensor.{CAR}_control", "paused", 40)
        self.demo("log clear")
        self.ha.wait_for(CHEAP, "on", 60)
        self.clock("12:59:00")
        self.ha.wait_for(CHEAP, "off", 60)
        self.assertEqual([], self.demo.state()["commands"])
        self.assertEqual(0, self.demo.car()["hold"]["power_w"])

    def test_what_is_to_be_copied_is_there(self) -> None:
        """The commands in the folder's README name what lies beside it."""
        tops = {path.split("/")[0] for path in shipped_files()}
        for name, heading in [("README.md", "Copy it"), ("README.sv.md", "Kopiera")]:
            with self.subTest(name):
                command = readme_block(heading, "sh", SHIPPED / name).split()
                self.assertEqual(tops, set(command[2:-1]))
                self.assertIn("packages: !include_dir_named packages",
                              readme_block(heading, "yaml", SHIPPED / name))
                there = {path.name for path in blueprints()}
                said = set(re.findall(r"^\| `([a-z_.]+)` \|", (SHIPPED / name).read_text(), re.MULTILINE))
                self.assertEqual({p for p in there if p.endswith(".sv.yaml") == name.endswith(".sv.md")},
                                 {f"{word}.yaml" for word in said})
