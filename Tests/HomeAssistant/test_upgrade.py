"""A newer bridge meets what an older one left behind."""
from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, ClassVar

from support import Bridge, HomeAssistantCase, House, Picture, announced, counts, work_folder

RELEASES = sorted((Path(__file__).parent / "Data").glob("release-*"))


class UpgradeTests(HomeAssistantCase):
    """Every id stays; nothing comes twice; what is no more goes."""

    cost = 30
    picture: ClassVar[Picture] = Picture()

    def test_with_its_state_folder(self) -> None:
        for release in RELEASES:
            with self.subTest(release.name):
                self._upgrade(release, keeps_memory=True)

    def test_with_a_new_state_folder(self) -> None:
        """As after moving to another machine and pairing again."""
        for release in RELEASES:
            with self.subTest(release.name):
                self._upgrade(release, keeps_memory=False)

    def _upgrade(self, release: Path, keeps_memory: bool) -> None:
        house = House(self.broker, folder=work_folder("house"))
        shutil.copy(release / "box.json", house.folder / "box.json")
        house.start()
        bridge = Bridge(self.broker, {"home": house}, settings={"car": {"read_interval": "15s"}})
        try:
            house("car situation car_live 60")
            old = self._left_by(release, bridge, keeps_memory)
            bridge.pair_all()
            bridge.start()
            self._check(old, keeps_memory)
        finally:
            bridge.stop()
            house.stop()
            self.broker.mqtt.clear()
            self.ha.wait_empty()

    def _left_by(self, release: Path, bridge: Bridge, keeps_memory: bool) -> dict[str, str]:
        """Puts in place what the release left; returns its entities by unique id."""
        discovery: dict[str, Any] = json.loads((release / "discovery.json").read_text())
        memory = json.loads((release / "memory-home.announced.json").read_text())
        if keeps_memory:
            self._add_what_is_no_more(discovery, memory)
            state = bridge.folder / "state"
            state.mkdir(mode=0o700)
            (state / "memory-home.announced.json").write_text(json.dumps(memory) + "\n")
            (state / "memory-home.announced.json").chmod(0o600)
        for topic, payload in discovery.items():
            self.broker.mqtt.publish(topic, payload, retain=True)
        wanted = len(announced(self.broker.mqtt))
        self.ha.wait_states("the old entities to be there", lambda states: len(
            [e for e in states if ".ftw_home_" in e]) == wanted)
        return {unique: str(entry["entity_id"]) for unique, entry in self.ha.registry().items()}

    @staticmethod
    def _add_what_is_no_more(discovery: dict[str, Any], memory: dict[str, Any]) -> None:
        """A component, a device and a topic that the release announced and the new one does not."""
        topic = next(t for t in discovery if t.endswith("/config") and "components" in discovery[t]
                     and "grid_power" in discovery[t]["components"])
        site = discovery[topic]
        stem = site["device"]["identifiers"][0]
        thing = {**site["components"]["grid_power"], "unique_id": f"{stem}_old_thing",
                 "default_entity_id": "sensor.ftw_home_old_thing"}
        site["components"]["old_thing"] = thing
        memory["body"]["devices"][topic]["live"]["old_thing"] = "sensor"
        device = topic.replace("/config", "_old/config")
        discovery[device] = {
            **site, "device": {"identifiers": [f"{stem}_old"], "name": "Old", "via_device": stem},
            "components": {"x": {**thing, "unique_id": f"{stem}_old_x",
                                 "default_entity_id": "sensor.ftw_home_old_x"}}}
        memory["body"]["devices"][device] = {"live": {"x": "sensor"}, "gone": {}, "options": {}}
        single = f"homeassistant/time/{stem}_car_garage_old/config"
        time_topic = next(t for t in discovery if t.startswith("homeassistant/time/"))
        discovery[single] = {**discovery[time_topic], "unique_id": f"{stem}_car_garage_old",
                             "default_entity_id": "time.ftw_home_car_garage_old"}
        memory["body"]["devices"][single] = {"live": {"old": "time"}, "gone": {}, "options": {}}

    def _check(self, old: dict[str, str], keeps_memory: bool) -> None:
        retained = self.picture.wait_equal(self.ha, self.broker.mqtt, 60)
        self.assertEqual(set(), self.picture.unavailable(retained))
        wanted = {a.unique_id: a.entity_id for a in announced(self.broker.mqtt)}
        if keeps_memory:
            # What is no more is gone, from the broker and from Home Assistant.
            self.ha.wait_states("what is no more to go", lambda states: not [
                e for e in states if "_old" in e])
            self.assertEqual([], [t for t in self.broker.mqtt.retained() if "_old" in t])
            self.assertLessEqual(3, len(set(old) - set(wanted)))
        there = {unique: str(entry["entity_id"]) for unique, entry in self.ha.registry().items()}
        self.assertEqual(wanted, there)
        same = set(old) & set(there)
        self.assertGreater(len(same), 80)
        self.assertEqual({u: old[u] for u in same}, {u: there[u] for u in same})
        self.assertEqual([], [e for e in there.values() if e.endswith("_2")])
        counts["ids kept over an upgrade"] += len(same)
