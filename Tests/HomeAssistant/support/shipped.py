"""What is shipped beside the bridge for Home Assistant, as people copy it into their configuration."""
from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from .children import TREE

SHIPPED = TREE / "config/home-assistant"
"""The folder that a person copies from."""

FOLDERS = ("blueprints", "custom_sentences", "custom_templates", "packages")
"""What of it is copied as it is, beside the dashboards."""


def shipped_files() -> dict[str, str]:
    """Every file that is copied, by its path in Home Assistant's configuration folder."""
    paths = [path for folder in FOLDERS for path in sorted((SHIPPED / folder).rglob("*")) if path.is_file()]
    paths += sorted(SHIPPED.glob("dashboard.*.yaml"))
    return {str(path.relative_to(SHIPPED)): path.read_text() for path in paths}


def shipped_options(**more: Any) -> dict[str, Any]:
    """Options of a Home Assistant in which all of it was copied; a household in Sweden."""
    return {"files": shipped_files(), "zone": "Europe/Stockholm", **more}


def blueprints() -> list[Path]:
    return sorted((SHIPPED / "blueprints/automation/ftw-mqtt").glob("*.yaml"))


def readme_block(heading: str, language: str = "yaml", file: Path | None = None) -> str:
    """The first fenced block below a heading of the README, as a reader copies it."""
    text = (file or TREE / "README.md").read_text()
    match = re.search(rf"^#+ {re.escape(heading)}\n.*?^```{language}\n(.*?)^```", text,
                      re.MULTILINE | re.DOTALL)
    assert match, f"no {language} block below '{heading}'"
    return match[1]


def readme_order() -> dict[str, str]:
    """The command with which the README's automation begins to charge: its topic and payload."""
    for choice in yaml.safe_load(readme_block("Automations"))["actions"][0]["choose"]:
        for action in choice["sequence"]:
            if action["action"] == "mqtt.publish" and "charge_now" in action["data"]["payload"]:
                return dict(action["data"])
    raise AssertionError("the README's automation never charges")
