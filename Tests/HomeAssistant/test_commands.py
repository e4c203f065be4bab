"""What people do in Home Assistant, and what the box then holds."""
from __future__ import annotations

import itertools
from typing import Any

from support import HouseCase, Picture, counts, wait_until
from support.homeassistant import ServiceRefused

CAR = "ftw_home_car_garage"


class CommandTests(HouseCase):
    """Each command's effect is looked up in the house, and read back in Home Assistant."""

    cost = 60
    settings = {"car": {"read_interval": "15s"}, "commands": {"goal_consent": True}}

    def setUp(self) -> None:
        """Each test begins with the car at home, 60 % in it, and nobody having asked for anything."""
        super().setUp()
        self.house("car situation car_live 60")
        self.house("log clear")
        # Ten commands a minute is what a bridge takes; each test has its own ten.
        self.bridge.restart()
        self.all_back()
        self.ha.wait_for(f"switch.{CAR}_switch", "off")
        self.ha.wait_for(f"sensor.{CAR}_level", "60")
        self.ha.wait_for(f"number.{CAR}_goal_choice", "80")

    def held(self, what: str, fits: Any) -> dict[str, Any]:
        """Waits until the box holds it."""
        counts["effects seen in the house"] += 1
        return self.house.wait_car(what, fits)

    def test_the_switch_charges_now_and_goes_back_to_the_plan(self) -> None:
        self.ha.call("switch.turn_on", f"switch.{CAR}_switch")
        self.held("an order to charge", lambda c: c["hold"] and c["hold"]["power_w"] > 0)
        self.ha.wait_for(f"switch.{CAR}_switch", "on")
        self.ha.wait_for(f"sensor.{CAR}_control", "charge_now")
        self.ha.call("switch.turn_off", f"switch.{CAR}_switch")
        self.held("no order", lambda c: c["hold"] is None)
        self.ha.wait_for(f"switch.{CAR}_switch", "off")

    def test_the_select_pauses_and_takes_it_back(self) -> None:
        select = f"select.{CAR}_control_choice"
        for option, control, fits in [
                ("Paused", "paused", lambda c: c["hold"] and c["hold"]["power_w"] == 0),
                ("Charge now", "charge_now", lambda c: c["hold"] and c["hold"]["power_w"] > 0),
                ("Plan", "plan", lambda c: c["hold"] is None)]:
            with self.subTest(option):
                self.ha.call("select.select_option", select, option=option)
                self.held(option, fits)
                self.ha.wait_for(select, option)
                self.ha.wait_for(f"sensor.{CAR}_control", control)

    def test_the_buttons(self) -> None:
        for button, control, fits in [
                ("pause", "paused", lambda c: c["hold"] and c["hold"]["power_w"] == 0),
                ("charge_now", "charge_now", lambda c: c["hold"] and c["hold"]["power_w"] > 0),
                ("back_to_plan", "plan", lambda c: c["hold"] is None)]:
            with self.subTest(button):
                self.ha.call("button.press", f"button.{CAR}_{button}")
                self.held(button, fits)
                self.ha.wait_for(f"sensor.{CAR}_control", control)

    def test_a_level_that_a_person_enters(self) -> None:
        self.house("car situation assumed")
        self.ha.wait_for(f"sensor.{CAR}_level_origin", "assumed")
        self.ha.call("number.set_value", f"number.{CAR}_level_choice", value=47)
        self.held("the level as entered",
                  lambda c: round(c["soc"] * 100) == 47 and c["anchor"] == "confirmed")
        self.ha.wait_for(f"sensor.{CAR}_level", "47")
        self.ha.wait_for(f"sensor.{CAR}_level_origin", "person")
        self.ha.wait_for(f"number.{CAR}_level_choice", "47")
        for button, level in [("level_up", 52), ("level_up", 57), ("level_down", 52)]:
            with self.subTest(button):
                self.ha.call("button.press", f"button.{CAR}_{button}")
                self.held(f"{level} %", lambda c, level=level: round(c["soc"] * 100) == level)
                self.ha.wait_for(f"sensor.{CAR}_level", str(level))

    def test_a_number_out_of_range_never_leaves_home_assistant(self) -> None:
        # What Home Assistant says of its own refusal.
        self.allow_log(r"websocket_api\S*\] .*is outside valid range")
        for entity, value in [("level_choice", 101), ("level_choice", -1), ("goal_choice", 0),
                              ("goal_choice", 101)]:
            with self.subTest(f"{entity} {value}"), self.assertRaises(ServiceRefused):
                self.ha.call("number.set_value", f"number.{CAR}_{entity}", value=value)
        self.assertEqual([], self.house.state()["commands"])

    def test_the_goal_s_level_time_and_days(self) -> None:
        self.ha.call("number.set_value", f"number.{CAR}_goal_choice", value=70)
        self.held("70 %", lambda c: round(c["schedule"]["soc"] * 100) == 70)
        self.ha.wait_for(f"number.{CAR}_goal_choice", "70")
        self.ha.call("time.set_value", f"time.{CAR}_goal_time", time="05:10:00")
        self.ha.wait_for(f"time.{CAR}_goal_time", "05:10:00")
        self.ha.call("text.set_value", f"text.{CAR}_goal_days", value="mon tue fri")
        self.ha.wait_for(f"text.{CAR}_goal_days", "mon tue fri")
        schedule = self.house.car()["schedule"]
        self.assertEqual(70, round(schedule["soc"] * 100))
        # Monday is bit 0, as the box counts (box-api: schedule.days).
        self.assertEqual(0b0010011, schedule["days"])
        self.assertTrue(schedule["recurring"])
        self.ha.call("text.set_value", f"text.{CAR}_goal_days", value="once")
        self.held("for once", lambda c: not c["schedule"]["recurring"])
        self.ha.wait_for(f"text.{CAR}_goal_days", "once")
        self.ha.call("button.press", f"button.{CAR}_goal_clear")
        self.held("no goal", lambda c: not c["schedule"] or not c["schedule"]["soc"])
        self.ha.wait_for(f"sensor.{CAR}_ready", "no_goal")

    def test_a_box_that_wants_consent_gets_none_by_itself(self) -> None:
        self.consent(False)
        self.addCleanup(self.consent, True)
        self.ha.call("number.set_value", f"number.{CAR}_goal_choice", value=75)
        told = self.ha.wait_for(f"event.{CAR}_command_result",
                                lambda s: s["attributes"].get("code") == "needs_consent")
        self.assertEqual("refused", told["attributes"]["event_type"])
        self.assertIn("goal_consent", told["attributes"]["text"])
        self.assertEqual(80, round(self.house.car()["schedule"]["soc"] * 100))
        self.assertEqual("80", self.ha.state(f"number.{CAR}_goal_choice"))
        self.consent(True)
        self.ha.call("number.set_value", f"number.{CAR}_goal_choice", value=75)
        self.held("75 %", lambda c: round(c["schedule"]["soc"] * 100) == 75)

    def consent(self, given: bool) -> None:
        """Changes the configuration of the running bridge."""
        if self.bridge.settings["commands"]["goal_consent"] == given:
            return
        self.bridge.settings = {**self.settings, "commands": {"goal_consent": given}}
        self.bridge.write()
        with self.broker.mqtt.watch("ftw/home/result") as results:
            self.broker.mqtt.publish("ftw/home/bridge/request/reload", "{}")
            results.wait("the new configuration", lambda m: m.document["final"])
        # The site begins again with it.
        self.ha.wait_for(f"number.{CAR}_goal_choice", "unavailable")
        self.ha.wait_for(f"number.{CAR}_goal_choice", lambda s: s["state"] != "unavailable")

    def test_spare_sun_only_and_the_home_battery_s_help(self) -> None:
        for entity, member in [("surplus_only", "surplus_only"), ("boost", "boost")]:
            with self.subTest(entity):
                self.ha.call("switch.turn_on", f"switch.{CAR}_{entity}_choice")
                self.held(f"{entity} on", lambda c, member=member: c[member])
                self.ha.wait_for(f"switch.{CAR}_{entity}_choice", "on")
                self.ha.wait_for(f"binary_sensor.{CAR}_{entity}", "on")
                self.ha.call("switch.turn_off", f"switch.{CAR}_{entity}_choice")
                self.held(f"{entity} off", lambda c, member=member: not c[member])
                self.ha.wait_for(f"switch.{CAR}_{entity}_choice", "off")

    def test_the_site_s_mode(self) -> None:
        select = "select.ftw_home_mode_choice"
        self.ha.call("select.select_option", select, option="Stop batteries")
        wait_until("the box's mode", lambda: self.house.state()["mode"] == "idle")
        self.ha.wait_for(select, "Stop batteries")
        self.ha.call("select.select_option", select, option="Passive arbitrage")
        wait_until("the box's mode", lambda: self.house.state()["mode"] == "planner_passive_arbitrage")
        self.ha.wait_for(select, "Passive arbitrage")

    def test_a_mode_that_nobody_has_heard_of_can_be_chosen(self) -> None:
        select = "select.ftw_home_mode_choice"
        self.house("mode add siesta Siesta")
        self.house("box restart")
        self.ha.wait_for(select, lambda s: "Siesta" in s["attributes"].get("options", []), 60)
        self.ha.wait_for(select, lambda s: s["state"] != "unavailable")
        self.ha.call("select.select_option", select, option="Siesta")
        wait_until("the box's mode", lambda: self.house.state()["mode"] == "siesta")
        self.ha.wait_for(select, "Siesta")
        self.ha.wait_for("sensor.ftw_home_mode", "Siesta")
        self.house("mode set planner_passive_arbitrage")
        self.house("mode remove siesta")
        self.house("box restart")
        self.ha.wait_for(select, lambda s: "Siesta" not in s["attributes"].get("options", ["Siesta"]), 60)

    def test_a_refusal_is_told_and_the_state_stays(self) -> None:
        event = f"event.{CAR}_command_result"
        self.house("next refused_at_execution E_PRECONDITION")
        before = self.ha.moment
        self.ha.call("switch.turn_on", f"switch.{CAR}_switch")
        told = self.ha.wait_for(event, lambda s: s["attributes"].get("event_type") == "refused")
        self.assertTrue(told["attributes"]["code"])
        self.assertTrue(told["attributes"]["text"])
        self.assertEqual("E_PRECONDITION", told["attributes"]["box_code"])
        last = self.broker.mqtt.wait_document("ftw/home/car/garage/last_command",
                                              lambda d: d["stage"] == "refused")
        self.assertEqual(told["attributes"]["id"], last["id"])
        self.assertIsNone(self.house.car()["hold"])
        words = {c.word for c in self.ha.history(f"switch.{CAR}_switch", before)}
        self.assertEqual(set(), words, "the switch moved although nothing was done")

    def test_a_repeated_id_fires_no_second_event(self) -> None:
        """Automations that wait for the outcome of a command must not run twice for one."""
        event, control = f"event.{CAR}_command_result", "ftw/home/car/garage/control/set"
        before = self.ha.moment
        self.broker.mqtt.publish(control, {"id": "said-twice", "value": "pause"})
        self.ha.wait_for(event, lambda s: s["attributes"].get("id") == "said-twice")
        with self.broker.mqtt.watch("ftw/home/result") as results:
            self.broker.mqtt.publish(control, {"id": "said-twice", "value": "pause"})
            results.wait("the same end again", lambda m: m.document["repeated"] and m.document["final"])
        self.broker.mqtt.publish(control, {"id": "said-once", "value": "plan"})
        self.ha.wait_for(event, lambda s: s["attributes"].get("id") == "said-once")
        fired = {c.word for c in self.ha.history(event, before)} - {"unknown", "unavailable"}
        self.assertEqual(2, len(fired), fired)

    def test_the_state_is_what_the_box_confirmed_and_changes_once(self) -> None:
        """No optimistic jump, and none back while readings tick in between."""
        before = self.ha.moment
        self.ha.call("switch.turn_on", f"switch.{CAR}_switch")
        self.ha.wait_for(f"switch.{CAR}_switch", "on")
        start = self.ha.moment
        self.ha.wait_states("readings to move on", lambda states: [
            c for c in self.ha.history("sensor.ftw_home_grid_power", start)], 40)
        self.assertEqual(["on"], [c.word for c in self.ha.history(f"switch.{CAR}_switch", before)])
        # Who asked, and since when, may follow as attributes.
        self.assertEqual(["charge_now"], [word for word, _ in itertools.groupby(
            c.word for c in self.ha.history(f"sensor.{CAR}_control", before))])

    def test_what_the_box_never_settles_is_never_shown_as_done(self) -> None:
        self.house("swallow commands on")
        self.addCleanup(self.house, "swallow commands off")
        before = self.ha.moment
        self.ha.call("switch.turn_on", f"switch.{CAR}_switch")
        told = self.ha.wait_for(f"event.{CAR}_command_result", lambda s: s["attributes"].get(
            "event_type") in ("not_delivered", "unconfirmed"))
        self.assertTrue(told["attributes"]["text"])
        self.assertEqual([], [c.word for c in self.ha.history(f"switch.{CAR}_switch", before)])

    def test_what_another_app_does_is_shown_too(self) -> None:
        self.house("phone hold pause")
        self.ha.wait_for(f"sensor.{CAR}_control", "paused", 40)
        self.house("car situation assumed")
        self.ha.wait_for(f"sensor.{CAR}_level_origin", "assumed", 40)
        self.house("phone level 33")
        self.ha.wait_for(f"sensor.{CAR}_level", "33", 40)
        self.house("phone goal 90 06:30")
        self.ha.wait_for(f"number.{CAR}_goal_choice", "90", 40)
        self.ha.wait_for(f"time.{CAR}_goal_time", "06:30:00")

    def test_limits_of_what_the_box_may_say(self) -> None:
        """Edges, and what lies beyond a control's range, leave no line in the log."""
        self.house("car situation assumed")
        for level in (0, 100):
            self.house(f"phone level {level}")
            self.ha.wait_for(f"sensor.{CAR}_level", str(level), 40)
        self.house("phone goal 1 00:00")
        self.ha.wait_for(f"number.{CAR}_goal_choice", "1", 40)
        self.house("phone goal 100 23:59")
        self.ha.wait_for(f"number.{CAR}_goal_choice", "100", 40)
        self.ha.wait_for(f"time.{CAR}_goal_time", "23:59:00")


