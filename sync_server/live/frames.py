"""Frames of server-sent events: their wire format, and which notification becomes which frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from sync_server.outbox.catalogue import kind_of
from sync_server.plumbing.messaging.bus import Notification
from sync_server.seat_maps.occupancy import public, with_percents
from sync_server.waiting.handing_over import StreamText


@dataclass(frozen=True, slots=True)
class Frame:
    """One event of a stream. Those with an order can be replayed: a reader sends the last one it has seen."""

    name: str
    payload: Any
    order: int | None = None

    @property
    def message_id(self) -> str:
        """The id of the fact that this frame tells; empty for everything else."""
        return "" if self.order is None else self.payload.get("message_id", "")

    def encoded(self) -> StreamText:
        """The wire format, made once for all readers."""
        id = b"" if self.order is None else b"id: %d\n" % self.order
        text = b"event: %b\n%bdata: %b\n\n" % (self.name.encode(), id, orjson.dumps(self.payload))
        return StreamText(text, self.message_id)


def fact_frame(notice: Mapping[str, Any]) -> Frame:
    """A fact under its own name, or `status` if it changed the status of an event."""
    changed = notice["new_status"] is not None and notice["new_status"] != notice["old_status"]
    return Frame("status" if changed else notice["fact"], dict(notice), notice["order"])


def frames_of_notes(notes: Iterable[Notification]) -> Iterator[Frame]:
    """For the organisers of an event: its facts, and each change of its seats."""
    for note in notes:
        if "fact" not in note.body:
            yield Frame("occupancy", dict(note.body))
        elif note.topic.startswith("events:") and note.body.get("order"):
            yield fact_frame(note.body)


def public_frames(notes: Iterable[Notification], event_id: str) -> Iterator[Frame]:
    """For visitors: how many seats are left, and the event's status."""
    for note in notes:
        if "fact" not in note.body:
            yield from occupancy_frames(note.body, event_id)
        elif note.topic.startswith("events:") and fact_frame(note.body).name == "status":
            fields = kind_of(note.body["fact"]).public
            if fields:
                yield Frame("status", {field: note.body.get(field) for field in ("event_id", *fields, "at")})


def occupancy_frames(counts: Mapping[str, Any], event_id: str) -> Iterator[Frame]:
    """The public numbers; nothing for an event without a capacity, which never sells out."""
    if counts.get("total"):
        days = [{"date": day["date"], **with_percents(public(day))} for day in counts.get("days", ())]
        numbers = with_percents(public(counts)) | ({"days": days} if days else {})
        yield Frame("occupancy", {"event_id": event_id, "mark": counts.get("mark"), **numbers})
