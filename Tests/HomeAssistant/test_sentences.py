"""What people say about their car's charging, what they are answered, and what the box then does."""
from __future__ import annotations

import datetime
import re
import signal
from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

from support import counts
from support.shipped import SHIPPED
from support.shipping import CAR, TOPIC, ShippedCase

LEVEL = {
    "en": ["how full is the car", "How charged is my EV right now?", "how much charge does the car have left",
           "how many percent does the car have", "what's the car's battery level",
           "what is the level of the car", "car battery level", "tell me the car's battery",
           "how is the car's battery doing",
           "what percent is the car at", "is the car full"],
    "sv": ["hur full är bilen", "Hur laddad är bilen just nu?", "hur mycket laddning har bilen kvar",
           "hur många procent har bilen", "vad är bilens batterinivå", "vilken nivå har bilen",
           "hur är det med bilens batteri", "hur mycket ström är det i bilen", "visa bilens nivå",
           "är bilen full"]}

READY = {
    "en": ["will the car be ready", "Will my car be charged in time?", "will the car make it",
           "is the car going to be ready on time", "when will the car be charged",
           "can the car be ready by then", "is the car on track", "will the car be full by tomorrow morning",
           "will the car be ready by seven", "will the car be charged by seven tomorrow"],
    "sv": ["blir bilen klar", "Blir bilen laddad i tid?", "kommer bilen att bli klar",
           "hinner bilen bli klar i tid", "hinner bilen", "när blir bilen klar",
           "är bilen klar i morgon bitti", "kommer bilen hinna bli färdig i tid",
           "blir bilen klar till sju", "är bilen laddad till klockan sju i morgon"]}

CHARGING = {
    "en": ["is the car charging", "is my car being charged right now", "when will the car charge",
           "what is the car doing"],
    "sv": ["laddar bilen", "laddas bilen just nu", "när laddas bilen", "vad gör bilen"]}

NOW = {
    "en": ["charge the car now", "charge my car right now", "charge the car immediately", "start charging",
           "start charging the car now", "charge the car at full power", "please charge the car now",
           "charge the car"],
    "sv": ["ladda bilen nu", "ladda bilen genast", "börja ladda bilen", "starta laddningen",
           "ladda bilen med full effekt", "starta laddningen av bilen", "ladda nu", "ladda bilen"]}

PAUSE = {
    "en": ["pause charging", "pause the charging", "stop charging the car", "pause the car's charging",
           "don't charge the car", "hold the charging", "do not charge the car now", "stop charging"],
    "sv": ["pausa laddningen", "pausa bilens laddning", "stoppa laddningen", "sluta ladda bilen",
           "ladda inte bilen nu", "gör en paus i laddningen", "sluta ladda", "avbryt laddningen"]}

PLAN = {
    "en": ["back to the plan", "go back to the plan", "return to the plan", "follow the plan again",
           "charge the car according to plan", "let the plan decide", "resume the plan",
           "resume charging"],
    "sv": ["tillbaka till planen", "gå tillbaka till planen", "återgå till planen", "följ planen igen",
           "ladda bilen enligt planen", "låt planen bestämma", "kör planen igen",
           "fortsätt enligt planen"]}

