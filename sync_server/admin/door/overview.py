"""The page of the door: who is inside, which gate needs whom, how fast guests come in, and why some are refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from shared.clock import Millis
from sync_server.admin.door.board import MINUTE, board
from sync_server.admin.door.entry_curve import FINE, entry_curve
from sync_server.admin.door.needs import needs
from sync_server.admin.page import bp, current_organisation, page, render_page, words
from sync_server.events import queries as events
from sync_server.plumbing.parts import parts
from sync_server.scans import throughput
from sync_server.scans.throughput import Stretch

HALF_HOUR: Final = 30 * MINUTE
MOST_HALF_HOURS: Final = 48
"""The last day of those of an event that goes on for longer."""
FEWEST: Final = 8
"""Room for the evening to come, so that the first guests do not look like all of it."""


@dataclass(frozen=True, slots=True)
class HalfHour:
    """What happened at all gates in half an hour."""

    starts: Millis
    value: int  # entries
    exits: int
    refused: int


@bp.get("/events/<event_id>/door")
@page()
def door(event_id: str) -> str:
    """The door of one event, for whoever leads it with a phone in the hand."""
    now = parts().clock()
    with parts().database.reading() as session:
        event = events.event(session, current_organisation(), event_id)
        seen = board(session, event, now)
        stretches = throughput.by_gate(session, event.key, FINE)
    shown: dict[str, object] = {"board": seen, "needs": needs(seen, event.timezone), "halves": _by_half_hour(stretches)}
    shown["curve"] = entry_curve(stretches, event.timezone, words())
    return render_page("door/overview.html", event=event, **shown)


def _by_half_hour(stretches: Iterable[Stretch]) -> list[HalfHour]:
    """All half hours from the first scan to the last, those in which nothing happened among them."""
    entries: Counter[Millis] = Counter()
    exits: Counter[Millis] = Counter()
    refused: Counter[Millis] = Counter()
    for one in stretches:
        starts = one.starts // HALF_HOUR * HALF_HOUR
        entries[starts] += one.entries
        exits[starts] += one.exits
        refused[starts] += one.refused
    if not entries:
        return []
    first, last = max(min(entries), max(entries) - (MOST_HALF_HOURS - 1) * HALF_HOUR), max(entries)
    return [
        HalfHour(at, entries[at], exits[at], refused[at])
        for at in range(first, max(last + 1, first + FEWEST * HALF_HOUR), HALF_HOUR)
    ]
