"""Each blueprint both ways: what it is for happens at the box or is told, and nothing else does."""
from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from typing import Any, ClassVar

import yaml

from support import counts, wait_until
from support.shipped import SHIPPED, blueprints, readme_block
from support.shipping import CAR, TOPIC, ShippedCase

SWITCH = f"switch.{CAR}_switch"
CONTROL = f"sensor.{CAR}_control"
CABLE = f"binary_sensor.{CAR}_plugged_in"
RESULT = f"event.{CAR}_command_result"

STAGE: dict[str, tuple[str, dict[str, Any]]] = {
    "cheap": ("binary_sensor", {}),
    "export": ("sensor", {"device_class": "power", "unit_of_measurement": "W"}),
    "solar": ("sensor", {"device_class": "power", "unit_of_measurement": "W"}),
    "price_level": ("sensor", {"state_class": "measurement"}),
    "ready": ("sensor", {
        "device_class": "enum", "options": ["on_track", "late", "no_goal", "on_hold", "replanning"]}),
    "words": ("sensor", {}),
    "keep": ("binary_sensor", {})}
"""What the tests of a blueprint set by hand: prices, sun and plans come when they come."""


def moment(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text)


class BlueprintCase(ShippedCase):
    """A house with a car, entities that a test can set, and automations made of blueprints."""

    language: ClassVar[str] = ""

    @classmethod
    def arrange(cls) -> None:
        super().arrange()
        for key, (platform, more) in STAGE.items():
            cls.broker.mqtt.publish(f"homeassistant/{platform}/stage/{key}/config", {
                "name": f"Stage {key}", "unique_id": f"stage_{key}", "state_topic": f"stage/{key}",
                "default_entity_id": f"{platform}.stage_{key}", **more}, retain=True)
            cls.ha.wait_for(cls.staged(key), "unknown")

    @staticmethod
    def staged(key: str) -> str:
        return f"{STAGE[key][0]}.stage_{key}"

    def stage(self, key: str, value: str, state: str | None = None) -> None:
        """Sets one of the stage's entities and waits until Home Assistant has it."""
        self.broker.mqtt.publish(f"stage/{key}", value, retain=True)
        expected = state or {"ON": "on", "OFF": "off", "None": "unknown"}.get(value, value)
        self.ha.wait_for(self.staged(key), expected)

    def setUp(self) -> None:
        super().setUp()
        for key, (platform, _) in STAGE.items():
            self.stage(key, "OFF" if platform == "binary_sensor" else {
                "ready": "on_track", "words": "It falls short."}.get(key, "0"))
        self.car("car_live 60")
        self.house("log clear")

    def car(self, situation: str) -> None:
        """A plugged-in car that follows the plan, as Home Assistant sees it too."""
        self.situation(situation)
        plugged = "off" if situation == "unplugged" else "on"
        self.ha.wait_for(CABLE, plugged)
        self.ha.wait_for(CONTROL, "plan")
        self.ha.wait_for(SWITCH, "off" if plugged == "on" else "unavailable")

    def mode(self, wish: str, state: str) -> None:
        """Somebody orders that with another app."""
        self.house(f"phone hold {wish}")
        if wish == "release":
            self.poke()
        self.house("log clear")
        self.ha.wait_for(CONTROL, state, 40)

    def automation(self, blueprint: str, **inputs: Any) -> str:
        """An automation as a person makes it of a blueprint; it is gone after the test."""
        # Home Assistant remembers what an automation of that name did: the other language's is another.
        name = f"{blueprint}{self.language.replace('.', '_')}_{self.id().rsplit('.', 1)[1]}"
        entity = self.ha.automation(name, {"alias": name, "use_blueprint": {
            "path": f"ftw-mqtt/{blueprint}{self.language}.yaml", "input": inputs}})

        def remove() -> None:
            self.ha.remove_automation(name)
            self.ha.wait_gone(entity)

        self.addCleanup(remove)
        return name

    def entity(self, name: str) -> str:
        """The entity of an automation."""
        return next(e for e, s in self.ha.states("automation.").items() if s["attributes"].get("id") == name)

    def runs(self, name: str) -> dict[str, dict[str, Any]]:
        return {t["run_id"]: t for t in self.ha.command("trace/list", domain="automation", item_id=name)}

    def ran(self, name: str, act: Callable[[], Any]) -> str:
        """Acts, waits until the automation looked at it to the end, and tells how that ended."""
        before = set(self.runs(name))
        act()

        def ended() -> dict[str, Any] | None:
            new = [t for run, t in self.runs(name).items() if run not in before]
            return new[-1] if new and all(t["state"] == "stopped" for t in new) else None

        return str(wait_until(f"{name} to have looked at it", ended, 40, 0.05)["script_execution"])

    def over(self, name: str, act: Callable[[], Any]) -> None:
        """Acts, and waits until the episode that was under way is over."""
        self.assertTrue(any(t["state"] == "running" for t in self.runs(name).values()))
        act()
        wait_until(f"{name} to be over", lambda: all(
            t["state"] == "stopped" for t in self.runs(name).values()), 40, 0.05)

    def still(self, name: str, act: Callable[[], Any], barrier: Callable[[], Any]) -> None:
        """Acts, and nothing is looked at: only what follows is."""
        before = set(self.runs(name))
        act()
        self.ran(name, barrier)
        self.assertEqual(1, len(set(self.runs(name)) - before), "something was triggered that should not be")

    def box_has(self, what: str, fits: Callable[[dict[str, Any]], Any]) -> None:
        self.house.wait_car(what, fits)
        counts["effects seen in the house"] += 1

    def box_untouched(self) -> None:
        self.assertEqual([], self.box_commands())


