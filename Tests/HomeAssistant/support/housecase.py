"""Test classes with a house of their own and a bridge that is paired with it."""
from __future__ import annotations

from typing import Any, ClassVar

from .bridge import Bridge
from .case import HomeAssistantCase
from .house import House
from .mqtt import Message
from .rows import Picture
from .waiting import wait_until


class HouseCase(HomeAssistantCase):
    """A house, and a bridge paired with it as people do."""

    house: ClassVar[House]
    bridge: ClassVar[Bridge]
    picture: ClassVar[Picture]

    settings: ClassVar[dict[str, Any]] = {"car": {"read_interval": "15s"}}
    """Further sections of the bridge's configuration."""

    @classmethod
    def arrange(cls) -> None:
        cls.house = cls.keep(House(cls.broker))
        cls.house("car situation car_live 60")
        cls.picture = Picture()
        cls.prepare()
        cls.bridge = Bridge(cls.broker, {"home": cls.house}, settings=cls.settings)
        cls.bridge.pair_all()
        cls.keep(cls.bridge)
        cls.equal()

    @classmethod
    def prepare(cls) -> None:
        """What a class arranges in its house before the bridge comes, with the picture to expect."""

    @classmethod
    def equal(cls, timeout: float = 45) -> dict[str, Message]:
        """Waits until every entity is what its document says."""
        return cls.picture.wait_equal(cls.ha, cls.broker.mqtt, timeout)

    def assert_unavailable(self, expected: set[str]) -> None:
        """Exactly these, by the documents and in Home Assistant."""
        def look() -> bool:
            retained = self.broker.mqtt.retained("ftw/home/#")
            return self.picture.unavailable(retained) == expected and not self.picture.differences(
                self.ha.fresh_states(), retained)

        def told() -> str:
            retained = self.broker.mqtt.retained("ftw/home/#")
            by_documents = self.picture.unavailable(retained)
            there = {e for e, s in self.ha.fresh_states().items()
                     if e in self.picture.rows and s["state"] == "unavailable"}
            return (f"too many {sorted(by_documents - expected)}, missing {sorted(expected - by_documents)}; "
                    f"Home Assistant too many {sorted(there - expected)}, "
                    f"missing {sorted(expected - there)}")

        wait_until("exactly the expected entities to be unavailable", look, 45, 0.3, told=told)

    def all_back(self) -> None:
        """Everything is available and what its document says."""
        self.assert_unavailable(set())
