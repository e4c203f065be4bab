"""What the guides tell people to click, in the words that Home Assistant itself has there."""
from __future__ import annotations

import json
import re
import unittest
from typing import ClassVar

from support import counts
from support.children import TREE
from support.homeassistant import installed
from support.shipped import SHIPPED
from test_energy import steps

PATH = re.compile(r"(?<!\*)\*([^*]+→[^*]+)\*(?!\*)")
"""Something to click, and then something else."""

SETTINGS = "panel.config"
SECTION = "ui.panel.config.dashboard.{}.main"
AUTOMATION = "ui.panel.config.automation"
CARD = "ui.panel.lovelace.editor"
TOOLS = "ui.panel.config.tools.tabs.yaml"

CHECK = [SETTINGS, SECTION.format("tools"), f"{TOOLS}.title", f"{TOOLS}.section.validation.check_config"]
BLUEPRINTS = [SETTINGS, SECTION.format("automations"), "ui.panel.config.blueprint.caption"]
MQTT = "ui.panel.config.mqtt.title"


def translations(language: str) -> dict[str, str]:
    """Every text of Home Assistant's frontend in a language, by its key."""
    files = sorted(installed().glob(
        "rootfs/srv/*/lib/python3*/site-packages/hass_frontend/static/translations"
        f"/**/{language}-[0-9a-f]*.json"))
    assert files, f"Home Assistant's frontend does not speak {language}"
    texts: dict[str, str] = {}
    for file in files:
        texts.update(json.loads(file.read_text()))
    return texts


class GuideTests(unittest.TestCase):
    """What is to be clicked is there, by that name. Needs no Home Assistant that runs."""

    PATHS: ClassVar[dict[str, tuple[str, list[list[str]]]]] = {
        "README.md": ("en", [
            [SETTINGS, SECTION.format("devices"), "ui.panel.config.integrations.add_integration", MQTT],
            [SETTINGS, SECTION.format("devices"), MQTT, "ui.panel.config.devices.caption"],
            ["ui.panel.lovelace.menu.configure_ui", f"{CARD}.section.add_card", f"{CARD}.cardpicker.by_card",
             f"{CARD}.card.tile.name"],
            [SETTINGS, SECTION.format("automations"), f"{AUTOMATION}.picker.add_automation",
             f"{AUTOMATION}.dialog_new.create_empty", f"{AUTOMATION}.editor.edit_yaml"]]),
        "config/home-assistant/README.md": ("en", [CHECK, BLUEPRINTS]),
        "config/home-assistant/README.sv.md": ("sv", [CHECK, BLUEPRINTS]),
        "config/home-assistant/energy.md": ("en", [
            [SETTINGS, SECTION.format("system"), "ui.panel.config.core.caption",
             "ui.panel.config.core.section.core.regional_settings_card.header"],
            [SETTINGS, SECTION.format("energy")]]),
    }
    """Each way through Home Assistant that a guide tells, in order, by the keys of what is clicked."""

    ELSEWHERE = "Settings → FTW app → Show code"
    """On the box's own page."""

    def test_every_way_is_in_home_assistants_own_words(self) -> None:
        for file, (language, ways) in self.PATHS.items():
            with self.subTest(file):
                text = " ".join((TREE / file).read_text().split())
                told = [way for way in PATH.findall(text) if way != self.ELSEWHERE]
                words = translations(language)
                self.assertEqual([" → ".join(words[key] for key in way) for way in ways], told)
                counts["words"] += sum(len(way) for way in ways)

    def test_no_guide_is_left_out(self) -> None:
        guides = {TREE / "README.md", *SHIPPED.glob("*.md")}
        self.assertEqual(guides, {TREE / file for file in self.PATHS})
        for guide in guides:
            self.assertEqual(
                [], [line for line in PATH.sub("", " ".join(guide.read_text().split())).split(". ")
                     if re.search(r"(Settings|Inställningar) →", line)], guide.name)

    def test_the_energy_guide_uses_the_words_of_the_dialogs(self) -> None:
        used = re.findall(r"\*+([^*]+)\*+", steps())
        self.assertEqual(17, len(used))
        known = {text for key, text in translations("en").items()
                 if key.startswith("ui.panel.config.energy.")}
        self.assertEqual([], [word for word in used if word not in known])
        counts["words"] += len(used)