GOAL = {
    "en": [("charge the car to 80 by seven", 80, "07:00"),
           ("Charge the car to eighty-five percent by half past six.", 85, "06:30"),
           ("charge the car up to 70% by 06:45", 70, "06:45"),
           ("set the car's goal to 75 percent by quarter to eight", 75, "07:45"),
           ("have the car at 90 percent by seven in the evening", 90, "19:00"),
           ("by six thirty charge the car to 65", 65, "06:30"),
           ("the car should be at 55 percent by 7 pm", 55, "19:00"),
           ("charge the car to ninety", 90, "19:00"),
           ("have the car ready by eight o'clock", 90, "08:00"),
           ("have the car ready by half past six", 90, "06:30"),
           ("I need the car at 60 percent by noon", 60, "12:00"),
           ("have the car ready by midnight tonight", 60, "00:00"),
           ("charge the car to 80 by seven tomorrow", 80, "07:00"),
           ("charge the car by eight to 70", 70, "08:00"),
           ("charge the car to 80 by quarter to twelve in the morning", 80, "11:45"),
           ("charge the car to 80 by quarter to twelve pm", 80, "23:45"),
           ("charge the car to 80 by twelve at night", 80, "00:00"),
           ("charge the car to 80 by half past twelve pm", 80, "12:30")],
    "sv": [("ladda bilen till 80 till klockan sju", 80, "07:00"),
           ("Ladda bilen till åttiofem procent till halv sju.", 85, "06:30"),
           ("ladda upp bilen till 70 % till 06:45", 70, "06:45"),
           ("sätt bilens mål till 75 procent till kvart i åtta", 75, "07:45"),
           ("bilen ska vara på 90 procent till sju på kvällen", 90, "19:00"),
           ("till klockan sju ska bilen vara på 65 procent", 65, "07:00"),
           ("ladda bilen till 55 till fem i halv åtta", 55, "07:25"),
           ("ladda bilen till nittio", 90, "07:25"),
           ("gör bilen klar till klockan åtta", 90, "08:00"),
           ("gör bilen klar till halv sju", 90, "06:30"),
           ("jag vill ha bilen laddad till 60 procent till sju trettio", 60, "07:30"),
           ("gör bilen klar till middag i morgon", 60, "12:00"),
           ("ladda bilen till 80 till halv tolv på förmiddagen", 80, "11:30"),
           ("ladda bilen till 80 till kvart i tolv på kvällen", 80, "23:45"),
           ("ladda bilen till 80 till tolv på kvällen", 80, "00:00"),
           ("ladda bilen till 80 till halv ett på natten", 80, "00:30"),
           ("ladda bilen till 80 till sju i morgon", 80, "07:00")]}

Car = dict[str, Any]


class SaidCase(ShippedCase):
    """Says things, and compares what comes back."""

    NO_PLAN = {"en": "A new plan is being made.", "sv": "En ny plan räknas fram."}

    def answer(self, sentence: str, language: str, expected: str) -> str:
        """Says a sentence; its answer must be all of the expected expression."""
        reply = self.ha.say(sentence, language)
        self.assertEqual("action_done", reply["kind"], f"'{sentence}': {reply['whole']}")
        self.assertRegex(reply["speech"], f"^(?:{expected})$", f"'{sentence}'")
        return str(reply["speech"])

    def words(self, language: str, about: str) -> str:
        """What the bridge says about that, as it stands on its topic."""
        return str(self.broker.mqtt.document(f"{TOPIC}/text/{language}")[about])


