"""Sentences as people say them, made from the templates that Home Assistant's Assist reads."""
from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import yaml

TOKEN = re.compile(r"[\[\]()|]|<\w+>|\{\w+:\w+\}|[^\[\]()|<{]+")


class Sentences:
    """One file of `custom_sentences`.

    Of each template a sentence can be made with the first of every choice and nothing that may be left
    out, with the last of every choice and all of it, or by chance (of a seed).
    """

    def __init__(self, path: Path) -> None:
        self._file: dict[str, Any] = yaml.safe_load(path.read_text())

    def templates(self) -> list[tuple[str, str]]:
        """Every template and the intent that it is for."""
        return [(intent, template) for intent, about in self._file["intents"].items()
                for data in about["data"] for template in data["sentences"]]

    def say(self, template: str, how: str) -> tuple[str, dict[str, str]]:
        """A sentence, and what was put into its slots; `how` is `short`, `long`, or any seed."""
        slots: dict[str, str] = {}
        text = self._expand(template, how, random.Random(f"{how} {template}"), slots)
        return " ".join(text.split()), slots

    def _expand(self, template: str, how: str, chance: random.Random, slots: dict[str, str]) -> str:
        tokens = TOKEN.findall(template)
        assert "".join(tokens) == template, template
        text, rest = self._choice(tokens, 0, how, chance)
        assert rest == len(tokens), template
        said = ""
        for part in text:
            if part[0] == "<":
                said += self._expand(self._file["expansion_rules"][part[1:-1]], how, chance, slots)
            elif part[0] == "{":
                name, slot = part[1:-1].split(":")
                # Two numbers that touch are one.
                said += (" " if said[-1:].isdigit() else "") + self._value(name, slot, how, chance, slots)
            else:
                said += part
        return said

    def _value(self, name: str, slot: str, how: str, chance: random.Random, slots: dict[str, str]) -> str:
        about = self._file["lists"][name]
        if about.get("wildcard"):
            slots[slot] = "familje"
            return slots[slot]
        if "range" in about:
            first, last = about["range"]["from"], about["range"]["to"]
            value = {"short": first + 7, "long": last - 1}.get(how, chance.randint(first, last))
            slots[slot] = str(value)
            return str(value)
        values = about["values"]
        one = {"short": values[0], "long": values[-1]}.get(how, chance.choice(values))
        one = one if isinstance(one, dict) else {"in": one, "out": one}
        slots[slot] = one["out"]
        return self._expand(one["in"], how, chance, {})

    def _choice(self, tokens: list[str], place: int, how: str,
                chance: random.Random) -> tuple[list[str], int]:
        """One of the alternatives from a place up to where they end."""
        alternatives: list[list[str]] = [[]]
        while place < len(tokens) and tokens[place] not in ("]", ")"):
            token = tokens[place]
            place += 1
            if token == "|":
                alternatives.append([])
            elif token in ("[", "("):
                inner, place = self._choice(tokens, place, how, chance)
                place += 1
                is_said = token == "(" or {"short": False, "long": True}.get(how, chance.random() < 0.5)
                alternatives[-1] += inner if is_said else []
            else:
                alternatives[-1].append(token)
        chosen = {"short": alternatives[0], "long": alternatives[-1]}.get(how, chance.choice(alternatives))
        return chosen, place
