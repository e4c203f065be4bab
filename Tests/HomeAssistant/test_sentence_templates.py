"""Every sentence that is offered is understood as what it is for; nothing is carried out here."""
from __future__ import annotations

from typing import Any, ClassVar

from support import HomeAssistantCase, counts
from support.shipped import SHIPPED, shipped_options
from support.spoken import Sentences


class TemplateTests(HomeAssistantCase):
    """Each template of both languages, short, long, and some by chance."""

    cost = 20
    options = shipped_options()
    ways: ClassVar[tuple[str, ...]] = ("short", "long", "seed 1", "seed 2", "seed 3", "seed 4")

    def test_each_template_is_understood_as_its_intent(self) -> None:
        for language in ("en", "sv"):
            sentences = Sentences(SHIPPED / f"custom_sentences/{language}/ftw_mqtt.yaml")
            templates = sentences.templates()
            self.assertGreater(len(templates), 40)
            said = {text: (intent, slots) for intent, template in templates for how in self.ways
                    for text, slots in [sentences.say(template, how)]}
            answers = self.ha.command("conversation/agent/homeassistant/debug", language=language,
                                      sentences=list(said))["results"]
            self.assertEqual(len(said), len(answers))
            for (text, (intent, slots)), answer in zip(said.items(), answers, strict=True):
                with self.subTest(text):
                    self.understood(answer, intent, {**slots, "spoken": language})
                    counts["sentences understood"] += 1

    def understood(self, answer: dict[str, Any] | None, intent: str, slots: dict[str, str]) -> None:
        assert answer and answer["match"], f"nothing is understood: {answer}"
        self.assertEqual(intent, answer["intent"]["name"])
        self.assertEqual(slots, {
            name: of["value"] if isinstance(of["value"], str) else f"{of['value']:g}"
            for name, of in answer["details"].items()})
