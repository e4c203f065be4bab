"""Everything a person may find on the car's page, in both languages."""
from __future__ import annotations

from typing import Any

from support import HouseCase, Picture, counts, wait_until

SITUATIONS: list[tuple[str, dict[str, Any]]] = [
    ("unplugged", {"state.plugged_in": False, "level.unplugged": True, "ready.reason": "unplugged"}),
    ("assumed", {"level.origin": "assumed", "level.needs_real_level": True}),
    ("estimated 55", {"level.origin": "estimated", "level.level": 55}),
    ("person_set 48", {"level.level": 48}),
    ("car_live 60", {"level.origin": "car", "level.level": 60, "level.outdated": False}),
    ("car_old 60 1800", {"level.origin": "car_old", "level.outdated": True}),
    ("car_flagged_old 60", {"level.origin": "car_old"}),
    ("late 4000", {"ready.state": "late", "ready.shortfall_wh": 4000}),
    ("no_goal", {"ready.state": "no_goal", "goal.active": False}),
    ("holding 0", {"control": "paused", "ready.state": "on_hold"}),
    ("holding 11000", {"control": "charge_now"}),
    ("replanning", {"ready.state": "replanning"}),
    ("no_plan", {"ready.state": "unknown", "ready.reason": "no_plan"}),
]


class SituationTests(HouseCase):
    """The house is arranged; the documents say so; Home Assistant says what the documents say."""

    cost = 60

    @classmethod
    def prepare(cls) -> None:
        """A box of the newest kind, and tomorrow's prices out, whatever the hour."""
        cls.house("box vintage late")
        cls.house("prices published yes")

    def test_in_english(self) -> None:
        self._all()

    def test_in_swedish(self) -> None:
        self._speak("sv")
        self.addCleanup(self._speak, "en")
        self._all()

    def _speak(self, language: str) -> None:
        type(self).picture = Picture(language=language)
        self.bridge.language = language
        self.bridge.write()
        self.bridge.restart()
        self.equal()

    def _all(self) -> None:
        for situation, facts in SITUATIONS:
            with self.subTest(situation):
                self.house(f"car situation {situation}")
                # A bridge that starts asks for everything, which is sooner than its next look.
                self.bridge.restart()
                wait_until(f"the documents of {situation}", lambda facts=facts: self._wrong(facts) == {},
                           30, 0.2, told=lambda facts=facts: self._wrong(facts))
                self.equal()
                states = self.ha.fresh_states()
                for entity in self.picture.rows:
                    self.assertLessEqual(len(states[entity]["state"]), 255)
                counts["situations"] += 1

    def _wrong(self, facts: dict[str, Any]) -> dict[str, Any]:
        retained = self.broker.mqtt.retained("ftw/home/car/garage/#")
        wrong: dict[str, Any] = {}
        for place, value in facts.items():
            topic, _, member = place.partition(".")
            message = retained.get(f"ftw/home/car/garage/{topic}")
            there = message and (message.document[member] if member else message.payload)
            if there != value and not (isinstance(value, int) and isinstance(there, float)
                                       and abs(there - value) < 2):
                wrong[place] = there
        return wrong
