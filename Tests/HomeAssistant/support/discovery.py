"""What the bridge announced, read back from the broker as Home Assistant reads it."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .mqtt import MQTT


@dataclass(frozen=True)
class Announced:
    """One entity as it was announced: the component with the device's own options filled in."""

    topic: str
    key: str
    platform: str
    component: dict[str, Any]
    device: dict[str, Any] = field(repr=False)

    @property
    def unique_id(self) -> str:
        return str(self.component["unique_id"])

    @property
    def entity_id(self) -> str:
        return str(self.component["default_entity_id"])


SHARED = ("availability", "availability_mode", "state_topic", "command_topic", "qos", "encoding",
          "message_expiry_interval")


def announced(mqtt: MQTT, prefix: str = "homeassistant") -> list[Announced]:
    """Every entity that is announced now; tombstones are none."""
    found: list[Announced] = []
    for topic, message in sorted(mqtt.retained(f"{prefix}/#").items()):
        if not topic.endswith("/config"):
            continue
        payload = message.document
        shared = {key: payload[key] for key in SHARED if key in payload}
        device = payload.get("device", {})
        if "components" in payload:
            for key, component in payload["components"].items():
                if set(component) == {"platform"}:
                    continue
                found.append(Announced(topic, key, component["platform"], {**shared, **component}, device))
        else:
            found.append(Announced(topic, "", topic.split("/")[1], payload, device))
    return found
