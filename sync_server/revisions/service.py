"""Raises revisions of the rows that gates hold, before the commit of every transaction that changes them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Final, TypeVar

from sqlalchemy import BigInteger, Executable, LargeBinary, delete, insert, select, tuple_, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.ids import Entropy
from shared.wire.snapshot import (
    EMPTY_DIGEST,
    FRAME_ROWS,
    MAX_FRAME_ROWS,
    AnyRow,
    Row,
    RowKind,
    digest_add,
    digest_remove,
    pack,
)
from sync_server.plumbing.database import Database, after_commit
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.messaging.bus import Bus
from sync_server.plumbing.signals import send
from sync_server.plumbing.sql.asked_together import Question
from sync_server.plumbing.sql.bulk import insert_many
from sync_server.plumbing.sql.prepared import placeholder
from sync_server.plumbing.sql.prepared_changes import PreparedChange
from sync_server.revisions.models import HeadRow, LineageRow, RevisionRow, SnapshotRow, SupersededRow
from sync_server.revisions.signals import RevisionRises

T = TypeVar("T")
Pending = dict[tuple[int, int], Row]  # by kind and key: the last version of a row counts

_QUEUE = "rows_put"
_NEW = "rows_put_new"
_MOVED = "heads_moved"
_CHUNK = 2_000


def put(session: Session, event: EventKey, rows: Iterable[AnyRow | Row]) -> None:
    """Queue rows for the gates of this event, effective with this transaction; a Row without a body deletes."""
    pending: Pending = session.info.setdefault(_QUEUE, {}).setdefault(event, {})
    for each in rows:
        row = each if isinstance(each, Row) else pack(each)
        pending[int(row.kind), row.key] = row


def put_new(session: Session, event: EventKey, rows: Sequence[AnyRow]) -> None:
    """Queue rows that no gate has had, whose keys this transaction has just drawn: nothing is compared with them."""
    packed = [pack(row) for row in rows]
    put(session, event, packed)
    session.info.setdefault(_NEW, set()).update((event, int(row.kind), row.key) for row in packed)


def wire(database: Database, bus: Bus) -> None:
    """Raise revisions before every commit of this database, and wake waiting gates after it."""

    def raise_revisions(session: Session, now: Millis) -> None:
        queue: dict[EventKey, Pending] = session.info.pop(_QUEUE, {})
        moved = session.info.pop(_MOVED, set())
        for event in sorted(queue):  # one lock order for all transactions, so that no two deadlock
            if _apply(session, event, queue[event], now):
                moved.add(event)
        for event in moved:
            after_commit(session, partial(bus.publish, gates_topic(event), {}))

    database.before_commit.append(raise_revisions)


def gates_topic(event: EventKey) -> str:
    """The topic that wakes the waiting gates of an event, to look for what is new."""
    return f"revisions:event:{event.event_id}"


def wake_gates(session: Session, event: EventKey) -> None:
    """Wake the waiting gates of this event after the commit."""
    session.info.setdefault(_MOVED, set()).add(event)


def open_head(session: Session, event: EventKey) -> None:
    """Create the head of a new event."""
    session.add(HeadRow(**event._asdict(), revision=0, digest=EMPTY_DIGEST, arrivals=0, settled_at=0))
    session.flush()


def forget_event(session: Session, event: EventKey) -> None:
    """Delete the history of an event that no gate has fetched, and what this transaction queued for it."""
    session.info.get(_QUEUE, {}).pop(event, None)
    for table in (SupersededRow, SnapshotRow, RevisionRow, HeadRow):
        session.execute(delete(table).where(event.of(table)))


def rewrite_history(
    session: Session, event: EventKey, kind: RowKind, keys: Sequence[int], change: Callable[[Row], Row]
) -> int:
    """Change rows as they were at earlier revisions, such as the names in them; returns how many were changed.

    Gates never get these rows, and the digest is of the current ones only.
    """
    changed = 0
    for some in _chunks(keys, _CHUNK):
        of_kind = event.of(SupersededRow), SupersededRow.kind == int(kind), SupersededRow.body.is_not(None)
        for old in session.scalars(select(SupersededRow).where(*of_kind, SupersededRow.key.in_(some))):
            new = change(Row(kind, old.key, old.body)).body
            changed += new != old.body
            old.body = new
    session.flush()
    return changed


def allot_arrivals(session: Session, event: EventKey, count: int) -> range:
    """Allot arrival numbers to movements, in commit order; waiting gates are notified after the commit.

    Locks the event's head: call it late in the transaction, and for several events in ascending order.
    """
    raised = (
        update(HeadRow).where(event.of(HeadRow)).values(arrivals=HeadRow.arrivals + count).returning(HeadRow.arrivals)
    )
    last: int = session.execute(raised).scalar_one()
    wake_gates(session, event)
    return range(last - count + 1, last + 1)


def asks_head(event: EventKey) -> Question:
    """What is asked first at the commit of a transaction that puts rows: after every other lock."""
    return _LOCK, {"organisation": event.organisation_id, "event": event.event_id}


def lock_head(session: Session, event: EventKey) -> Millis:
    """Lock the event's head; no ticket added from now on may be issued before the returned time."""
    return _locked_head(session, event).settled_at


