"""What gates fetch: snapshot frames, and changes of rows and movements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from shared.wire import protocol
from shared.wire.frames import MAX_FRAME_ROWS
from shared.wire.protocol import Batch, EventAt
from shared.wire.snapshot import movements_to_bytes, to_frame
from sync_server.devices import queries as devices
from sync_server.devices import rules
from sync_server.devices.queries import EnrolledDevice
from sync_server.plumbing.database import Database
from sync_server.plumbing.event_key import EventKey
from sync_server.revisions import queries as revisions
from sync_server.revisions import service as revisions_service
from sync_server.revisions.queries import Head
from sync_server.scans import queries as scans

FRAME_ROWS = 5_000
BATCH_ROWS = 5_000
BATCH_MOVEMENTS = 5_000
SETTLE_EVERY_MS = 1_000
"""Rows whose last promise is older than this are settled again before they are sent as fresh."""


@dataclass(frozen=True, slots=True)
class _Changes:
    """What one read of the database found, for every requested event."""

    batches: list[Batch]
    assignments_changed: bool
    forked: bool
    stale: Sequence[str]  # ids of events whose last promise to gates is too old

    @property
    def new_batches(self) -> list[Batch]:
        """The batches in which anything has changed."""
        return [batch for batch in self.batches if _is_new(batch)]


def frame(
    session: Session, device: EnrolledDevice, number: int, *, after: str, limit: int, now: Millis
) -> protocol.SnapshotAnswer:
    """The next rows of an event by kind and key, and the revision from which to request changes afterwards."""
    kind, key = protocol.read_row_mark(after)
    event = allowed(session, device).get(number)
    head = revisions.head(session, event) if event else None
    if event is None or head is None:
        raise NotFound("This device is not assigned to that event.", code="not_assigned")
    rows = revisions.frame_rows(session, event, int(kind), key, limit)
    last = rows[-1] if len(rows) == limit else None
    then = revisions.frame_end(session, event, last, limit) if last else None
    return protocol.SnapshotAnswer(
        event=number,
        lineage=head.lineage,
        base_revision=head.revision,
        frame=to_frame(rows),
        next=protocol.row_mark(last.kind, last.key) if last else None,
        then=protocol.row_mark(*then) if then else None,
        as_of=_as_of(head, now),
    )


def changes(
    database: Database,
    key: Ed25519PrivateKey,
    device: EnrolledDevice,
    wanted: protocol.ChangesRequest,
    *,
    empty: bool = True,
) -> protocol.ChangesAnswer | None:
    """What is new at these events; None if nothing is, unless an answer that says so is wanted."""
    found = _read(database, device, wanted)
    if not (empty or found.new_batches or found.assignments_changed):
        return None
    if found.stale:
        _settle(database, device, found.stale)
        found = _read(database, device, wanted)
    # Without changes, empty batches are still worth sending: they say how fresh the rows are.
    batches = found.new_batches or found.batches
    return protocol.ChangesAnswer(
        events=[protocol.sign_batch(batch, key) for batch in batches],
        server_time=database.clock(),
        assignments_changed=found.assignments_changed,
        forked=found.forked,
    )


def _read(database: Database, device: EnrolledDevice, wanted: protocol.ChangesRequest) -> _Changes:
    now, events = database.clock(), wanted.events
    with database.reading() as session:
        _require_access(session, device)
        assigned = allowed(session, device)
        asked = [(at, assigned[at.event]) for at in events if at.event in assigned]
        heads = {event: head for _, event in asked if (head := revisions.head(session, event)) is not None}
        batches = [_batch(session, at, event, heads[event], now) for at, event in asked if event in heads]
        forked = scans.is_forked(session, device.organisation_id, device.number, wanted.branch)
    stale = [event.event_id for event, head in heads.items() if now - head.settled_at > SETTLE_EVERY_MS]
    return _Changes(batches, assigned.keys() != {at.event for at in events}, forked, stale)


def _settle(database: Database, device: EnrolledDevice, event_ids: Sequence[str]) -> None:
    now = database.clock()
    with database.writing() as session:
        revisions_service.settle(session, device.organisation_id, event_ids, now)


def allowed(session: Session, device: EnrolledDevice) -> dict[int, EventKey]:
    """The events whose rows the device may hold, by the number that stands on the wire."""
    assigned = devices.assigned_events(session, device.organisation_id, device.id)
    return {number: EventKey(device.organisation_id, event_id) for number, event_id in assigned.items()}


def _require_access(session: Session, device: EnrolledDevice) -> None:
    """Refuse a device that was revoked while it waited."""
    profile, revoked = devices.access_state(session, device.organisation_id, device.id)
    rules.require(profile, revoked, rules.DeviceAction.PULL)


def _is_new(batch: Batch) -> bool:
    return batch.resync or batch.to_revision > batch.from_revision or bool(batch.movements)


def _batch(session: Session, at: EventAt, event: EventKey, head: Head, now: Millis) -> Batch:
    """What is new since the gate's position; `resync` where that position is unknown here."""
    changed = revisions.rows_after(session, event, at.revision, BATCH_ROWS) if at.lineage == head.lineage else None
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
    heard, movements = scans.movements_after(session, event, at.heard, BATCH_MOVEMENTS)
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
    """How fresh rows are: sales in progress may be of any second after the one that was settled."""
    return min(head.settled_at, now)
