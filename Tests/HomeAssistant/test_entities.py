"""Every entity: that it is there, what it looks like, and that it says what its document says."""
from __future__ import annotations

import json
from typing import Any, ClassVar

from support import Demo, HomeAssistantCase, Picture, Row, announced, counts

BOX = "5a1d0b0c5a1d0b0c"
"""Id of the simulated box."""

TOO_LARGE = 8_000
"""Bytes; beyond twice that Home Assistant stores no attributes and warns at every change."""


class EntityTests(HomeAssistantCase):
    """The whole house on an ordinary day, in one process."""

    cost = 40
    demo: ClassVar[Demo]
    picture: ClassVar[Picture]

    @classmethod
    def arrange(cls) -> None:
        # In the afternoon, when tomorrow's prices are out: 192 quarters are the longest attributes.
        cls.demo = cls.keep(Demo(cls.broker, start="2026-06-15T15:00:00+02:00"))
        cls.demo("car situation car_live 60")
        cls.picture = Picture()
        cls.picture.wait_equal(cls.ha, cls.broker.mqtt, 60)

    def rows(self) -> list[tuple[str, Row]]:
        return [(entity, row) for entity, (row, _) in self.picture.rows.items()]

    def test_every_entity_that_should_be_is_announced_and_no_other(self) -> None:
        self.assertEqual(sorted(self.picture.rows), sorted(a.entity_id for a in announced(self.broker.mqtt)))

    def test_every_state_is_what_its_document_says(self) -> None:
        retained = self.picture.wait_equal(self.ha, self.broker.mqtt)
        self.assertEqual(set(), self.picture.unavailable(retained))
        states = self.ha.fresh_states()
        self.assertEqual([], [e for e in self.picture.rows if states[e]["state"] == "unavailable"])

    def test_what_is_unknown_is_what_nobody_can_know_yet(self) -> None:
        """Totals need their first five minutes; nobody entered a level, and nothing went wrong."""
        totals = {e for e, row in self.rows() if row.kind == "energy" and row.topic == "energy"}
        may = totals | {f"sensor.ftw_home_{key}" for key in (
            "last_error", "car_garage_person_level", "car_garage_shortfall",
            # Spare sun is enough, so no charging is planned.
            "car_garage_charging_start", "car_garage_charging_end")}
        unknown = self.picture.unknown(self.broker.mqtt.retained("ftw/home/#"))
        self.assertEqual(set(), unknown - may)

    def test_classes_units_and_categories(self) -> None:
        states, registry = self.ha.fresh_states(), self._registry()
        for entity, row in self.rows():
            with self.subTest(entity):
                attributes, entry = states[entity]["attributes"], registry[entity]
                self.assertEqual(row.kind, attributes.get("device_class"))
                self.assertEqual(row.unit, attributes.get("unit_of_measurement"))
                self.assertEqual(row.state_class, attributes.get("state_class"))
                self.assertEqual("diagnostic" if row.diagnostic else None, entry["entity_category"])
                self.assertIsNone(entry["disabled_by"])
                counts["entities looked at"] += 1

    def test_decimals_that_are_shown(self) -> None:
        registry = self._registry()
        for entity, row in self.rows():
            if row.domain == "sensor":
                with self.subTest(entity):
                    shown = registry[entity]["options"].get("sensor", {}).get("suggested_display_precision")
                    self.assertEqual(row.precision, shown)

    def test_a_sensor_of_a_kind_of_word_has_only_words_of_its_list(self) -> None:
        states = self.ha.fresh_states()
        for entity, row in self.rows():
            if row.kind == "enum" or row.domain == "select":
                with self.subTest(entity):
                    options = states[entity]["attributes"]["options"]
                    self.assertIn(states[entity]["state"], options)
                    self.assertEqual(len(options), len(set(options)))

    def test_availability_is_of_what_the_value_needs(self) -> None:
        """Bridge, box, and the value's own source; diagnostics of the bridge alone."""
        places = {"box": "box/availability", "meter": "source/grid-meter/availability",
                  "solar": "source/roof-pv/availability", "battery": "source/house-battery/availability",
                  "charger": "source/garage-charger/availability",
                  "commands": "car/garage/commands/availability", "plugged": "car/garage/state"}
        found = {a.entity_id: a for a in announced(self.broker.mqtt)}
        for entity, row in self.rows():
            with self.subTest(entity):
                component = found[entity].component
                wanted = {"ftw/home/bridge/availability"} | {f"ftw/home/{places[n]}" for n in row.needs}
                self.assertEqual(wanted, {a["topic"] for a in component["availability"]})
                self.assertEqual("all", component["availability_mode"])

    def test_attributes_are_the_document_and_small(self) -> None:
        states = self.ha.fresh_states()
        retained = self.broker.mqtt.retained("ftw/home/#")
        for entity, (row, prefix) in self.picture.rows.items():
            attributes = states[entity]["attributes"]
            with self.subTest(entity):
                self.assertLessEqual(len(json.dumps(attributes, ensure_ascii=False).encode()), TOO_LARGE)
                if row.attributes:
                    document = retained[f"ftw/home/{prefix}{row.attributes}"].document
                    # Home Assistant keeps this word for itself.
                    document.pop("state", None)
                    self.assertEqual(set(document), set(document) & set(attributes))

    def test_the_longest_attributes_are_the_prices_of_two_days(self) -> None:
        attributes = self.ha.fresh_states()["sensor.ftw_home_price"]["attributes"]
        self.assertEqual(192, len(attributes["total"]))
        self.assertTrue(attributes["tomorrow_known"])

    def test_ids_come_from_the_box_and_never_look_like_the_box_s_own_bridge(self) -> None:
        found = announced(self.broker.mqtt)
        self.assertEqual(len(found), len({a.unique_id for a in found}))
        for one in found:
            with self.subTest(one.entity_id):
                self.assertRegex(one.unique_id, f"^ftw_{BOX}_[a-z0-9_-]+$")
                self.assertRegex(one.entity_id, r"^[a-z_]+\.ftw_home_[a-z0-9_]+$")
        self.assertNotIn("forty_two_watts", "".join(self.broker.mqtt.retained("homeassistant/#"))
                         + json.dumps([one.component for one in found]))

    def test_entity_ids_are_the_ones_that_were_asked_for(self) -> None:
        registered = {unique: entry["entity_id"] for unique, entry in self.ha.registry().items()}
        self.assertEqual({a.unique_id: a.entity_id for a in announced(self.broker.mqtt)}, registered)

    def test_devices_belong_to_the_site(self) -> None:
        devices = {d["name"]: d for d in self.ha.devices()}
        self.assertEqual({"Demo House", "Home battery", "Car charging"}, set(devices))
        site = devices["Demo House"]
        self.assertEqual([["mqtt", f"ftw_{BOX}"]], site["identifiers"])
        for name in ("Home battery", "Car charging"):
            self.assertEqual(site["id"], devices[name]["via_device_id"])

    def test_names_do_not_say_the_device_twice(self) -> None:
        """Friendly names are the device's and the entity's; the switch is what people say."""
        states = self.ha.fresh_states()
        for entity in self.picture.rows:
            with self.subTest(entity):
                name = states[entity]["attributes"]["friendly_name"]
                self.assertNotRegex(name, r"\b(\w+ \w+) \1\b")
        self.assertEqual("Car charging",
                         states["switch.ftw_home_car_garage_switch"]["attributes"]["friendly_name"])

    def _registry(self) -> dict[str, dict[str, Any]]:
        ids = list(self.picture.rows)
        found: dict[str, dict[str, Any]] = self.ha.command(
            "config/entity_registry/get_entries", entity_ids=ids)
        return found