def settle(session: Session, organisation_id: str, event_ids: Iterable[str], now: Millis) -> None:
    """Promise gates that no ticket of these events will be issued before now.

    Whoever raises a revision keeps the promise, under the same lock. Locked heads are skipped: their older promise
    stands.
    """
    here = HeadRow.organisation_id == organisation_id, HeadRow.event_id.in_(list(event_ids)), HeadRow.settled_at < now
    free = select(HeadRow).where(*here).order_by(HeadRow.event_id).with_for_update(skip_locked=True)
    for head in session.execute(free, execution_options={"populate_existing": True}).scalars():
        head.settled_at = now


def ensure_lineage(session: Session, entropy: Entropy, now: Millis) -> bytes:
    """The id of this database's history, created on first use."""
    row = session.get(LineageRow, 1)
    if row is None:
        row = LineageRow(id=1, value=entropy(8), since=now)
        session.add(row)
        session.flush()
    return row.value


def renew_lineage(session: Session, entropy: Entropy, now: Millis) -> bytes:
    """Start a new lineage after a restore: gates may hold rows that this database does not know."""
    ensure_lineage(session, entropy, now)
    row = session.get_one(LineageRow, 1)
    row.value, row.since = entropy(8), now
    session.flush()
    return row.value


def recount(session: Session, event: EventKey, now: Millis) -> bool:
    """Set the digest to what the rows are, after they were written past it; whether it was another.

    Gates that hold the event find that theirs differs, and fetch it anew.
    """
    head, digest = _locked_head(session, event), EMPTY_DIGEST
    live = select(SnapshotRow.kind, SnapshotRow.key, SnapshotRow.body).where(
        event.of(SnapshotRow), SnapshotRow.body.is_not(None)
    )
    for kind, key, body in session.execute(live, execution_options={"yield_per": FRAME_ROWS}):
        digest = digest_add(digest, Row(RowKind(kind), key, body))
    if digest == head.digest:
        return False
    send(session, RevisionRises(event, head.settled_at))
    head.settled_at, head.revision, head.digest = max(head.settled_at, now), head.revision + 1, digest
    session.add(RevisionRow(**event._asdict(), revision=head.revision, digest=digest, at=now, changed=0))
    session.flush()
    return True


def _apply(session: Session, event: EventKey, pending: Pending, now: Millis) -> bool:
    """Apply queued rows under the lock of the head, which is held until the commit; returns whether anything changed.

    More rows than gates accept at once become several revisions, so that they need not fetch the whole event again.
    """
    statement, values = asks_head(event)
    found = statement.rows(session, **values)
    head = _Head(event, *found[0])
    first = head.revision
    for chunk in _chunks(pending.items(), FRAME_ROWS if len(pending) > MAX_FRAME_ROWS else MAX_FRAME_ROWS):
        _raise(session, head, dict(chunk), now, is_first=head.revision == first)
    return head.revision > first


@dataclass(slots=True)
class _Head:
    """The head of an event, locked; it is written with each revision."""

    event: EventKey
    revision: int
    digest: bytes
    settled_at: Millis


