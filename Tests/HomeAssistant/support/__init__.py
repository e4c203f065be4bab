"""What the acceptance tests stand on: brokers, Home Assistants, houses and bridges.

Everything here ends only what it started, listens on loopback and free ports alone, and leaves its
output in the folder of the test that failed.
"""
import sys
from pathlib import Path

# The rig's clients of Home Assistant are scripts of their own too.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "rig"))

from .bridge import Bridge, BridgeFailed
from .broker import Broker
from .case import HomeAssistantCase
from .children import Child, end_all, free_port, work_folder
from .counts import counts
from .demo import Demo
from .discovery import Announced, announced
from .homeassistant import HomeAssistant, LogLine
from .house import House
from .housecase import HouseCase
from .mqtt import MQTT, Message, Watcher
from .pool import pool
from .rows import Picture, Row
from .waiting import wait_until

__all__ = [
    "Announced", "announced", "Bridge", "BridgeFailed", "Broker", "Child", "counts", "Demo", "end_all",
    "free_port", "HomeAssistant", "HomeAssistantCase", "House", "HouseCase", "LogLine", "Message", "MQTT",
    "Picture", "pool", "Row", "wait_until", "Watcher", "work_folder",
]
