"""The curve of who came in and who went out, from the first scan to the last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import accumulate
from typing import Any, Final

from shared.clock import Millis
from sync_server.admin import display
from sync_server.plumbing.language.texts import Translator
from sync_server.scans.throughput import Stretch

FINE: Final = 5 * 60_000
COARSE: Final = 6 * FINE
MOST_FINE: Final = 2 * 24 * 3_600_000
"""Longer than two days five minutes are finer than a screen."""


def entry_curve(stretches: Iterable[Stretch], timezone: str, t: Translator) -> dict[str, Any] | None:
    """What the chart draws, of stretches of five minutes: moments, and how many came until then; or None."""
    entries: Counter[Millis] = Counter()
    exits: Counter[Millis] = Counter()
    for one in stretches:
        entries[one.starts] += one.entries
        exits[one.starts] += one.exits
    happened = [at for at in entries if entries[at] or exits[at]]
    if not happened:
        return None
    first, step = min(happened), FINE if max(happened) - min(happened) <= MOST_FINE else COARSE
    moments = list(range(first, max(happened) + FINE + step, step))
    lines = [{"name": t("door.came_in"), "look": "main", "values": _until(moments, entries)}]
    if sum(exits.values()):
        lines.append({"name": t("door.went_out"), "look": "before", "values": _until(moments, exits)})
    return {
        "locale": display.LOCALE,
        "timezone": timezone,
        "at": [moment // 1000 for moment in moments],
        "lines": [line | {"stepped": True} for line in lines],
    }


def _until(moments: list[Millis], counts: Counter[Millis]) -> list[int]:
    """How many there were until each of these moments: what a stretch counts has happened at its end."""
    step, by_moment = moments[1] - moments[0], Counter[int]()
    for at, count in counts.items():
        by_moment[-(-(at + FINE - moments[0]) // step)] += count
    return list(accumulate(by_moment[place] for place in range(len(moments))))
