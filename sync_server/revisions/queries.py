"""Reads of the rows that gates hold: now, since a revision, at a revision, at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, Select, func, literal, select, tuple_, type_coerce
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.wire.snapshot import EventRow, Position, Row, RowKind, unpack
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.tables import Unsigned64
from sync_server.revisions.models import HeadRow, LineageRow, RevisionRow, SnapshotRow, SupersededRow

_KINDS = {int(kind): kind for kind in RowKind}
_UNSIGNED = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Head:
    """The head of an event: its newest revision, digest and arrival number."""

    lineage: bytes
    revision: int
    digest: bytes
    arrivals: int
    settled_at: Millis  # no ticket added later is issued before this time

    @property
    def position(self) -> Position:
        """The position that gates send and store."""
        return Position(self.lineage, self.revision, self.digest)


@dataclass(frozen=True, slots=True)
class Changes:
    """Rows that changed after `from_revision`, as they stood at `to_revision`; the digest is that of `to_revision`."""

    from_revision: int
    to_revision: int
    digest: bytes
    at: Millis
    rows: Sequence[Row]


def lineage(session: Session) -> bytes:
    """The id of this database's history."""
    return session.execute(select(LineageRow.value)).scalar_one()


def lineage_since(session: Session) -> Millis:
    """When the last restore was, or else the beginning; 0 where the database has no history yet."""
    return session.execute(select(LineageRow.since)).scalar_one_or_none() or 0


def head(session: Session, event: EventKey) -> Head | None:
    """The head of this event; None where there is no such event."""
    row = session.execute(_head_columns().where(event.of(HeadRow))).first()
    return None if row is None else Head(lineage(session), row.revision, row.digest, row.arrivals, row.settled_at)


def arrivals(session: Session) -> Mapping[EventKey, int]:
    """The last arrival number of every event with movements: of all organisations in one question."""
    columns = select(HeadRow.organisation_id, HeadRow.event_id, HeadRow.arrivals)
    rows = session.execute(columns.where(HeadRow.arrivals > 0))
    return {EventKey(organisation_id, event_id): arrived for organisation_id, event_id, arrived in rows}


def rows_after(session: Session, event: EventKey, after: int, limit: int) -> Changes | None:
    """Whole revisions after this one: about `limit` rows of them, and at least one revision.

    None where the event has no such revision.
    """
    current = head(session, event)
    if current is None or after > current.revision:
        return None
    reached = _reached(session, event, after, limit)
    if reached is None:
        return _nothing_new(session, event, current)
    rows = _changed_between(session, event, after, reached.revision)
    return Changes(after, reached.revision, reached.digest, _settled_by(session, event, reached), rows)


def frame_rows(session: Session, event: EventKey, after_kind: int, after_key: int, limit: int) -> list[Row]:
    """The live rows after (kind, key), ordered by them; start with (0, 0)."""
    columns = select(SnapshotRow.kind, type_coerce(SnapshotRow.key, BigInteger), SnapshotRow.body)
    # Past the session and the column's type: with 5,000 rows they would take as long as the database.
    found = session.connection().execute(_beyond(columns, event, after_kind, after_key).limit(limit))
    return [Row(_KINDS[kind], key & _UNSIGNED, body) for kind, key, body in found]


def frame_end(session: Session, event: EventKey, after: Row, limit: int) -> tuple[RowKind, int] | None:
    """Kind and key of the last row of a full frame after this row; None where fewer rows follow it."""
    columns = select(SnapshotRow.kind, SnapshotRow.key)
    last = session.execute(_beyond(columns, event, after.kind, after.key).offset(limit - 1).limit(1)).first()
    return None if last is None else (_KINDS[last.kind], last.key)


def event_row(session: Session, event: EventKey) -> EventRow | None:
    """The event as gates hold it now."""
    live = _stretch(SnapshotRow, event, RowKind.EVENT).where(SnapshotRow.body.is_not(None))
    found = session.execute(live).first()
    row = None if found is None else unpack(Row(RowKind.EVENT, *found))
    return row if isinstance(row, EventRow) else None