class AskedTests(SaidCase):
    """Questions. Whatever is asked, the box is told nothing."""

    cost = 60

    SITUATIONS: list[tuple[str, str, Callable[[Car], Any], dict[str, tuple[str, str | None]]]] = [
        # None: what the car's document on its readiness amounts to.
        ("the car says so", "car_live 60", lambda w: "60 %, the car says so" in w["level"], {
            "en": (r"Battery 60 %, the car says so\.", None),
            "sv": (r"Batteriet 60 %, enligt bilen\.", None)}),
        ("a guess", "assumed",
         lambda w: "FTW guesses" in w["level"] and "guess of 20 %" in (w["readiness"] or ""), {
             "en": (r"FTW guesses 20 %\. Enter the real level\.", None),
             "sv": (r"FTW gissar 20 %\. Ange den riktiga nivån\.", None)}),
        ("a calculation", "estimated 55", lambda w: "calculation" in w["level"], {
            "en": (r"About 55 %, FTW's calculation( that nobody has confirmed)?\.", None),
            "sv": (r"Ungefär 55 %, FTW:s beräkning( som ingen har bekräftat)?\.", None)}),
        ("it will be late", "late 4000", lambda w: "falls short" in (w["readiness"] or ""), {
            "en": (r"Battery 30 %, the car says so\.",
                   r"It falls short: about \d+ % by (tomorrow )?07:00 instead of 80 %\."),
            "sv": (r"Batteriet 30 %, enligt bilen\.",
                   r"Den hinner inte: ungefär \d+ % till (i morgon )?07:00 i stället för 80 %\.")}),
        ("no goal", "no_goal", lambda w: w["readiness"] == "No charging goal is set.", {
            "en": (r"Battery 50 %, the car says so\.", r"No charging goal is set\."),
            "sv": (r"Batteriet 50 %, enligt bilen\.", r"Inget laddmål är satt\.")}),
        ("no car", "unplugged", lambda w: w["level"] == "No car is plugged in.", {
            "en": (r"No car is plugged in\.", r"No car is plugged in\."),
            "sv": (r"Ingen bil är inkopplad\.", r"Ingen bil är inkopplad\.")})]

    def test_every_question_in_every_situation(self) -> None:
        for what, situation, fits, expected in self.SITUATIONS:
            with self.subTest(what):
                self.situation(situation, fits)
                self.heard(lambda w: w["readiness"] != self.NO_PLAN["en"])
                self.house("log clear")
                for language, (level, readiness) in expected.items():
                    if readiness is None:
                        readiness = re.escape(self.outlook(language))
                    for sentence in LEVEL[language]:
                        said = self.answer(sentence, language, level)
                        self.assertEqual(self.words(language, "level"), said)
                    for sentence in READY[language]:
                        self.answer(sentence, language, readiness)
                self.assertEqual([], self.box_commands(), "a question moved something")

    def outlook(self, language: str) -> str:
        """What there is to say of a car with a goal and a plan, made of the document's numbers."""
        ready = self.broker.mqtt.document(f"{TOPIC}/ready")
        by = datetime.datetime.fromisoformat(ready["by"])
        is_today = by.date() == datetime.datetime.now(ZoneInfo("Europe/Stockholm")).date()
        day = "" if is_today else {"en": "tomorrow ", "sv": "i morgon "}[language]
        goal, expected = ready["goal"], round(ready["expected"])
        if ready["state"] == "late":
            said = {"en": f"It falls short: about {expected} % by {day}{by:%H:%M} instead of {goal} %.",
                    "sv": f"Den hinner inte: ungefär {expected} % till {day}{by:%H:%M} "
                          f"i stället för {goal} %."}[language]
        else:
            self.assertEqual("on_track", ready["state"])
            said = {"en": f"It will make {goal} % by {day}{by:%H:%M}.",
                    "sv": f"Den når {goal} % till {day}{by:%H:%M}."}[language]
        if ready["assumed_from"] is not None:
            said += {"en": f" This builds on FTW's guess of {ready['assumed_from']} %.",
                     "sv": f" Det bygger på FTW:s gissning {ready['assumed_from']} %."}[language]
        return said

    def test_whether_it_charges_is_told(self) -> None:
        self.situation("unplugged", lambda w: w["level"] == "No car is plugged in.")
        for language, said in [("en", "No car is plugged in."), ("sv", "Ingen bil är inkopplad.")]:
            for sentence in CHARGING[language]:
                self.answer(sentence, language, re.escape(said))
        self.situation("car_live 60", lambda w: "60 %" in w["level"])
        self.room()
        self.answer("charge the car now", "en", r"Done\. Charge now is on, charging with \d+\.\d kW\.")
        self.answer("is the car charging", "en", r"Charge now is on, charging with \d+\.\d kW\.")
        self.answer("laddar bilen", "sv", r"Ladda nu är på, laddar med \d+,\d kW\.")

    def test_every_sentence_of_the_guides_is_said_as_it_is_written(self) -> None:
        said = {sentence for group in (LEVEL, READY, CHARGING, NOW, PAUSE, PLAN) for language in group.values()
                for sentence in language} | {goal[0] for language in GOAL.values() for goal in language}
        for name, heading, columns in [("README.md", "Sentences", 2), ("README.sv.md", "Meningar", 1)]:
            section = (SHIPPED / name).read_text().split(f"## {heading}\n")[1].split("\n## ")[0]
            cells = [cell for row in re.findall(r"^\| \w[^|]*\|(.*)\|$", section, re.MULTILINE)
                     for cell in row.split("|")]
            self.assertEqual(7 * columns, len(cells))
            self.assertEqual([], [s for cell in cells for s in cell.strip().split(" · ") if s not in said])

    def test_a_pause_is_the_answer_to_whether_it_will_be_ready(self) -> None:
        self.situation("car_live 60", lambda w: "60 %" in w["level"])
        self.room()
        self.answer("pause charging", "en", r"Done\. Charging is paused until someone resumes it\.")
        self.answer("will the car be ready", "en", r"Charging is paused until someone resumes it\.")
        self.answer("blir bilen klar", "sv", r"Laddningen är pausad tills någon startar den\.")

    def test_what_the_car_said_a_while_ago_is_told_with_its_time(self) -> None:
        # Only newer boxes pass on what a car said and does not say any more.
        self.house("box vintage late")
        self.addCleanup(self.house, "box vintage soc")
        self.ha.wait_for("sensor.ftw_home_box_link", "live", 60)
        self.situation("car_old 63 1800", lambda w: "63 %, the car's last word" in w["level"])
        self.answer("how full is the car", "en",
                    r"Battery 63 %, the car's last word (yesterday )?at \d\d:\d\d\.")
        self.answer("hur full är bilen", "sv",
                    r"Batteriet 63 %, bilens senaste besked (i går )?\d\d:\d\d\.")

    def test_what_is_old_is_told_as_old(self) -> None:
        """The box is out of reach: the last word, dated, and no command is done."""
        self.situation("car_live 60", lambda w: "60 %" in w["level"])
        self.room(2)
        self.house("box away")
        try:
            self.heard(lambda w: "last word" in w["level"], 60)
            self.answer("how full is the car", "en",
                        r"Battery 60 %, the car's last word (yesterday )?at \d\d:\d\d\.")
            self.answer("hur full är bilen", "sv",
                        r"Batteriet 60 %, bilens senaste besked (i går )?\d\d:\d\d\.")
            self.answer("charge the car now", "en", r"Not delivered: the box cannot be reached\.")
            self.answer("ladda bilen nu", "sv", r"Nådde inte fram: boxen kan inte nås\.")
            self.assertIsNone(self.house.car()["hold"])
        finally:
            self.house("box back")
            self.heard(lambda w: "says so" in w["level"], 60)

    def test_a_bridge_that_does_not_answer_is_told_as_that(self) -> None:
        """It is frozen and wakes up too late: what nobody waits for any more is not done."""
        self.room(2)
        self.house("log clear")
        self.bridge.signal(signal.SIGSTOP)
        try:
            self.answer("charge the car now", "en",
                        r"Not confirmed: no answer came\. Look before you rely on it\.")
        finally:
            self.bridge.signal(signal.SIGCONT)
        end = self.ha.wait_for(f"event.{CAR}_command_result", lambda s: s["attributes"].get(
            "event_type") in ("expired", "refused"))
        self.assertEqual("expired", end["attributes"]["code"])
        self.assertEqual([], self.box_commands())

    def test_what_was_not_heard_yet_is_told_as_that(self) -> None:
        """Home Assistant has just started: the car is announced, and its sentences are on their way."""
        self.room(2)
        entry = self.ha.ha.mqtt_entry()
        assert entry
        self.bridge.signal(signal.SIGSTOP)
        try:
            # MQTT ends and begins in it, and meanwhile the sentences go from the broker.
            self.ha.command("config_entries/disable", entry_id=entry["entry_id"], disabled_by="user")
            for language in ("en", "sv"):
                self.broker.mqtt.publish(f"{TOPIC}/text/{language}", "", True)
            self.ha.command("config_entries/disable", entry_id=entry["entry_id"], disabled_by=None)
            self.ha.wait_for(f"sensor.{CAR}_words_sv", "unknown")
            self.ha.wait_for(f"sensor.{CAR}_words_en", "unknown")
            for sentence, language, told in [
                    (LEVEL["en"][0], "en", "Nothing was heard from the bridge yet. Ask again in a moment."),
                    (LEVEL["sv"][0], "sv", "Bryggan har inte hörts än. Fråga igen om en stund."),
                    (NOW["en"][0], "en", "Nothing was heard from the bridge yet, and nothing was sent. "
                                         "Try again in a moment."),
                    (NOW["sv"][0], "sv", "Bryggan har inte hörts än och inget skickades. "
                                         "Försök igen om en stund.")]:
                self.answer(sentence, language, re.escape(told))
        finally:
            self.bridge.signal(signal.SIGCONT)
            self.bridge.restart()
            type(self).spent = 0
            self.ready()

    def test_with_no_bridge_nothing_is_known_and_nothing_is_sent(self) -> None:
        self.bridge.stop()
        try:
            self.ha.wait_for(f"sensor.{CAR}_words_en", "unavailable")
            nothing = {"en": "The bridge to the box cannot be reached, so nothing is known of the car.",
                       "sv": "Bryggan till boxen kan inte nås, så inget är känt om bilen."}
            unsent = {"en": "The bridge to the box cannot be reached. Nothing was sent.",
                      "sv": "Bryggan till boxen kan inte nås. Inget skickades."}
            with self.broker.mqtt.watch("ftw/home/#") as heard:
                for language in ("en", "sv"):
                    for sentence in (LEVEL[language][0], READY[language][0]):
                        self.answer(sentence, language, re.escape(nothing[language]))
                    for sentence in (NOW[language][0], PAUSE[language][0], PLAN[language][0],
                                     GOAL[language][0][0]):
                        self.answer(sentence, language, re.escape(unsent[language]))
                self.assertEqual([], [m.topic for m in heard.messages if m.topic.endswith("/set")])
        finally:
            self.bridge.start()
            type(self).spent = 0
            self.ready()