class ChargeWhenCheapTests(BlueprintCase):
    cost = 60

    def make(self, **more: Any) -> str:
        return self.automation(
            "charge_when_cheap", cheap=self.staged("cheap"), car=SWITCH, plugged_in=CABLE,
            charging_mode=CONTROL, level=f"sensor.{CAR}_level", **more)

    def test_begins_with_cheap_and_ends_with_it(self) -> None:
        name = self.make()
        self.room(2)
        self.assertEqual("finished", self.ran(name, lambda: self.stage("cheap", "ON")))
        self.box_has("charge now", lambda c: c["hold"] and c["hold"]["power_w"] >= 4140)
        self.ha.wait_for(SWITCH, "on")
        # It would end by itself: the box holds for half an hour, the bridge renews that for six hours.
        self.assertIsNotNone(self.house.car()["hold"]["expires_at"])
        state = self.ha.wait_for(CONTROL, lambda s: s["attributes"].get("until"))["attributes"]
        self.assertEqual("cheap hours", state["asked_by"])
        lasts = moment(state["until"]) - moment(state["since"])
        self.assertAlmostEqual(6, lasts / datetime.timedelta(hours=1), 1)
        # What goes on being cheap is no news: one command, not one a minute.
        self.broker.mqtt.publish("stage/cheap", "ON", retain=True)
        self.assertEqual("finished", self.ran(name, lambda: self.stage("cheap", "OFF")))
        self.box_has("the plan again", lambda c: c["hold"] is None)
        self.assertEqual(2, len(self.box_commands()))

    def begin(self, name: str) -> None:
        self.room(2)
        self.ran(name, lambda: self.stage("cheap", "ON"))
        self.ha.wait_for(CONTROL, lambda s: s["attributes"].get("asked_by") == "cheap hours")

    def test_ends_after_an_end_that_nobody_saw(self) -> None:
        name = self.make()
        self.begin(name)
        self.stage("cheap", "None")
        self.stage("cheap", "OFF")
        self.box_has("the plan again", lambda c: c["hold"] is None)

    def test_ends_when_it_becomes_known_who_asked(self) -> None:
        """After a restart "Cheap now" may be known before the charging mode is."""
        self.make()
        self.room(2)
        self.broker.mqtt.publish(f"{TOPIC}/control/set", {"value": "charge_now", "from": "cheap hours"})
        # The one may follow the other before anybody looks.
        self.box_has("charge now and the plan again", lambda c: c["hold"] is None
                     and [o["args"].get("clear", False) for o in self.box_commands()] == [False, True])

    def test_what_somebody_else_began_goes_on(self) -> None:
        name = self.make()
        self.room(2)
        self.ha.call("switch.turn_on", SWITCH)
        self.ha.wait_for(CONTROL, lambda s: s["attributes"].get("asked_by") == "bridge")
        self.house("log clear")
        for value in ("ON", "OFF", "None", "OFF"):
            self.stage("cheap", value)
        self.mode("charge", "charge_now")
        for value in ("ON", "OFF"):
            self.ran(name, lambda value=value: self.stage("cheap", value))
        self.box_untouched()

    def test_goes_on_if_that_is_wanted(self) -> None:
        name = self.make(give_back=False)
        self.begin(name)
        self.assertIsNone(self.ha.attributes(CONTROL)["until"])
        self.assertIsNone(self.house.car()["hold"]["expires_at"])
        self.house("log clear")
        self.ran(name, lambda: self.stage("cheap", "OFF"))
        self.box_untouched()

    def test_begins_when_the_car_comes_home_while_it_is_cheap(self) -> None:
        name = self.make()
        self.car("unplugged")
        self.stage("cheap", "ON")
        self.house("log clear")
        self.room()
        self.ran(name, lambda: (self.house("car plug"), self.ha.wait_for(CABLE, "on", 40)))
        self.box_has("charge now", lambda c: c["hold"] and c["hold"]["power_w"] >= 4140)

    def test_nothing_without_a_car(self) -> None:
        name = self.make()
        self.car("unplugged")
        self.house("log clear")
        self.ran(name, lambda: self.stage("cheap", "ON"))
        self.box_untouched()

    def test_a_pause_is_respected(self) -> None:
        name = self.make()
        self.mode("pause", "paused")
        for value in ("ON", "OFF"):
            self.ran(name, lambda value=value: self.stage("cheap", value))
        self.box_untouched()

    def test_a_charge_that_is_on_is_not_begun_again(self) -> None:
        name = self.make(give_back=False)
        self.mode("charge", "charge_now")
        for value in ("ON", "OFF"):
            self.ran(name, lambda value=value: self.stage("cheap", value))
        self.box_untouched()

    def test_full_enough_is_full_enough(self) -> None:
        name = self.make(full=60)
        self.ran(name, lambda: self.stage("cheap", "ON"))
        self.box_untouched()
        self.room()
        self.stage("cheap", "OFF")
        self.remake(full=65)
        self.house.wait_car("no order", lambda c: c["hold"] is None)
        self.ran(name, lambda: self.stage("cheap", "ON"))
        self.box_has("charge now", lambda c: c["hold"] and c["hold"]["power_w"] >= 4140)

    def remake(self, **more: Any) -> str:
        """The same automation with other inputs."""
        self.doCleanups()
        return self.make(**more)

    def test_what_becomes_known_is_no_news(self) -> None:
        """After a restart of Home Assistant the state comes back; nobody asked for anything then."""
        name = self.make(give_back=False)
        self.stage("cheap", "None")
        self.still(name, lambda: self.stage("cheap", "ON"), lambda: self.stage("cheap", "OFF"))
        self.box_untouched()