def row_at_revision(session: Session, event: EventKey, kind: RowKind, key: int, revision: int) -> Row | None:
    """The row as gates at this revision held it; None where they held none."""
    live = session.get(SnapshotRow, (*event, int(kind), key))
    if live is None or live.revision <= revision:
        return None if live is None or live.body is None else Row(kind, key, live.body)
    past = select(SupersededRow.body).where(
        event.of(SupersededRow),
        SupersededRow.kind == int(kind),
        SupersededRow.key == key,
        SupersededRow.revision <= revision,
        SupersededRow.until > revision,
    )
    body = session.execute(past).scalar_one_or_none()
    return None if body is None else Row(kind, key, body)


def rows_now(session: Session, event: EventKey, kind: RowKind) -> list[Row]:
    """All rows of one kind that gates hold now: gates, zones, types; not meant for tickets."""
    live = _stretch(SnapshotRow, event, kind).where(SnapshotRow.body.is_not(None))
    return [Row(kind, key, body) for key, body in session.execute(live)]


def row_at_time(session: Session, event: EventKey, kind: RowKind, key: int, at: Millis) -> Row | None:
    """The row as it was at this time."""
    return row_at_revision(session, event, kind, key, revision_at(session, event, at))


def revision_at(session: Session, event: EventKey, at: Millis) -> int:
    """The newest revision at this time; 0 where there was none yet."""
    newest = select(func.max(RevisionRow.revision)).where(event.of(RevisionRow), RevisionRow.at <= at)
    return session.execute(newest).scalar_one() or 0


def _beyond(columns: Select[*tuple[Any, ...]], event: EventKey, kind: int, key: int) -> Select[*tuple[Any, ...]]:
    """The live rows after (kind, key), in their order."""
    # As a pair, so that the primary key leads to the first of them: with `or` every earlier row would be read too.
    after = tuple_(SnapshotRow.kind, SnapshotRow.key) > tuple_(literal(kind), literal(key, Unsigned64))
    live = columns.where(event.of(SnapshotRow), SnapshotRow.body.is_not(None), after)
    return live.order_by(SnapshotRow.kind, SnapshotRow.key)


def _head_columns() -> Select[int, bytes, int, int]:
    return select(HeadRow.revision, HeadRow.digest, HeadRow.arrivals, HeadRow.settled_at)


def _reached(session: Session, event: EventKey, after: int, limit: int) -> RevisionRow | None:
    """The last revision of the batch: as far as `limit` rows go, and at least one."""
    following = (
        select(RevisionRow)
        .where(event.of(RevisionRow), RevisionRow.revision > after)
        .order_by(RevisionRow.revision)
        .limit(limit)
    )
    reached, count = None, 0
    for revision in session.execute(following).scalars():
        count += revision.changed
        if reached is not None and count > limit:
            break
        reached = revision
    return reached


def _settled_by(session: Session, event: EventKey, reached: RevisionRow) -> Millis:
    """The time of a revision; if others of the same time follow it, the time of the revision before them.

    A large transaction becomes several revisions. A gate that has only the first of them must not conclude that it has
    every ticket of that time.
    """
    next_revision = session.get(RevisionRow, (*event, reached.revision + 1))
    if next_revision is None or next_revision.at > reached.at:
        return reached.at
    earlier = event.of(RevisionRow), RevisionRow.at < reached.at
    return session.execute(select(func.max(RevisionRow.at)).where(*earlier)).scalar_one() or 0


def _nothing_new(session: Session, event: EventKey, current: Head) -> Changes:
    newest = session.get(RevisionRow, (*event, current.revision))
    return Changes(current.revision, current.revision, current.digest, 0 if newest is None else newest.at, [])


def _changed_between(session: Session, event: EventKey, after: int, until: int) -> list[Row]:
    """Rows whose last change up to `until` lies after `after`, as they stood then; gone ones without a body."""
    live = select(SnapshotRow.kind, SnapshotRow.key, SnapshotRow.body).where(
        event.of(SnapshotRow), SnapshotRow.revision > after, SnapshotRow.revision <= until
    )
    past = select(SupersededRow.kind, SupersededRow.key, SupersededRow.body).where(
        event.of(SupersededRow),
        SupersededRow.revision > after,
        SupersededRow.revision <= until,
        SupersededRow.until > until,
    )
    found = [*session.execute(live), *session.execute(past)]
    return [Row(RowKind(kind), key, body) for kind, key, body in found]


def _stretch(table: type[SnapshotRow] | type[SupersededRow], event: EventKey, kind: RowKind):  # type: ignore[no-untyped-def]
    return select(table.key, table.body).where(event.of(table), table.kind == int(kind))
