"""Frames of server-sent events: their text form, and which news becomes which frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from sync_server.plumbing.bus import Note

RECONNECT_MS: Final = 3_000
HINT: Final = f"retry: {RECONNECT_MS}\n\n"
HEARTBEAT: Final = ": heartbeat\n\n"

_OPEN: Final = (
    "total",
    "total_available",
    "total_held",
    "total_sold",
    "percent_available",
    "percent_held",
    "percent_sold",
)
"""What anybody may know of a house's seats: how many, never which and never whose."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One event of a stream. Those with an order can be asked for again: a reader sends the last one it has seen."""

    name: str
    told: Any
    order: int | None = None

    def text(self) -> str:
        """As it goes over the wire."""
        id = "" if self.order is None else f"id: {self.order}\n"
        return f"event: {self.name}\n{id}data: {orjson.dumps(self.told).decode()}\n\n"


def of_fact(told: Mapping[str, Any]) -> Frame:
    """A fact under its own name; one by which an event has walked on is called `status`."""
    walked = told["new_status"] is not None and told["new_status"] != told["old_status"]
    return Frame("status" if walked else told["fact"], dict(told), told["order"])


def of_notes(notes: Iterable[Note]) -> Iterator[Frame]:
    """For those who may know everything of the event: its facts, and each change of its seats."""
    for note in notes:
        if "fact" not in note.body:
            yield Frame("occupancy", dict(note.body))
        elif note.topic.startswith("events:") and note.body.get("order"):
            yield of_fact(note.body)


def for_anybody(notes: Iterable[Note], event_id: str) -> Iterator[Frame]:
    """For visitors: how many seats are left, and that the event has walked on."""
    for note in notes:
        if "fact" not in note.body:
            yield from seats_left(note.body, event_id)
        elif note.topic.startswith("events:") and of_fact(note.body).name == "status":
            words = ("event_id", "old_status", "new_status", "rescheduled_at", "replaced_by_event_id", "at")
            yield Frame("status", {word: note.body[word] for word in words})


def seats_left(counts: Mapping[str, Any], event_id: str) -> Iterator[Frame]:
    """The numbers that anybody may know; none of an event without a bound, where nothing is ever left or gone."""
    told = {name: counts[name] for name in _OPEN if name in counts}
    if told and counts.get("total") != 0:
        yield Frame("occupancy", {"event_id": event_id, **told})
