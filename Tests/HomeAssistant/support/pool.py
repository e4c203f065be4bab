"""Running Home Assistants, shared by the tests of one process: a start costs more than most tests."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .broker import Broker
from .homeassistant import HomeAssistant
from .waiting import wait_until


@dataclass
class Place:
    """A Home Assistant and its broker."""

    broker: Broker
    ha: HomeAssistant


class Pool:
    """Keeps what runs; hands it out clean."""

    def __init__(self) -> None:
        self._places: dict[str, Place] = {}

    def take(self, **options: Any) -> Place:
        """A clean place whose Home Assistant was made with these options; starts it if need be."""
        key = repr(sorted(options.items()))
        place = self._places.pop(key, None)
        if place and not place.ha.is_healthy:
            self._end(place)
            place = None
        if place is None:
            broker = Broker().start()
            place = Place(broker, HomeAssistant(broker, **options))
            try:
                place.ha.start()
            except BaseException:
                self._end(place)
                raise
        self._places[key] = place
        return place

    def give_back(self, place: Place) -> None:
        """Cleans a place; one that does not become clean is thrown away."""
        try:
            # Whoever published has ended; its wills may still be on their way.
            wait_until("the broker to be empty", lambda: place.broker.mqtt.clear() == 0, 20, 0.1)
            place.ha.wait_empty()
        except (AssertionError, OSError):
            self._places = {key: kept for key, kept in self._places.items() if kept is not place}
            self._end(place)

    def close(self) -> None:
        for place in self._places.values():
            self._end(place)
        self._places = {}

    @staticmethod
    def _end(place: Place) -> None:
        place.ha.stop()
        place.broker.stop()


pool = Pool()
"""Of this process."""
