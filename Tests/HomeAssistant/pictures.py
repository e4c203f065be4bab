#!/usr/bin/env python3
"""Makes the pictures of the README: a Home Assistant with what is shipped, at the demo's house.

pictures.py [FOLDER]
"""
from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
os.environ.setdefault("FTW_TEST_OUTPUT", str(HERE.parents[1] / ".build/pictures"))
sys.path.insert(0, str(HERE))

from support import Broker, Demo, HomeAssistant, wait_until  # noqa: E402
from support.homeassistant import installed  # noqa: E402
from support.shipped import SHIPPED, shipped_files  # noqa: E402
from support.shipping import CAR, TOPIC  # noqa: E402

SWEDISH = """lovelace:
  dashboards:
    ftw-mqtt-sv:
      mode: yaml
      title: FTW
      icon: mdi:home-lightning-bolt
      show_in_sidebar: false
      filename: dashboard.sv.yaml
"""

WIDE, PHONE = "1500x920", "400x1100"

PICTURES = [
    # language, name, page, size, dark, what is on it, and what is scrolled to
    ("en", "dashboard-light", "/ftw-mqtt/house", WIDE, False, "Plan of the day", None),
    ("en", "dashboard-dark", "/ftw-mqtt/house", WIDE, True, "Plan of the day", None),
    ("en", "dashboard-phone-light", "/ftw-mqtt/house", PHONE, False, "Plan of the day", None),
    ("en", "dashboard-phone-light-2", "/ftw-mqtt/house", PHONE, False, "Plan of the day", "Car"),
    ("en", "dashboard-phone-dark", "/ftw-mqtt/house", PHONE, True, "Plan of the day", None),
    ("en", "dashboard-phone-dark-2", "/ftw-mqtt/house", PHONE, True, "Plan of the day", "Car"),
    ("en", "car-light", "device:Car charging", "1200x1100", False, "Charge now", None),
    ("en", "car-phone-dark", "device:Car charging", PHONE, True, "Charge now", None),
    ("sv", "dashboard-sv-dark", "/ftw-mqtt-sv/hus", WIDE, True, "Dagens plan", None),
    ("sv", "dashboard-sv-phone-light", "/ftw-mqtt-sv/hus", PHONE, False, "Dagens plan", None),
    ("sv", "dashboard-sv-phone-light-2", "/ftw-mqtt-sv/hus", PHONE, False, "Dagens plan", "Bilen"),
]

REDUCE = """
import sys
from PIL import Image
for path in sys.argv[1:]:
    picture = Image.open(path).convert("RGB")
    picture.quantize(256, kmeans=2, dither=Image.Dither.NONE).save(path, optimize=True)
"""


def arrange(demo: Demo, ha: HomeAssistant, broker: Broker) -> None:
    """A car that came home and charges; tomorrow's prices are out; somebody set a goal."""
    for line in ("prices published yes", "car situation car_live 52", "box consent off", "box restart"):
        demo(line)
    ha.wait_for("binary_sensor.ftw_home_tomorrow_known", "on", 60)
    ha.wait_for("sensor.ftw_home_plan", lambda s: s["state"] not in ("unknown", "unavailable"), 60)
    ha.wait_for(f"sensor.{CAR}_ready", ["on_track", "late"], 60)
    order(broker, "goal", {"level": 85, "by": "07:00"})
    ha.wait_for(f"sensor.{CAR}_goal", "85", 60)
    if int(ha.wait_for(f"sensor.{CAR}_power", lambda s: s["state"].isdigit())["state"]) < 4000:
        # The plan waits for cheaper hours.
        order(broker, "control", "charge_now")
    ha.wait_for(f"sensor.{CAR}_power", lambda s: s["state"].isdigit() and int(s["state"]) > 4000, 60)
    ha.wait_for("sensor.ftw_home_car_power", lambda s: s["state"].isdigit() and int(s["state"]) > 4000, 60)


def order(broker: Broker, command: str, value: Any) -> None:
    """Gives a command until it is done; a box that has just started may refuse the first."""
    def is_done() -> bool:
        name = f"picture-{time.monotonic_ns()}"
        with broker.mqtt.watch("ftw/home/result") as results:
            broker.mqtt.publish(f"{TOPIC}/{command}/set", {"id": name, "value": value})
            end = results.wait("the order to end", lambda m: (
                m.document["id"] == name and m.document["final"]), 40)
        return end.document["stage"] == "done"

    wait_until(f"{command} {value} to be done", is_done, 60, 1)


def main() -> int:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else SHIPPED / "pictures")
    folder.mkdir(parents=True, exist_ok=True)
    broker = Broker().start()
    ha = HomeAssistant(broker, zone="Europe/Stockholm", files={
        **shipped_files(), "packages/swedish.yaml": SWEDISH})
    made = []
    try:
        ha.start()
        for language in ("en", "sv"):
            demo = Demo(broker, language=language).start()
            try:
                arrange(demo, ha, broker)
                for of, name, page, size, dark, text, top in PICTURES:
                    if of != language:
                        continue
                    path = folder / f"{name}.png"
                    subprocess.run(
                        [sys.executable, str(HERE / "rig/shot.py"), page, str(path), "--state",
                         str(ha.folder), "--size", size, "--locale", language, "--wait", text,
                         *(["--dark"] if dark else []), *(["--top", top] if top else [])],
                        check=True)
                    made.append(path)
            finally:
                demo.stop()
        subprocess.run(
            [str(installed() / "enter"), "-b", f"{folder}:/srv/pictures", "/srv/venv/bin/python", "-c",
             REDUCE, *(f"/srv/pictures/{path.name}" for path in made)], check=True)
        for path in made:
            print(f"{path}: {path.stat().st_size // 1024} kB")
    finally:
        ha.stop()
        broker.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
