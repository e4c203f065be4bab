"""Every clock time that people say, compared with what an old-fashioned dial and a day's parts mean."""
from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import yaml

from support import HomeAssistantCase, counts
from support.shipped import SHIPPED, shipped_options

ENGLISH = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
SWEDISH = ["ett", "två", "tre", "fyra", "fem", "sex", "sju", "åtta", "nio", "tio", "elva", "tolv"]

# What each hour of a dial is on a clock with 24 hours, from one o'clock to twelve.
MORNING = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0]
FORENOON = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
DAY = [13, 14, 15, 16, 17, 6, 7, 8, 9, 10, 11, 12]
AFTERNOON = [13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 12]
EVENING = [13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 0]
TONIGHT = [1, 2, 3, 4, 17, 18, 19, 20, 21, 22, 23, 0]
ENGLISH_NIGHT = [1, 2, 3, 4, 5, 18, 19, 20, 21, 22, 23, 0]
SWEDISH_NIGHT = [1, 2, 3, 4, 5, 6, 19, 20, 21, 22, 23, 0]

PARTS = {
    "en": {"in the morning": MORNING, "am": MORNING, "tomorrow morning": MORNING, "pm": AFTERNOON,
           "in the afternoon": AFTERNOON, "tomorrow afternoon": AFTERNOON, "in the evening": EVENING,
           "tomorrow evening": EVENING, "this evening": EVENING, "tonight": TONIGHT,
           "at night": ENGLISH_NIGHT, "in the morning tomorrow": MORNING},
    "sv": {"på morgonen": MORNING, "i morgon bitti": MORNING, "på förmiddagen": FORENOON, "på dagen": DAY,
           "på eftermiddagen": AFTERNOON, "i eftermiddag": AFTERNOON, "på kvällen": EVENING,
           "i kväll": EVENING, "i morgon kväll": EVENING, "på natten": SWEDISH_NIGHT,
           "i natt": SWEDISH_NIGHT, "på kvällen i morgon": EVENING}}

# Said before the hour, and how many hours and minutes the hand then shows.
SAID = {
    "en": {"": (0, 0), "quarter past": (0, 15), "half past": (0, 30), "quarter to": (-1, 45),
           "ten past": (0, 10), "five to": (-1, 55)},
    "sv": {"": (0, 0), "kvart över": (0, 15), "halv": (-1, 30), "kvart i": (-1, 45), "tio över": (0, 10),
           "fem i halv": (-1, 25)}}

FREE = {
    "en": [("noon", "12:00"), ("midday", "12:00"), ("midnight", "00:00"), ("twelve noon", "12:00"),
           ("midnight tonight", "00:00"), ("noon tomorrow", "12:00"), ("quarter to midnight", "23:45"),
           ("half past midnight", "00:30"), ("quarter to noon", "11:45"), ("15:30", "15:30"), ("23", "23:00"),
           ("12:30 pm", "12:30"), ("12:30 am", "00:30"), ("11:45 pm", "23:45"), ("0:15", "00:15"),
           ("24", "00:00"), ("22 in the evening", "22:00"), ("seven tomorrow", "07:00"),
           ("tomorrow at seven", "07:00"), ("tomorrow morning at seven", "07:00"), ("six thirty", "06:30"),
           ("25", "25:00"), ("7:75", "07:75")],
    "sv": [("middag", "12:00"), ("midnatt", "00:00"), ("midnatt i morgon", "00:00"),
           ("middag i morgon", "12:00"), ("kvart i midnatt", "23:45"), ("15:30", "15:30"),
           ("klockan 23", "23:00"), ("12:30 på natten", "00:30"), ("23.45 på kvällen", "23:45"),
           ("klockan 24", "00:00"), ("klockan sju i morgon", "07:00"), ("i morgon klockan sju", "07:00"),
           ("i morgon bitti klockan sju", "07:00"), ("sju trettio", "07:30"), ("halv tretton", "12:30"),
           ("klockan 25", "25:00"), ("7:75", "07:75")]}


class ClockTests(HomeAssistantCase):
    """Understood as Assist understands it, and turned into a time by the shipped package."""

    cost = 20
    options = shipped_options()
    languages: ClassVar[dict[str, tuple[list[str], str]]] = {
        "en": (ENGLISH, "charge the car to 80 by"), "sv": (SWEDISH, "ladda bilen till 80 till")}

    @staticmethod
    def table(language: str, numbers: list[str]) -> Iterator[tuple[str, str]]:
        """Every time in words, and on a clock with 24 hours."""
        yield from FREE[language]
        for said, (hours, minutes) in SAID[language].items():
            for spoken, number in enumerate(numbers, 1):
                # The hour that the small hand has passed: half to twelve is past eleven.
                passed = (spoken + hours - 1) % 12 + 1
                yield f"{said} {number}".strip(), f"{(spoken + hours) % 24:02}:{minutes:02}"
                for part, hand in PARTS[language].items():
                    yield f"{said} {number} {part}".strip(), f"{hand[passed - 1]:02}:{minutes:02}"

    def test_every_time_is_understood(self) -> None:
        package = yaml.safe_load((SHIPPED / "packages/ftw_mqtt.yaml").read_text())
        clock = package["intent_script"]["FtwCarGoal"]["action"][0]["variables"]["clock"]
        macro = ("{% macro clock(hour, minute, offset, half, noon) %}" + clock + "{% endmacro %}")
        for language, (numbers, order) in self.languages.items():
            expected = dict(self.table(language, numbers))
            answers = self.ha.command(
                "conversation/agent/homeassistant/debug", language=language,
                sentences=[f"{order} {time}" for time in expected])["results"]
            wrong, calls = [], []
            for time, answer in zip(expected, answers, strict=True):
                if not answer or not answer["match"] or answer["intent"]["name"] != "FtwCarGoal":
                    wrong.append((time, "not understood"))
                    continue
                slots = {name: of["value"] for name, of in answer["details"].items()}
                self.assertEqual(80, slots["level"], time)
                calls.append((time, "{{ clock(" + ", ".join(
                    f"{name}={value!r}" for name, value in slots.items()
                    if name in ("hour", "minute", "offset", "half", "noon")) + ") | trim }}"))
            told = self.ha.template(macro + "\n".join(call for _, call in calls)).split()
            wrong += [(time, f"{there}, not {expected[time]}")
                      for (time, _), there in zip(calls, told, strict=True) if there != expected[time]]
            self.assertEqual([], wrong)
            counts["clock times"] += len(expected)