class GuideTests(BlueprintCase):
    """The automation of the guide to prices, as it stands there, for other entities."""

    cost = 15

    def test_the_water_heater_is_on_while_it_is_cheap(self) -> None:
        topic = "homeassistant/switch/stage/heater/config"
        self.broker.mqtt.publish(topic, {
            "name": "Stage heater", "unique_id": "stage_heater", "command_topic": "stage/heater/set",
            "default_entity_id": "switch.stage_heater"}, retain=True)
        self.addCleanup(self.broker.mqtt.publish, topic, "", True)
        heater = "switch.stage_heater"
        self.ha.wait_for(heater, "unknown")
        text = readme_block("An automation for cheap hours", file=SHIPPED / "energy.md")
        for written, staged in [("binary_sensor.ftw_home_cheap_now", self.staged("cheap")),
                                ("switch.water_heater", heater)]:
            self.assertIn(written, text)
            text = text.replace(written, staged)
        name = "guide"
        self.ha.automation(name, {"alias": name, **yaml.safe_load(text)})
        self.addCleanup(self.ha.remove_automation, name)
        self.ran(name, lambda: self.stage("cheap", "ON"))
        self.ha.wait_for(heater, "on")
        # A restart in a cheap hour is no news, and its end may be hidden by one.
        self.ha.call("switch.turn_off", heater)
        self.stage("cheap", "None")
        self.still(name, lambda: self.stage("cheap", "ON"), lambda: self.stage("cheap", "OFF"))
        self.ran(name, lambda: self.stage("cheap", "ON"))
        self.ha.wait_for(heater, "on")
        self.stage("cheap", "None")
        self.ran(name, lambda: self.stage("cheap", "OFF"))
        self.ha.wait_for(heater, "off")


