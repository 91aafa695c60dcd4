"""Says which seats of an event were touched since a version: by the log, and by facts on their way to it."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy.orm import Session

from sync_server.outbox import queries as outbox
from sync_server.seat_maps import queries
from sync_server.seat_maps.event_handlers import READER, seats_touched
from sync_server.seating.taken import SeatChanges


def seat_changes(
    session: Session, organisation_id: str, event_id: str, since: int | None, known: Collection[str]
) -> SeatChanges:
    """The version of the log now, and every seat touched by a commit since that version; None where any may have been.

    What is not in the log yet is read first: what the relay hands on meanwhile is then in it. It is reported once
    before, to whoever does not know it by its id, and once more when it has a version.
    """
    ids, new = outbox.unread(session, READER, organisation_id, event_id, known)
    unread = [seats_touched(session, fact) for fact in new]
    head = queries.head(session, organisation_id, event_id)
    if since is None or since < head.oldest or since > head.version:
        return SeatChanges(head.version, None, ids)
    touched = [*unread, queries.touched(session, organisation_id, event_id, since) if since < head.version else False]
    if any(seats is None for seats in touched):
        return SeatChanges(head.version, None, ids)
    return SeatChanges(head.version, {seat for seats in touched if isinstance(seats, set) for seat in seats}, ids)
