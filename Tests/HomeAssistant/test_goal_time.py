"""A wall-clock time stays one: whatever zones Home Assistant, bridge and house have."""
from __future__ import annotations

import datetime

from support import Demo, HomeAssistantCase, counts, wait_until

TIME = "time.ftw_home_car_garage_goal_time"
LOCAL = 5 * 60 + 10
"""05:10 in minutes."""


class GoalTimeTests(HomeAssistantCase):
    """05:10 is typed in Home Assistant; the house lies in Stockholm."""

    cost = 55

    def test_ten_past_five_is_the_household_s(self) -> None:
        for start, offset in [("2026-07-01T12:00:00+02:00", 2), ("2026-01-15T12:00:00+01:00", 1)]:
            for zone in ("Europe/Stockholm", "Europe/London", "America/New_York"):
                with self.subTest(start=start, zone=zone):
                    self._typed(start, offset, zone)
        self.ha.set_core(time_zone="UTC")

    def _typed(self, start: str, offset: int, zone: str) -> None:
        self.ha.set_core(time_zone=zone)
        demo = Demo(self.broker, start=start, variables={"TZ": zone})
        demo.start()
        try:
            for vintage, local in [("late", LOCAL), ("soc", None)]:
                with self.subTest(vintage=vintage):
                    self._held(demo, vintage, local, offset)
            counts["zones"] += 1
        finally:
            demo.stop()
            self.broker.mqtt.clear()
            self.ha.wait_empty()

    def _held(self, demo: Demo, vintage: str, local: int | None, offset: int) -> None:
        """`local`: what a box of that age keeps beside the minute in UTC."""
        demo(f"box vintage {vintage}")
        demo("box consent off")
        self.ha.wait_for("sensor.ftw_home_box_version", {"late": "v2.6.0", "soc": "v2.4.0"}[vintage])
        demo("phone goal 80 06:45")
        self.ha.wait_for(TIME, "06:45:00", 45)
        self.ha.call("time.set_value", TIME, time="05:10:00")
        wanted = LOCAL - 60 * offset
        wait_until("the box to hold it", lambda: demo.car()["schedule"]["time_of_day_min_utc"] == wanted,
                   told=lambda: demo.car()["schedule"])
        self.assertEqual(local, demo.car()["schedule"]["time_of_day_min"])
        self.ha.wait_for(TIME, "05:10:00")
        goal = self.broker.mqtt.wait_document("ftw/home/car/garage/goal", lambda d: d["by"] == "05:10")
        self.assertEqual("Europe/Stockholm", goal["zone"])
        deadline = datetime.datetime.fromisoformat(goal["next_deadline"])
        self.assertEqual((5, 10, datetime.timedelta(hours=offset)),
                         (deadline.hour, deadline.minute, deadline.utcoffset()))
        shown = self.ha.wait_for("sensor.ftw_home_car_garage_goal_deadline", lambda s: s["state"][:2] == "20")
        self.assertEqual(deadline, datetime.datetime.fromisoformat(shown["state"]))
        counts["effects seen in the house"] += 1