class SpokenSwitchTests(HouseCase):
    """A Home Assistant in which nobody ever exposed or named anything."""

    # Of its own, so that it is new.
    options = {"currency": "SEK", "country": "SE", "zone": "Europe/Stockholm"}
    cost = 30

    def test_the_car_s_switch_answers_to_its_name_in_both_languages(self) -> None:
        switch = f"switch.{CAR}_switch"
        for sentence, language, word in [
                ("turn on car charging", "en", "on"), ("turn off car charging", "en", "off"),
                ("turn on the car charging", "en", "on"), ("switch off car charging", "en", "off")]:
            with self.subTest(sentence):
                answer = self.ha.say(sentence, language)
                self.assertEqual("action_done", answer["kind"], answer)
                self.house.wait_car(sentence, lambda c, word=word: bool(c["hold"]) == (word == "on"))
                self.ha.wait_for(switch, word)

    def test_in_swedish(self) -> None:
        self.speak("sv", "Billaddningen")
        self.addCleanup(self.speak, "en", "Car charging")
        switch = f"switch.{CAR}_switch"
        for sentence, word in [("slå på billaddningen", "on"), ("stäng av billaddningen", "off"),
                               ("sätt på billaddningen", "on"), ("slå av billaddningen", "off")]:
            with self.subTest(sentence):
                answer = self.ha.say(sentence, "sv")
                self.assertEqual("action_done", answer["kind"], answer)
                self.house.wait_car(sentence, lambda c, word=word: bool(c["hold"]) == (word == "on"))
                self.ha.wait_for(switch, word)

    def speak(self, language: str, name: str) -> None:
        """Lets the bridge name things in that language."""
        type(self).picture = Picture(language=language)
        self.bridge.language = language
        self.bridge.write()
        self.bridge.restart()
        self.all_back()
        self.ha.wait_for(f"switch.{CAR}_switch", lambda s: s["attributes"]["friendly_name"] == name)
        self.ha.wait_for(f"switch.{CAR}_switch", "off")