class ChargeFromSunTests(BlueprintCase):
    cost = 30

    def make(self) -> str:
        return self.automation(
            "charge_from_sun", export_power=self.staged("export"), solar_power=self.staged("solar"),
            surplus_only=f"switch.{CAR}_surplus_only_choice", plugged_in=CABLE, charging_mode=CONTROL,
            ready=self.staged("ready"), patience={"seconds": 0})

    def setUp(self) -> None:
        super().setUp()
        self.stage("solar", "4000")
        self.ha.wait_for(f"switch.{CAR}_surplus_only_choice", "off")

    def begin(self, name: str) -> None:
        self.room(2)
        self.ran(name, lambda: self.stage("export", "2500"))
        self.box_has("spare sun only", lambda c: c["surplus_only"])
        self.ha.wait_for(f"switch.{CAR}_surplus_only_choice", "on")

    def test_begins_with_the_surplus_and_ends_with_the_sun(self) -> None:
        name = self.make()
        self.begin(name)
        # The car takes what was sold; that is no end of the sun.
        self.stage("export", "0")
        self.assertTrue(self.house.car()["surplus_only"])
        self.ran(name, lambda: self.stage("solar", "100"))
        self.box_has("the plan again", lambda c: not c["surplus_only"])
        self.assertEqual(2, len(self.box_commands()))

    def test_ends_when_the_car_would_not_be_ready(self) -> None:
        name = self.make()
        self.begin(name)
        self.ran(name, lambda: self.stage("ready", "late"))
        self.box_has("the plan again", lambda c: not c["surplus_only"])

    def test_ends_when_the_car_leaves(self) -> None:
        name = self.make()
        self.begin(name)
        self.ran(name, lambda: (self.house("car unplug"), self.ha.wait_for(CABLE, "off", 40)))
        self.box_has("the plan again", lambda c: not c["surplus_only"])

    def test_ends_when_the_car_left_while_nobody_looked(self) -> None:
        name = self.make()
        self.begin(name)
        self.bridge.stop()
        self.ha.wait_for(CABLE, "unavailable")
        self.house("car unplug")
        type(self).spent = 1
        self.ran(name, lambda: (self.bridge.start(), self.ha.wait_for(CABLE, "off", 40)))
        self.box_has("the plan again", lambda c: not c["surplus_only"])

    def test_nothing_while_somebody_pauses_or_the_car_is_late_or_away(self) -> None:
        name = self.make()
        self.stage("ready", "late")
        self.ran(name, lambda: self.stage("export", "2500"))
        self.box_untouched()
        self.stage("export", "0")
        self.stage("ready", "on_track")
        self.mode("pause", "paused")
        self.ran(name, lambda: self.stage("export", "2500"))
        self.box_untouched()
        self.stage("export", "0")
        self.mode("release", "plan")
        self.car("unplugged")
        self.house("log clear")
        self.ran(name, lambda: self.stage("export", "2500"))
        self.box_untouched()

    def test_too_little_is_not_enough(self) -> None:
        name = self.make()
        self.still(name, lambda: self.stage("export", "900"), lambda: self.stage("solar", "100"))
        self.box_untouched()


