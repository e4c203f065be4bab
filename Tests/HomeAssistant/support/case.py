"""What every test class of the suite shares."""
from __future__ import annotations

import re
import unittest
from typing import Any, ClassVar

from .broker import Broker
from .counts import counts
from .homeassistant import HomeAssistant
from .pool import Place, pool


class HomeAssistantCase(unittest.TestCase):
    """A class of tests at one clean Home Assistant and its broker.

    After every test Home Assistant's log must hold no line about us at WARNING or above, except
    what the test allowed beforehand with `allow_log`.

    `options` are those of `HomeAssistant`; classes with equal ones share an instance. `cost` is
    about how many seconds the class takes, so that the runner can begin with the longest.
    """

    options: ClassVar[dict[str, Any]] = {}
    cost: ClassVar[int] = 30

    place: ClassVar[Place]
    broker: ClassVar[Broker]
    ha: ClassVar[HomeAssistant]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.place = pool.take(**cls.options)
        cls.broker, cls.ha = cls.place.broker, cls.place.ha
        # Cleanups run backwards: what the class starts ends before this.
        cls.addClassCleanup(pool.give_back, cls.place)
        cls.arrange()

    @classmethod
    def arrange(cls) -> None:
        """Starts what the tests of the class share; each with `cls.keep`."""

    @classmethod
    def keep(cls, thing: Any) -> Any:
        """Starts something for the class and ends it after the last test."""
        cls.addClassCleanup(thing.stop)
        return thing.start()

    def use(self, thing: Any) -> Any:
        """Starts something for this test and ends it with it."""
        self.addCleanup(thing.stop)
        return thing.start()

    def shortDescription(self) -> None:
        """The test's name says what it says; the docstring says why."""
        return None

    def setUp(self) -> None:
        self._mark = self.ha.mark()
        self._allowed: list[str] = []

    def allow_log(self, pattern: str) -> None:
        """Lines that this test may cause, such as `BROKER_AWAY`; matched against `logger] text`."""
        self._allowed.append(pattern)

    def tearDown(self) -> None:
        lines = [line for line in self.ha.log(self._mark)
                 if not any(re.search(p, f"{line.logger}] {line.text}") for p in self._allowed)]
        counts["lines about us"] += len(lines)
        self.assertEqual([], [str(line) for line in lines], "Home Assistant's log speaks about us")
