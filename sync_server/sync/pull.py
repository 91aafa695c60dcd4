"""What comes down to gates: snapshot frames, and changes of rows and movements, waited for where there are none."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy.orm import Session

from shared import protocol
from shared.clock import Millis
from shared.errors import NotFound
from shared.frames import MAX_FRAME_ROWS
from shared.protocol import Batch, EventAt
from shared.snapshot import movements_to_bytes, to_frame
from sync_server.devices import queries as devices
from sync_server.devices import rules
from sync_server.plumbing.database import Database
from sync_server.revisions import queries as revisions
from sync_server.revisions import service as revisions_service
from sync_server.revisions.bell import Bell
from sync_server.revisions.queries import Head
from sync_server.scans import queries as scans

FRAME_ROWS = 5_000
BATCH_ROWS = 5_000
BATCH_MOVEMENTS = 5_000
PROMISE_EVERY_MS = 1_000
"""Rows that nothing was promised of for longer than this are settled anew before they are called fresh."""
LOOK_AT_ASSIGNMENTS_S = 1.0
"""How long a waiting gate may go on without hearing that its work has changed."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """What long polls wait with: a bell, the server's stop, and the key that signs batches."""

    database: Database
    bell: Bell
    stop: threading.Event
    key: Ed25519PrivateKey


@dataclass(frozen=True, slots=True)
class _Look:
    """What one look at the database found, of every event asked for."""

    batches: list[Batch]
    seen: Mapping[int, tuple[int, int]]
    assignments_changed: bool
    stale: Sequence[int]  # events of which gates were promised nothing for a while

    @property
    def news(self) -> list[Batch]:
        """The batches that tell more than that nothing has changed."""
        return [batch for batch in self.batches if _has_news(batch)]


def frame(
    session: Session, device_id: str, event: int, *, after: str, limit: int, now: Millis
) -> protocol.SnapshotAnswer:
    """The next rows of an event by kind and key, and the revision from which changes must be asked afterwards."""
    kind, key = protocol.read_row_mark(after)
    head = _head_for(session, device_id, event)
    rows = revisions.frame_rows(session, event, int(kind), key, limit)
    return protocol.SnapshotAnswer(
        event=event,
        lineage=head.lineage,
        base_revision=head.revision,
        frame=to_frame(rows),
        next=protocol.row_mark(rows[-1].kind, rows[-1].key) if len(rows) == limit else None,
        as_of=_as_of(head, now),
    )


def changes(waiting: Waiting, device_id: str, asked: protocol.ChangesRequest) -> protocol.ChangesAnswer:
    """What is new at these events; with `wait`, as soon as something is."""
    look = _look(waiting.database, device_id, asked.events)
    if asked.wait and not look.news and not look.assignments_changed:
        look = _wait(waiting, device_id, asked, look)
    if look.stale:
        _settle(waiting.database, look.stale)
        look = _look(waiting.database, device_id, asked.events)
    # Batches without news are worth sending when there is nothing else: they say how fresh the rows are.
    told = look.news or look.batches
    return protocol.ChangesAnswer(
        events=[protocol.sign_batch(batch, waiting.key) for batch in told],
        server_time=waiting.database.clock(),
        assignments_changed=look.assignments_changed,
    )


def _wait(waiting: Waiting, device_id: str, asked: protocol.ChangesRequest, look: _Look) -> _Look:
    left = asked.wait
    while left > 0 and not waiting.stop.is_set():
        slice_s = min(left, LOOK_AT_ASSIGNMENTS_S)
        left -= slice_s
        if waiting.bell.wait(look.seen, slice_s, waiting.stop) or _stands_changed(waiting.database, device_id, asked):
            break
    return _look(waiting.database, device_id, asked.events)


def _look(database: Database, device_id: str, events: Sequence[EventAt]) -> _Look:
    now = database.clock()
    with database.reading() as session:
        _require_standing(session, device_id)
        allowed = devices.event_numbers(session, device_id)
        heads = {at.event: revisions.head(session, at.event) for at in events if at.event in allowed}
        batches = [_batch(session, at, head, now) for at in events if (head := heads.get(at.event)) is not None]
    seen = {event: (head.revision, head.arrivals) for event, head in heads.items() if head is not None}
    stale = [event for event, head in heads.items() if head is not None and now - head.settled_at > PROMISE_EVERY_MS]
    return _Look(batches, seen, allowed != {at.event for at in events}, stale)


def _settle(database: Database, events: Sequence[int]) -> None:
    now = database.clock()
    with database.writing() as session:
        revisions_service.settle(session, events, now)


def _stands_changed(database: Database, device_id: str, asked: protocol.ChangesRequest) -> bool:
    with database.reading() as session:
        _require_standing(session, device_id)
        return devices.event_numbers(session, device_id) != {at.event for at in asked.events}


def _require_standing(session: Session, device_id: str) -> None:
    """A device that is shut out while it waits hears of it at once."""
    profile, revoked = devices.standing(session, device_id)
    rules.require(profile, revoked, rules.Act.PULL)


def _has_news(batch: Batch) -> bool:
    return batch.resync or batch.to_revision > batch.from_revision or bool(batch.movements)


def _batch(session: Session, at: EventAt, head: Head, now: Millis) -> Batch:
    """All that is new since the gate's position; a position of another history is answered with `resync`."""
    changed = revisions.rows_after(session, at.event, at.revision, BATCH_ROWS) if at.lineage == head.lineage else None
    if changed is None or len(changed.rows) > MAX_FRAME_ROWS or at.heard > head.arrivals:
        return Batch(
            event=at.event,
            lineage=head.lineage,
            from_revision=0,
            to_revision=head.revision,
            digest=head.digest,
            as_of=_as_of(head, now),
            resync=True,
        )
    heard, movements = scans.movements_after(session, at.event, at.heard, BATCH_MOVEMENTS)
    return Batch(
        event=at.event,
        lineage=head.lineage,
        from_revision=at.revision,
        to_revision=changed.to_revision,
        digest=changed.digest,
        as_of=_as_of(head, now) if changed.to_revision == head.revision else changed.at,
        rows=to_frame(changed.rows) if changed.rows else b"",
        movements=movements_to_bytes(movements),
        heard=heard,
    )


def _as_of(head: Head, now: Millis) -> Millis:
    """How fresh rows are: a sale that is under way may be of any second up to now, but none that was settled."""
    return min(head.settled_at, now)


def _head_for(session: Session, device_id: str, event: int) -> Head:
    head = revisions.head(session, event) if event in devices.event_numbers(session, device_id) else None
    if head is None:
        raise NotFound("This device has no work at that event.", code="not_assigned")
    return head
