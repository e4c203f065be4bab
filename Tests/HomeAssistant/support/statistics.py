"""Home Assistant's statistics and its database, for tests that cannot wait five minutes for them."""
from __future__ import annotations

import datetime
import json
import sqlite3
from typing import Any

from .counts import counts
from .homeassistant import HomeAssistant
from .waiting import wait_until

PERIOD = datetime.timedelta(minutes=5)

# A service that lets the recorder do at once what it does each five minutes, by its own code. The
# stretch under way is compiled too, so each stretch can be asked for once.
COMPONENT = '''"""Compiles short-term statistics when a test asks for it."""
from datetime import timedelta

from homeassistant.components.recorder import get_instance
from homeassistant.components.recorder.statistics import get_start_time
from homeassistant.components.recorder.tasks import StatisticsTask


async def async_setup(hass, config):
    """Sets up the service `compile_statistics.now`."""

    async def compile_now(call):
        recorder = get_instance(hass)
        for start in (get_start_time(), get_start_time() + timedelta(minutes=5)):
            recorder.queue_task(StatisticsTask(start, False))

    hass.services.async_register("compile_statistics", "now", compile_now)
    return True
'''

OPTIONS: dict[str, Any] = {
    "files": {
        "custom_components/compile_statistics/__init__.py": COMPONENT,
        "custom_components/compile_statistics/manifest.json": json.dumps({
            "domain": "compile_statistics", "name": "Compile statistics", "version": "1.0.0",
            "documentation": "https://www.home-assistant.io", "codeowners": [], "requirements": [],
            "dependencies": ["recorder"], "iot_class": "calculated", "integration_type": "system"}),
    },
    "packages": {"compile_statistics": "compile_statistics:\n"},
}
"""What a Home Assistant needs for `compile_now`."""


def period_start(moment: datetime.datetime | None = None) -> datetime.datetime:
    """Start of the five minutes that hold the moment."""
    moment = moment or datetime.datetime.now(datetime.UTC)
    return moment.replace(minute=moment.minute - moment.minute % 5, second=0, microsecond=0)


Rows = dict[str, list[dict[str, Any]]]


def short_term(ha: HomeAssistant, ids: list[str], since: datetime.datetime) -> Rows:
    """Rows of five minutes, each with `start`, `end` (ms), `state` and `sum`."""
    counts["statistics"] += len(ids)
    rows: Rows = ha.command(
        "recorder/statistics_during_period", start_time=(since - PERIOD).isoformat(), statistic_ids=ids,
        period="5minute", types=["state", "sum"])
    return {entity: rows.get(entity, []) for entity in ids}


def wait_compiled(ha: HomeAssistant, ids: list[str], start: datetime.datetime, timeout: float = 30) -> Rows:
    """Waits until the five minutes that begin at `start` are there for all of them; returns all rows."""
    wanted = start.timestamp() * 1000

    def find() -> Rows | None:
        rows = short_term(ha, ids, start - datetime.timedelta(hours=1))
        return rows if all(r and r[-1]["start"] >= wanted for r in rows.values()) else None

    return wait_until(f"statistics of the five minutes from {start:%H:%M}", find, timeout, 0.3,
                      told=lambda: {e: r[-1:] for e, r in short_term(ha, ids, start).items()})


def compile_now(ha: HomeAssistant, ids: list[str]) -> Rows:
    """Statistics up to now, compiled by the recorder; needs `OPTIONS`."""
    start = period_start()
    ha.call("compile_statistics.now")
    return wait_compiled(ha, ids, start)


def recorded(ha: HomeAssistant, entity: str) -> list[tuple[str, str]]:
    """State and attributes of every recorded row of an entity, as they lie in the database."""
    base = sqlite3.connect(f"file:{ha.config / 'home-assistant_v2.db'}?mode=ro", uri=True, timeout=30)
    try:
        rows = base.execute(
            "SELECT states.state, state_attributes.shared_attrs FROM states"
            " JOIN states_meta USING (metadata_id) LEFT JOIN state_attributes USING (attributes_id)"
            " WHERE states_meta.entity_id = ? ORDER BY states.state_id", (entity,)).fetchall()
    finally:
        base.close()
    counts["recorded states"] += len(rows)
    return [(str(state), attributes or "") for state, attributes in rows]