class BackToPlanTests(BlueprintCase):
    cost = 30

    def make(self, **more: Any) -> str:
        return self.automation("back_to_plan_when_dear", price_level=self.staged("price_level"), car=SWITCH,
                               charging_mode=CONTROL, **more)

    def setUp(self) -> None:
        super().setUp()
        self.stage("price_level", "3")

    def test_ends_charge_now_when_the_price_climbs(self) -> None:
        name = self.make()
        self.mode("charge", "charge_now")
        self.room()
        self.ran(name, lambda: self.stage("price_level", "7"))
        self.box_has("the plan again", lambda c: c["hold"] is None)
        self.assertEqual(1, len(self.box_commands()))

    def test_who_charges_at_a_dear_hour_on_purpose_is_left_alone(self) -> None:
        name = self.make()
        self.stage("price_level", "7")
        self.mode("charge", "charge_now")
        self.assertEqual("failed_conditions", self.ran(name, lambda: self.stage("price_level", "8")))
        self.assertEqual("failed_conditions", self.ran(name, lambda: self.stage("price_level", "2")))
        self.box_untouched()

    def test_what_becomes_known_is_no_news(self) -> None:
        name = self.make()
        self.mode("charge", "charge_now")
        self.stage("price_level", "None")
        self.still(name, lambda: self.stage("price_level", "7"), lambda: self.stage("price_level", "8"))
        self.box_untouched()

    def test_a_pause_is_never_ended(self) -> None:
        name = self.make()
        self.mode("pause", "paused")
        self.assertEqual("failed_conditions", self.ran(name, lambda: self.stage("price_level", "7")))
        self.box_untouched()

    def test_a_trip_of_today_comes_first(self) -> None:
        name = self.make(leave_alone=[self.staged("keep")])
        self.mode("charge", "charge_now")
        self.stage("keep", "ON")
        self.assertEqual("failed_conditions", self.ran(name, lambda: self.stage("price_level", "7")))
        self.box_untouched()
        self.stage("keep", "OFF")
        self.stage("price_level", "3")
        self.room()
        self.ran(name, lambda: self.stage("price_level", "6"))
        self.box_has("the plan again", lambda c: c["hold"] is None)


