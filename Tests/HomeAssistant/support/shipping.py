"""A Home Assistant in which everything that is shipped was copied, at a house that can be steered."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, ClassVar

from .bridge import Bridge
from .case import HomeAssistantCase
from .house import House
from .shipped import shipped_options
from .waiting import wait_until

CAR = "ftw_home_car_garage"
TOPIC = "ftw/home/car/garage"
LOUD = r"mqtt|template|ftw|automation|blueprint|script|intent|conversation|lovelace|frontend"
"""Where a fault of what is shipped would be told."""


class ShippedCase(HomeAssistantCase):
    """House and bridge of the class, with the owner's consent for goals given."""

    options = shipped_options()
    house: ClassVar[House]
    bridge: ClassVar[Bridge]
    patient: ClassVar[bool] = False
    """Waits for what the bridge does by itself, instead of asking for it."""
    spent: ClassVar[int] = 0
    """Commands since the bridge started; it takes ten a minute."""

    @classmethod
    def arrange(cls) -> None:
        cls.house = cls.keep(House(cls.broker))
        cls.house("car situation car_live 60")
        # Without tomorrow's prices nothing is said of tomorrow.
        cls.house("prices published yes")
        cls.bridge = Bridge(cls.broker, {"home": cls.house}, settings={
            "car": {"read_interval": "15s"}, "commands": {"goal_consent": True}})
        cls.bridge.pair_all()
        cls.keep(cls.bridge)
        cls.spent = 0
        cls.ready()

    @classmethod
    def ready(cls) -> None:
        """Waits until Home Assistant has every entity that was announced, and the car's words."""
        cls.ha.wait_for(f"sensor.{CAR}_words_en", lambda s: s["attributes"].get("car_topic") == TOPIC, 60)
        if not cls.patient and cls.ha.state("sensor.ftw_home_price") is None:
            # Home Assistant drops the rest of a device's news while one of its parts is still being set up;
            # the bridge tells it once more a while later.
            cls.broker.mqtt.publish("ftw/home/bridge/request/republish", "again")
        cls.ha.wait_for("sensor.ftw_home_price", lambda s: s["state"] not in ("unknown", "unavailable"), 60)

    @classmethod
    def room(cls, commands: int = 1) -> None:
        """Makes room for so many commands: a bridge that starts has its ten a minute again."""
        if cls.spent + commands > 9:
            cls.bridge.restart()
            # No person gives ten orders in a second. The relay cuts off a box that sends more than 60
            # frames a second for long (FTW wire §1.6); this fills its bucket again.
            time.sleep(2)
            cls.ha.wait_states("the car's entities to be back", lambda states: all(
                states[f"sensor.{CAR}_{key}"]["state"] not in ("unknown", "unavailable")
                for key in ("control", "words_en", "words_sv", "goal")))
            cls.spent = 0
        cls.spent += commands

    @classmethod
    def situation(cls, name: str, fits: Callable[[dict[str, Any]], Any] | None = None) -> None:
        """Arranges the car, and waits until Home Assistant has heard of it.

        A command makes the bridge ask the box at once, instead of when the next quarter minute is over.
        """
        cls.house(f"car situation {name}")
        cls.poke()
        if fits:
            cls.heard(fits)

    @classmethod
    def poke(cls) -> None:
        cls.room()
        name = f"poke-{time.monotonic_ns()}"
        with cls.broker.mqtt.watch("ftw/home/result") as results:
            cls.broker.mqtt.publish(f"{TOPIC}/control/set", {"id": name, "value": "plan"})
            results.wait("the poke to end", lambda m: m.document["id"] == name and m.document["final"], 40)

    @classmethod
    def heard(cls, fits: Callable[[dict[str, Any]], Any], timeout: float = 40) -> None:
        """Waits until what is told of the car fits; `fits` gets the English sentences."""
        cls.ha.wait_for(f"sensor.{CAR}_words_en", lambda s: fits(s["attributes"]), timeout)

    def box_commands(self) -> list[dict[str, Any]]:
        """What the box was told since the log was cleared."""
        return list(self.house.state()["commands"])

    def notification(self, name: str) -> dict[str, Any] | None:
        """One of the messages that Home Assistant shows by itself."""
        return next((n for n in self.ha.command("persistent_notification/get")
                     if n["notification_id"] == name), None)

    def wait_notification(self, name: str, timeout: float = 40) -> dict[str, Any]:
        return wait_until(f"the message {name}", lambda: self.notification(name), timeout, 0.1)

    def dismiss(self, name: str) -> None:
        self.ha.call("persistent_notification.dismiss", notification_id=name)
        wait_until(f"{name} to go", lambda: self.notification(name) is None, 10, 0.05)

    def tearDown(self) -> None:
        super().tearDown()
        loud = [str(line) for line in self.ha.log(self._mark, about=LOUD)]
        self.assertEqual([], [line for line in loud if not any(a in line for a in self._allowed)])