def _raise(session: Session, head: _Head, pending: Pending, now: Millis, *, is_first: bool) -> None:
    """Add one revision if these rows differ from what gates hold; `is_first` in this transaction."""
    event = head.event
    new: Collection[tuple[EventKey, int, int]] = session.info.get(_NEW, ())
    before = _current(session, event, [name for name in pending if (event, *name) not in new])
    changed = [row for name, row in pending.items() if _differs(row, before.get(name))]
    if not changed:
        return
    old = [before[int(row.kind), row.key] for row in changed if (int(row.kind), row.key) in before]
    if is_first:
        send(session, RevisionRises(event, head.settled_at))
        head.settled_at = max(head.settled_at, now)
    head.revision += 1
    head.digest = _digest_after(head.digest, old, changed)
    _replace(session, event, head.revision, old, changed)
    here = {"organisation": event.organisation_id, "event": event.event_id}
    reached = {"revision": head.revision, "digest": head.digest}
    insert_many(session, RevisionRow, [event._asdict() | reached | {"at": now, "changed": len(changed)}])
    _RAISE.late(session, **here, **reached, settled_at=head.settled_at)


def _raising(_embedded: bool) -> Executable:
    row, columns = HeadRow, {"revision": BigInteger(), "digest": LargeBinary(), "settled_at": BigInteger()}
    mine = row.organisation_id == placeholder("organisation"), row.event_id == placeholder("event")
    return update(row).where(*mine).values({name: placeholder(name, kind) for name, kind in columns.items()})


_RAISE: Final = PreparedChange(_raising)
_LOCK: Final = PreparedChange(
    lambda _: (
        select(HeadRow.revision, HeadRow.digest, HeadRow.settled_at)
        .where(HeadRow.organisation_id == placeholder("organisation"), HeadRow.event_id == placeholder("event"))
        .with_for_update()
    )
)


def _locked_head(session: Session, event: EventKey) -> HeadRow:
    head = select(HeadRow).where(event.of(HeadRow)).with_for_update()
    return session.execute(head, execution_options={"populate_existing": True}).scalar_one()


def _differs(row: Row, before: SnapshotRow | None) -> bool:
    return row.body is not None if before is None else row.body != before.body


def _digest_after(digest: bytes, old: Sequence[SnapshotRow], changed: Sequence[Row]) -> bytes:
    gone = (Row(RowKind(row.kind), row.key, row.body) for row in old if row.body is not None)
    return digest_add(digest_remove(digest, *gone), *(row for row in changed if row.body is not None))


def _current(session: Session, event: EventKey, names: Iterable[tuple[int, int]]) -> dict[tuple[int, int], SnapshotRow]:
    found: dict[tuple[int, int], SnapshotRow] = {}
    by_kind: dict[int, list[int]] = {}
    for kind, key in names:
        by_kind.setdefault(kind, []).append(key)
    for kind, keys in by_kind.items():
        for some in _chunks(keys, _CHUNK):
            here = event.of(SnapshotRow), SnapshotRow.kind == kind, SnapshotRow.key.in_(some)
            for row in session.execute(select(SnapshotRow).where(*here)).scalars():
                found[row.kind, row.key] = row
    return found


def _replace(
    session: Session, event: EventKey, revision: int, old: Sequence[SnapshotRow], changed: Sequence[Row]
) -> None:
    """Move the old rows to the history and insert the new ones."""
    if old:
        session.execute(insert(SupersededRow), [_as_superseded(row, revision) for row in old])
        for some in _chunks(old, _CHUNK):
            named = tuple_(SnapshotRow.kind, SnapshotRow.key).in_([(row.kind, row.key) for row in some])
            gone = delete(SnapshotRow).where(event.of(SnapshotRow), named)
            session.execute(gone, execution_options={"synchronize_session": False})
            for row in some:
                session.expunge(row)
    insert_many(session, SnapshotRow, [_as_live(event, row, revision) for row in changed])


def _as_superseded(row: SnapshotRow, until: int) -> dict[str, object]:
    return {
        "organisation_id": row.organisation_id,
        "event_id": row.event_id,
        "kind": row.kind,
        "key": row.key,
        "revision": row.revision,
        "until": until,
        "body": row.body,
    }


def _as_live(event: EventKey, row: Row, revision: int) -> dict[str, object]:
    return event._asdict() | {"kind": int(row.kind), "key": row.key, "body": row.body, "revision": revision}


def _chunks(items: Iterable[T], size: int) -> Iterable[list[T]]:
    walk = iter(items)
    while some := list(islice(walk, size)):
        yield some