class TellTests(BlueprintCase):
    """What only tells: in Home Assistant's own messages, in the bridge's own words."""

    cost = 45

    def test_a_refused_command_is_told_in_the_bridge_s_words(self) -> None:
        name = self.automation("tell_when_refused", result=RESULT)
        self.house("next refused_at_execution E_PRECONDITION")
        self.room(2)
        self.ran(name, lambda: self.ha.call("switch.turn_on", SWITCH))
        told = self.wait_notification("ftw_command")
        self.assertEqual("Not done: it does not fit what the box is doing now.", told["message"])
        self.assertEqual(self.title("tell_when_refused"), told["title"])
        self.assertIsNone(self.house.car()["hold"])
        self.dismiss("ftw_command")
        # What is done is not told.
        self.assertEqual("failed_conditions", self.ran(name, lambda: self.ha.call("switch.turn_on", SWITCH)))
        self.box_has("charge now", lambda c: c["hold"])
        self.assertIsNone(self.notification("ftw_command"))
        self.assertEqual("failed_conditions", self.ran(name, self.poke))

    def test_an_old_refusal_is_not_told_again(self) -> None:
        """Home Assistant remembers the last event; when MQTT starts again it is no news."""
        name = self.automation("tell_when_refused", result=RESULT)
        self.house("next refused_at_execution E_PRECONDITION")
        self.room(2)
        self.ran(name, lambda: self.ha.call("switch.turn_on", SWITCH))
        self.wait_notification("ftw_command")
        self.dismiss("ftw_command")
        entry = self.ha.ha.mqtt_entry()["entry_id"]

        def start_again() -> None:
            self.assertEqual(200, self.ha.rest("POST", f"/api/config/config_entries/entry/{entry}/reload")[0])
            self.ready()
            self.ha.wait_for(RESULT, lambda s: s["attributes"].get("event_type") == "refused", 60)
            self.poke()

        self.ran(name, start_again)
        self.assertIsNone(self.notification("ftw_command"))
        # Nor when the bridge starts again, and tells how the last commands ended.
        type(self).spent = 9
        self.ran(name, self.poke)
        self.assertIsNone(self.notification("ftw_command"))

    def title(self, blueprint: str) -> str:
        path = next(p for p in blueprints() if p.name == f"{blueprint}{self.language}.yaml")
        match = re.search(r"^ +title: ([^\"{\n]+)$", path.read_text(), re.MULTILINE)
        assert match
        return match[1]

    def late(self) -> str:
        return self.automation("tell_when_not_ready", ready=self.staged("ready"), words=self.staged("words"),
                               patience={"seconds": 0})

    def test_late_is_told_once_until_it_was_put_right(self) -> None:
        name = self.late()
        self.stage("ready", "late")
        told = self.wait_notification("ftw_not_ready")
        self.assertEqual("It falls short.", told["message"])
        self.assertEqual(self.title("tell_when_not_ready"), told["title"])
        self.dismiss("ftw_not_ready")
        # A plan that is made anew says the same again; that is no news.
        self.stage("ready", "replanning")
        self.stage("ready", "late")
        self.stage("ready", "on_track")
        self.assertIsNone(self.notification("ftw_not_ready"))
        # Nor is it after a restart of the automations, when the state comes back.
        self.stage("ready", "late")
        self.wait_notification("ftw_not_ready")
        self.dismiss("ftw_not_ready")
        self.stage("ready", "None")
        self.ha.reload("automation")
        self.ha.wait_for(self.entity(name), "on")
        self.assertEqual("failed_conditions", self.ran(name, lambda: self.stage("ready", "late")))
        self.stage("ready", "on_track")
        self.assertIsNone(self.notification("ftw_not_ready"))
        self.stage("words", "It falls short again.")
        self.stage("ready", "late")
        self.assertEqual("It falls short again.", self.wait_notification("ftw_not_ready")["message"])
        self.dismiss("ftw_not_ready")
        self.stage("ready", "on_track")

    def test_late_is_not_told_when_there_are_no_words_or_it_is_not_late(self) -> None:
        name = self.late()
        self.stage("words", "None")
        self.assertEqual("failed_conditions", self.ran(name, lambda: self.stage("ready", "late")))
        self.stage("words", "It falls short.")
        self.stage("ready", "replanning")
        self.stage("ready", "no_goal")
        self.assertIsNone(self.notification("ftw_not_ready"))

    def test_the_real_plan_that_falls_short(self) -> None:
        self.automation("tell_when_not_ready", ready=f"sensor.{CAR}_ready", words=f"sensor.{CAR}_ready_text",
                        patience={"seconds": 1})
        self.situation("late 4000")
        told = self.wait_notification("ftw_not_ready")
        self.assertRegex(told["message"], r"^It falls short: about \d+ % by .*07:00 instead of 80 %\.$")
        self.dismiss("ftw_not_ready")
        self.situation("car_live 60")
        self.ha.wait_for(f"sensor.{CAR}_ready", "on_track")

    def asks(self) -> str:
        return self.automation(
            "ask_for_level", wanted=f"binary_sensor.{CAR}_needs_real_level", plugged_in=CABLE,
            words=f"sensor.{CAR}_level_text", level=f"number.{CAR}_level_choice", patience={"seconds": 1})

    def reply(self, name: str, text: str) -> None:
        entity = self.entity(name)
        self.assertEqual(200, self.ha.rest("POST", "/api/events/mobile_app_notification_action", {
            "action": f"FTW_LEVEL_{entity.removeprefix('automation.').upper()}", "reply_text": text})[0])

    def test_the_level_is_asked_for_and_the_answer_goes_to_the_box(self) -> None:
        name = self.asks()
        self.situation("assumed")
        told = self.wait_notification("ftw_level")
        self.assertRegex(told["message"], r"^FTW guesses \d+ %\. Enter the real level\.$")
        self.assertEqual(self.title("ask_for_level"), told["title"])
        self.dismiss("ftw_level")
        self.house("log clear")
        self.room()
        self.over(name, lambda: self.reply(name, "62 %"))
        self.box_has("62 % as entered", lambda c: round(c["soc"] * 100) == 62 and c["anchor"] == "confirmed")
        self.assertEqual(1, len(self.box_commands()))

    def test_an_answer_that_is_no_level_does_nothing(self) -> None:
        name = self.asks()
        self.situation("assumed")
        self.wait_notification("ftw_level")
        self.dismiss("ftw_level")
        self.house("log clear")
        self.over(name, lambda: self.reply(name, "half full"))
        self.box_untouched()

    def test_nobody_is_asked_when_the_car_tells_itself(self) -> None:
        name = self.asks()
        self.situation("car_live 61", lambda w: "61 %" in w["level"])
        self.assertEqual({}, self.runs(name))
        self.assertIsNone(self.notification("ftw_level"))
        # It stops waiting when the level became known.
        self.situation("assumed")
        self.wait_notification("ftw_level")
        self.dismiss("ftw_level")
        self.house("log clear")
        self.over(name, lambda: self.house("phone level 44"))
        self.box_untouched()


