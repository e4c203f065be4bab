"""The way of the README from an empty Home Assistant to a tile that was tapped, and how long it takes."""
from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

from support import Demo, HomeAssistantCase, Picture, counts, wait_until
from support.homeassistant import RIG
from support.shipping import CAR

PATH = "first-time"
TILE = f"switch.{CAR}_switch"


class FirstTimeTests(HomeAssistantCase):
    """As a person does it, without the typing; what takes how long is printed, and never asserted."""

    cost = 25

    def request(self, method: str, path: str, body: Any = None) -> Any:
        status, answer = self.ha.rest(method, f"/api/config/config_entries/{path}", body)
        self.assertEqual(200, status, answer)
        return answer

    def add_mqtt(self) -> None:
        """Step 1: the integration's dialog, with the broker's address; then it is there."""
        flow = self.request("POST", "flow", {"handler": "mqtt"})
        self.assertEqual("broker", flow["step_id"])
        end = self.request("POST", f"flow/{flow['flow_id']}", {
            "broker": self.broker.host, "port": self.broker.port,
            "other_settings": {"set_client_cert": False, "set_ca_cert": "off", "transport": "tcp"}})
        self.assertEqual("create_entry", end["type"], end)
        wait_until("MQTT to be loaded", lambda: self.ha.is_healthy, 30, 0.05)

    def add_tile(self) -> None:
        """Step 4: a dashboard with the tile of the car."""
        made = self.ha.command(
            "lovelace/dashboards/create", url_path=PATH, title="First time", mode="storage")
        self.addCleanup(self.ha.command, "lovelace/dashboards/delete", dashboard_id=made["id"])
        view = {"title": "Home", "cards": [{"type": "tile", "entity": TILE}]}
        self.ha.command("lovelace/config/save", url_path=PATH, config={"views": [view]})

    def screen(self) -> str:
        """What a browser that was just started shows of the dashboard."""
        picture = self.ha.folder / "tile.png"
        shot = subprocess.run(
            [sys.executable, str(RIG / "shot.py"), f"/{PATH}/0", str(picture), "--state",
             str(self.ha.folder), "--wait", "Car charging", "--settle", "0", "--text"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=120)
        self.assertEqual(0, shot.returncode, shot.stdout)
        return shot.stdout

    def test_from_an_empty_home_assistant_to_a_tile_that_was_tapped(self) -> None:
        entry = self.ha.ha.mqtt_entry()
        assert entry
        self.request("DELETE", f"entry/{entry['entry_id']}")
        self.assertIsNone(self.ha.ha.mqtt_entry())
        self.assertEqual({}, self.ha.states("switch."))
        took: dict[str, float] = {}

        self.add_mqtt()

        began = time.monotonic()
        demo = self.use(Demo(self.broker))
        Picture().wait_equal(self.ha, self.broker.mqtt)
        took["from the bridge's start to every entity being right"] = time.monotonic() - began
        self.assertEqual("Car charging", self.ha.attributes(TILE)["friendly_name"])

        self.add_tile()
        demo("car situation car_live 52")
        self.ha.wait_for(TILE, "off")
        self.assertIsNone(demo.car()["hold"])
        began = time.monotonic()
        self.assertRegex(self.screen(), r"Car charging\nOff\b")
        took["from starting a browser to the tile on its screen"] = time.monotonic() - began
        began = time.monotonic()
        self.ha.call("switch.toggle", TILE)
        self.ha.wait_for(TILE, "on")
        took["from a tap to what the box confirmed"] = time.monotonic() - began
        self.assertGreater(demo.car()["hold"]["power_w"], 0)
        counts["effects seen in the house"] += 1
        for what, seconds in took.items():
            print(f"first time: {seconds:.1f} s {what}", flush=True)
