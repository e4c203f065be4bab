"""Home Assistant, broker and bridge start again, in every order, and all is as it was."""
from __future__ import annotations

import itertools
import threading
from typing import Any, ClassVar

from support import HouseCase, wait_until
from support.cold import shape
from support.homeassistant import BROKER_AWAY


class RestartTests(HouseCase):
    """The broker keeps nothing over its restarts: the bridge has to bring everything again."""

    cost = 120
    first: ClassVar[dict[str, Any]]

    @classmethod
    def arrange(cls) -> None:
        super().arrange()
        cls.ids = {unique: e["entity_id"] for unique, e in cls.ha.registry().items()}
        cls.first = shape(cls.broker.mqtt.retained())

    def setUp(self) -> None:
        super().setUp()
        self.allow_log(BROKER_AWAY)

    def all_as_before(self) -> None:
        """Everything available and right; nothing retained that a first start would not retain."""
        # At a broker that knows nothing yet everything is unavailable, and rightly so.
        wait_until("everything to be published again", lambda: not self.picture.unavailable(
            self.broker.mqtt.retained("ftw/home/#")), 60, 0.3)
        retained = self.equal(60)
        self.assertEqual(set(), self.picture.unavailable(retained))
        self.assertEqual(self.ids, {u: e["entity_id"] for u, e in self.ha.registry().items()})
        wait_until("the retained picture of a first start", lambda: self._differing() == {}, 30, 0.5,
                   told=self._differing)

    def _differing(self) -> dict[str, tuple[Any, Any]]:
        now = shape(self.broker.mqtt.retained())
        return {topic: (self.first.get(topic), now.get(topic)) for topic in sorted(set(self.first) | set(now))
                if self.first.get(topic) != now.get(topic)}

    def restart(self, part: str) -> None:
        if part == "bridge":
            self.bridge.restart(wait=False)
        elif part == "broker":
            self.broker.restart()
        else:
            self.ha.restart()

    def in_order(self, *parts: str) -> None:
        for part in parts:
            self.restart(part)
        self.all_as_before()

    def test_bridge_killed(self) -> None:
        self.bridge.restart(abruptly=True, wait=False)
        self.all_as_before()

    def test_house_killed(self) -> None:
        """Box and relay come back; the car is arranged as before."""
        self.house.restart()
        self.house("car situation car_live 60")
        self.bridge.wait_live()
        self.all_as_before()

    def test_all_at_once(self) -> None:
        self.bridge.kill()
        self.broker.kill()
        self.ha.down()
        back = [threading.Thread(target=work) for work in (
            self.ha.start, self.broker.start, lambda: self.bridge.start(wait=False))]
        for one in back:
            one.start()
        for one in back:
            one.join()
        self.all_as_before()


def _test_of(order: tuple[str, ...]) -> Any:
    def test(self: RestartTests) -> None:
        self.in_order(*order)

    return test


for _order in itertools.permutations(("ha", "broker", "bridge")):
    setattr(RestartTests, "test_" + "_then_".join(_order), _test_of(_order))