class SwedishTests(BlueprintCase):
    """The Swedish ones are the same automations with other texts."""

    cost = 5
    language = ".sv"

    # The titles of messages are the only texts inside.
    TEXTS = re.compile(r"^(\s*title: )[^\"{\n]+$", re.MULTILINE)

    def test_they_differ_in_texts_alone(self) -> None:
        names = [p.name for p in blueprints()]
        self.assertEqual(12, len(names))
        for path in blueprints():
            if path.name.endswith(".sv.yaml"):
                continue
            with self.subTest(path.name):
                english, swedish = (
                    [self.TEXTS.sub(r"\1", part) for part in text.split("\nmode: ", 1)] for text in (
                        path.read_text(), path.with_suffix(".sv.yaml").read_text()))
                self.assertEqual(english[1], swedish[1])
                en, sv = (yaml.load(part[0], Loader=yaml.BaseLoader)["blueprint"]
                          for part in (english, swedish))
                self.assertEqual(list(en["input"]), list(sv["input"]))
                for key, one in en["input"].items():
                    other = sv["input"][key]
                    self.assertEqual(one.get("default"), other.get("default"), key)
                    self.assertEqual(re.sub(r"'label': '[^']*'", "", str(one.get("selector"))),
                                     re.sub(r"'label': '[^']*'", "", str(other.get("selector"))), key)
                    for member in ("name", "description"):
                        self.assertTrue(one[member] and other[member])
                self.assertNotEqual(en["name"], sv["name"])
                counts["blueprints"] += 2

    def test_each_is_offered_with_its_inputs(self) -> None:
        offered = self.ha.command("blueprint/list", domain="automation")
        for path in blueprints():
            with self.subTest(path.name):
                found = offered[f"ftw-mqtt/{path.name}"]
                self.assertNotIn("error", found)
                self.assertTrue(found["metadata"]["name"].startswith("FTW: "))


class SwedishChargeWhenCheapTests(ChargeWhenCheapTests):
    language = ".sv"


class SwedishChargeFromSunTests(ChargeFromSunTests):
    language = ".sv"


class SwedishBackToPlanTests(BackToPlanTests):
    language = ".sv"


class SwedishTellTests(TellTests):
    language = ".sv"