class OrderedTests(SaidCase):
    """Commands. Each ends in the answer that is true, and in what the box holds."""

    cost = 90

    DONE = {"en": "Done\\.", "sv": "Klart\\."}
    CHARGES = {"en": r"Charge now is on, charging with \d+\.\d kW\.",
               "sv": r"Ladda nu är på, laddar med \d+,\d kW\."}
    PAUSED = {"en": r"Charging is paused until someone resumes it\.",
              "sv": r"Laddningen är pausad tills någon startar den\."}
    PLANNED = {"en": r"(Next charging (tomorrow )?\d\d:\d\d–(tomorrow )?\d\d:\d\d"
                     r"|Charging is planned until (tomorrow )?\d\d:\d\d|Charging with \d+\.\d kW"
                     r"|Plugged in; no charging is planned)\.",
               "sv": r"(Nästa laddning (i morgon )?\d\d:\d\d–(i morgon )?\d\d:\d\d"
                     r"|Laddning är planerad till (i morgon )?\d\d:\d\d|Laddar med \d+,\d kW"
                     r"|Inkopplad; ingen laddning är planerad)\."}

    def setUp(self) -> None:
        super().setUp()
        self.situation("car_live 60", lambda w: "60 %" in w["level"])
        self.ha.wait_for(f"sensor.{CAR}_control", "plan")

    def test_every_order_is_done_at_the_box(self) -> None:
        for language in ("en", "sv"):
            for now, pause, plan in zip(NOW[language], PAUSE[language], PLAN[language], strict=True):
                done = self.DONE[language]
                for sentence, told, effect in [
                        (now, self.CHARGES, lambda c: c["hold"] and c["hold"]["power_w"] >= 4140),
                        (pause, self.PAUSED, lambda c: c["hold"] and c["hold"]["power_w"] == 0),
                        (plan, self.PLANNED, lambda c: c["hold"] is None)]:
                    with self.subTest(sentence):
                        self.room()
                        self.answer(sentence, language, f"{done} {told[language]}")
                        # What is answered as done is done: no waiting here.
                        self.assertTrue(effect(self.house.car()), self.house.car())
                        counts["effects seen in the house"] += 1

    def test_every_goal_stands_at_the_box(self) -> None:
        for language in ("en", "sv"):
            for sentence, level, by in GOAL[language]:
                with self.subTest(sentence):
                    self.room()
                    goal = {"en": rf"Goal: {level} % by {by}, every day\.( Next time: [\w ]*\d\d:\d\d\.)?",
                            "sv": rf"Mål: {level} % till {by}, varje dag\.( Nästa gång: [\w ]*\d\d:\d\d\.)?"}
                    self.answer(sentence, language, f"{self.DONE[language]} {goal[language]}")
                    schedule = self.house.car()["schedule"]
                    self.assertEqual((level, by), (round(schedule["soc"] * 100), self.clock(schedule)))
                    counts["effects seen in the house"] += 1

    @staticmethod
    def clock(schedule: Car) -> str:
        """The household's clock time of a goal; this box keeps it in UTC."""
        today = datetime.datetime.now(ZoneInfo("Europe/Stockholm"))
        minute = schedule["time_of_day_min_utc"] + today.utcoffset().total_seconds() // 60
        return "{:02.0f}:{:02.0f}".format(*divmod(minute % 1440, 60))

    def test_what_is_refused_is_told_with_its_reason(self) -> None:
        self.room(2)
        self.house("next refused_at_execution E_PRECONDITION")
        self.answer("charge the car now", "en", r"Not done: it does not fit what the box is doing now\.")
        self.assertIsNone(self.house.car()["hold"])
        for sentence, language, told in [
                ("charge the car to 0", "en", r'Not done: found "0"; a goal is from 1 to 100 %, or clear\.'),
                ("charge the car to 120", "en", r'Not done: found "120"; .* from [01] to 100 %, .*\.'),
                ("ladda bilen till 120 till sju", "sv",
                 r'Inte gjort: där står "120"; .* från [01] till 100 %, .*\.'),
                ("charge the car to 70 by 25", "en",
                 r'Not done: found "25:00"; by is a time of day such as 07:00\.'),
                ("ladda bilen till 70 till klockan 25", "sv",
                 r'Inte gjort: där står "25:00"; by är ett klockslag som 07:00\.')]:
            self.room()
            with self.subTest(sentence):
                self.answer(sentence, language, told)
        self.assertEqual(80, round(self.house.car()["schedule"]["soc"] * 100))

    def test_a_command_for_no_car_is_refused(self) -> None:
        self.situation("unplugged", lambda w: w["level"] == "No car is plugged in.")
        self.room(2)
        self.answer("charge the car now", "en", r"Not done: plug the car in first\.")
        self.answer("ladda bilen nu", "sv", r"Inte gjort: koppla in bilen först\.")
        self.assertIsNone(self.house.car()["hold"])

    def test_what_nobody_confirms_is_not_called_done(self) -> None:
        self.room(2)
        for what, language, sentence, told in [
                ("commands", "en", "charge the car now", r"Not delivered\."),
                ("results", "en", "charge the car now",
                 r"The outcome is not known: no answer from the box\.|Taken by the box, outcome not known\.")]:
            with self.subTest(what):
                self.house(f"swallow {what} on")
                try:
                    self.answer(sentence, language, told)
                    self.assertIsNone(self.house.car()["hold"])
                finally:
                    self.house(f"swallow {what} off")

    def test_what_has_another_sense_is_left_to_home_assistant(self) -> None:
        self.house("log clear")
        for sentence, language in [("what time is it", "en"), ("vad är klockan", "sv")]:
            self.assertNotEqual("error", self.ha.say(sentence, language)["kind"])
        self.assertEqual("error", self.ha.say("charge the toothbrush to 80", "en")["kind"])
        self.assertEqual("error", self.ha.say("ladda tandborsten nu", "sv")["kind"])
        self.assertEqual([], self.box_commands())
