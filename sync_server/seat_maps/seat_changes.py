"""Says which seats of an event were touched since a version: by the log, and by facts on their way to it."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy.orm import Session

from sync_server.outbox import queries as outbox
from sync_server.seat_maps import queries
from sync_server.seat_maps.event_handlers import seats_touched


def seat_changes(session: Session, event_id: str, since: int | None) -> tuple[int, Collection[int] | None]:
    """The version of the log now, and every seat touched by a commit since that version; None where any may have been.

    What waits for the relay is read first: what the relay hands on meanwhile is then in the log. It is reported again
    once it has a version.
    """
    waiting = [seats_touched(session, message) for message in outbox.waiting(session, event_id)]
    head = queries.head(session, event_id)
    if since is None or since < head.oldest or since > head.version:
        return head.version, None
    touched = [*waiting, queries.touched(session, event_id, since) if since < head.version else False]
    if any(seats is None for seats in touched):
        return head.version, None
    return head.version, {seat for seats in touched if isinstance(seats, set) for seat in seats}
