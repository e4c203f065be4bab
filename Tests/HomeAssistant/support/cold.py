"""Whether what is retained is what a first start would retain."""
from __future__ import annotations

import json
import re
from typing import Any

from .mqtt import Message

PASSING = ("/bridge/health", "/bridge/instance", "/last_command")
"""Topics that tell of the run, not of the house."""

TIME = re.compile(r"^\d{4}-\d\d-\d\dT")


def shape(retained: dict[str, Message]) -> dict[str, Any]:
    """The retained picture without what moves by itself: times, and numbers of the hour.

    Announcements stay as they are, byte for byte.
    """
    return {topic: message.payload if topic.startswith("homeassistant/") else _still(message.payload)
            for topic, message in retained.items() if not topic.endswith(PASSING)}


def _still(payload: str) -> Any:
    try:
        return _value(json.loads(payload))
    except ValueError:
        return payload


def _value(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _value(member, key) for key, member in value.items()}
    if isinstance(value, list):
        return "list"
    if name == "instance":
        return "#"
    if isinstance(value, str):
        return "time" if TIME.match(value) else re.sub(r"[\d.,:]+", "#", value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return "#"
    return value
