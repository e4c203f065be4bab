"""With several cars: nothing is guessed, each can be named, and every answer names its car."""
from __future__ import annotations

import re
from typing import Any

from support import counts
from support.shipping import CAR, ShippedCase

OTHER = "ftw_home_car_carport"


class SeveralCarsTests(ShippedCase):
    """A second charging point comes along, whose id sorts before the first one's."""

    cost = 90

    @classmethod
    def arrange(cls) -> None:
        super().arrange()
        cls.house("car situation two_chargers")
        cls.ha.wait_for(f"sensor.{OTHER}_charging_text",
                        lambda s: s["attributes"].get("loadpoint") == "carport", 60)
        # One is called the Family car; nobody reads the other's name.
        cls.house("car garage situation assumed")
        cls.ha.wait_for(f"sensor.{CAR}_charging_text", lambda s: not s["attributes"].get("car_name"), 60)
        cls.ha.wait_for(f"sensor.{OTHER}_charging_text",
                        lambda s: s["attributes"].get("car_name") == "Family car", 60)

    def answer(self, sentence: str, language: str, expected: str) -> None:
        reply = self.ha.say(sentence, language)
        self.assertEqual("action_done", reply["kind"], f"'{sentence}': {reply['whole']}")
        self.assertRegex(reply["speech"], f"^(?:{expected})$", f"'{sentence}'")

    def holds(self) -> dict[str, Any]:
        return {name: self.house.car(name)["hold"] for name in ("garage", "carport")}

    def test_what_names_no_car_is_asked_back_and_moves_nothing(self) -> None:
        self.house("log clear")
        for language, question, orders, which in [
                ("en", ["how full is the car", "will the car be ready", "is the car charging"],
                 ["charge the car now", "start charging", "pause charging", "back to the plan",
                  "charge the car to 70 by six"],
                 r"Which car: Family car or garage\? Say for example: {} the Family car{}\."),
                ("sv", ["hur full är bilen", "blir bilen klar", "laddar bilen"],
                 ["ladda bilen nu", "börja ladda", "pausa laddningen", "tillbaka till planen",
                  "ladda bilen till 70 till klockan sex"],
                 r"Vilken bil: Family car eller garage\? Säg till exempel: {} bilen som heter Family car{}\.")]:
            for sentence in question:
                self.answer(sentence, language, which.format({"en": "how full is", "sv": "hur full är"}[
                    language], ""))
            for sentence in orders:
                self.answer(sentence, language, which.format(
                    {"en": "charge", "sv": "ladda"}[language], {"en": " now", "sv": " nu"}[language]))
        self.assertEqual([], self.box_commands())

    def test_what_is_said_for_example_is_understood(self) -> None:
        for sentence, language in [("how full is the Family car", "en"),
                                   ("hur full är bilen som heter Family car", "sv")]:
            self.answer(sentence, language, r"Family car: .*\d+ %.*\.")

    def test_a_named_car_is_asked_about(self) -> None:
        battery = {"en": r"Battery \d+ %, the car says so\.", "sv": r"Batteriet \d+ %, enligt bilen\."}
        guess = {"en": r"FTW guesses \d+ %\. Enter the real level\.",
                 "sv": r"FTW gissar \d+ %\. Ange den riktiga nivån\."}
        for language, sentences in {
                "en": {"how full is the family car": f"Family car: {battery['en']}",
                       "what's the family car's battery level": f"Family car: {battery['en']}",
                       "how full is the car in the carport": f"Family car: {battery['en']}",
                       "how full is the car called garage": f"garage: {guess['en']}",
                       "how full is the guest car": r"I know no car called guest\. "
                                                    r"There is Family car and garage\."},
                "sv": {"hur full är familjebilen": f"Family car: {battery['sv']}",
                       "hur mycket laddning har bilen i carporten": f"Family car: {battery['sv']}",
                       "hur full är bilen i garaget": f"garage: {guess['sv']}",
                       "hur full är gästbilen": r"Jag känner ingen bil som heter gäst\. "
                                                r"Det finns Family car och garage\."}}.items():
            for sentence, expected in sentences.items():
                self.answer(sentence, language, expected)

    def test_a_named_car_is_moved_and_no_other(self) -> None:
        self.house("log clear")
        done = {"en": r"Done\. Charge now is on.*\.", "sv": r"Klart\. Ladda nu är på.*\."}
        for sentence, language, car, name in [
                ("charge the family car now", "en", "carport", "Family car"),
                ("charge the car in the garage now", "en", "garage", "garage"),
                ("ladda familjebilen nu", "sv", "carport", "Family car"),
                ("ladda bilen som heter garage nu", "sv", "garage", "garage")]:
            with self.subTest(sentence):
                self.room(2)
                self.answer(sentence, language, f"{name}: {done[language]}")
                holds = self.holds()
                other = {"garage": "carport", "carport": "garage"}[car]
                self.assertGreater(holds[car]["power_w"], 0)
                self.assertIsNone(holds[other])
                plan = {"en": f"put the car called {car} back to the plan",
                        "sv": f"tillbaka till planen för bilen som heter {car}"}[language]
                self.answer(plan, language, f"{name}: {done[language].split()[0]} (?!Charge now|Ladda nu).*\\.")
                self.assertEqual({"garage": None, "carport": None}, self.holds())
                counts["effects seen in the house"] += 1

    def test_a_named_car_gets_its_goal(self) -> None:
        self.room(2)
        before = self.house.car("garage")["schedule"]
        self.answer("charge the family car to 65 by quarter to seven", "en",
                    r"Family car: Done\. Goal: 65 % by 06:45, every day\.( Next time: .*)?")
        self.assertEqual(65, round(self.house.car("carport")["schedule"]["soc"] * 100))
        self.assertEqual(before, self.house.car("garage")["schedule"])

    def test_a_refusal_names_its_car(self) -> None:
        self.room()
        self.house("next refused_at_execution E_PRECONDITION")
        self.answer("charge the family car now", "en",
                    r"Family car: Not done: it does not fit what the box is doing now\.")

    def test_cars_of_one_name_are_told_apart_by_their_chargers(self) -> None:
        self.house("car garage situation car_live 60")
        self.poke()
        self.ha.wait_for(f"sensor.{CAR}_charging_text",
                         lambda s: s["attributes"].get("car_name") == "Family car", 60)
        try:
            self.answer("charge the family car now", "en", re.escape(
                "Which car: carport or garage? Say for example: charge the car called carport now."))
            self.answer("hur full är bilen som heter garage", "sv", r"garage: Batteriet 60 %, enligt bilen\.")
        finally:
            self.house("car garage situation assumed")
            self.poke()
            self.ha.wait_for(f"sensor.{CAR}_charging_text", lambda s: not s["attributes"].get("car_name"), 60)
