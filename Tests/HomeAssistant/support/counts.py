"""What a run has looked at, for its last line: a green suite that compared nothing proves nothing."""
from __future__ import annotations

from collections import Counter

counts: Counter[str] = Counter()
"""By name: `entities`, `states`, `commands`, `restarts`, `log lines`, `home assistants`, …"""
