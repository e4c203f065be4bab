"""A broker that takes only small packets."""
from __future__ import annotations

from support import HouseCase

LIMIT = 8192
"""Too little for a device's announcement, enough for every state."""


class SmallPacketTests(HouseCase):
    """One component at a time, Home Assistant shows the same entities with the same ids."""

    cost = 60

    @classmethod
    def arrange(cls) -> None:
        cls.broker.configure(f"max_packet_size {LIMIT}")
        cls.broker.restart()
        cls.addClassCleanup(cls.broker.restart)
        cls.addClassCleanup(cls.broker.configure, "max_packet_size 268435455")
        super().arrange()

    def test_every_entity_is_there(self) -> None:
        self.equal(60)
        announcements = self.broker.mqtt.retained("homeassistant/#")
        whole = [topic for topic in announcements if "/device/" in topic]
        self.assertLess(len(whole), 3, "the site and the car do not fit")
        self.assertGreater(len(announcements), 60)
        self.assertLess(max(len(m.payload) for m in self.broker.mqtt.retained("#").values()), LIMIT)
