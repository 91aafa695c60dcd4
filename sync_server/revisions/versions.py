"""Reads every version of many rows in a few queries: reconciliation needs hundreds of tickets at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from msgspec import Struct
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.wire.snapshot import RowKind
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.bulk import among
from sync_server.revisions.models import RevisionRow, SnapshotRow, SupersededRow

_CHUNK = 1_000


class Version(Struct, frozen=True):
    """One row from `revision` up to, not including, `until`; None where it is current."""

    revision: int
    until: int | None
    body: bytes | None


@dataclass(frozen=True, slots=True)
class Timeline:
    """The newest revision at each time within a span."""

    before: int
    times: Sequence[Millis]
    revisions: Sequence[int]

    def revision_at(self, at: Millis) -> int:
        """The newest revision at this time, which must lie within the span."""
        index = bisect_right(self.times, at)
        return self.revisions[index - 1] if index else self.before


def of_rows(session: Session, event: EventKey, kind: RowKind, keys: Collection[int]) -> dict[int, list[Version]]:
    """All versions of these rows, unordered; keys that never existed are omitted."""
    found: dict[int, list[Version]] = {}
    for some in _chunks(keys):
        for table in (SnapshotRow, SupersededRow):
            here = event.of(table), table.kind == int(kind), among(session, table.key, some)
            for version in session.execute(select(*_columns(table)).where(*here)):
                _add(found, *version)
    return found


def of_kinds(session: Session, event: EventKey, kinds: Collection[RowKind]) -> dict[RowKind, dict[int, list[Version]]]:
    """All versions of all rows of these kinds, by kind; for gates, zones, types and the event, not for tickets."""
    found: dict[RowKind, dict[int, list[Version]]] = {kind: {} for kind in kinds}
    for table in (SnapshotRow, SupersededRow):
        here = event.of(table), table.kind.in_([int(kind) for kind in kinds])
        for kind, *version in session.execute(select(table.kind, *_columns(table)).where(*here)):
            _add(found[RowKind(kind)], *version)
    return found


def timeline(session: Session, event: EventKey, first: Millis, last: Millis) -> Timeline:
    """The revisions between these two times."""
    here = event.of(RevisionRow)
    before = session.scalar(select(func.max(RevisionRow.revision)).where(here, RevisionRow.at <= first))
    within = select(RevisionRow.at, RevisionRow.revision).where(here, RevisionRow.at > first, RevisionRow.at <= last)
    rows = session.execute(within.order_by(RevisionRow.at, RevisionRow.revision)).all()
    return Timeline(before or 0, [row.at for row in rows], [row.revision for row in rows])


def stale_since(
    session: Session, organisation_id: str, held: Collection[tuple[str, int]]
) -> dict[tuple[str, int], Millis]:
    """Since when a gate at (event id, revision) has been out of date; gates that are current are omitted."""
    found: dict[tuple[str, int], Millis] = {}
    for event_id, revision in held:
        following = EventKey(organisation_id, event_id).of(RevisionRow), RevisionRow.revision == revision + 1
        since = session.scalar(select(RevisionRow.at).where(*following))
        if since is not None:
            found[event_id, revision] = since
    return found


def at_revision(versions: Iterable[Version], revision: int) -> bytes | None:
    """The body that held at this revision."""
    for version in versions:
        if version.revision <= revision and (version.until is None or revision < version.until):
            return version.body
    return None


def _columns(table: type[SnapshotRow] | type[SupersededRow]) -> list[Any]:
    until = [table.until] if table is SupersededRow else []
    return [table.key, table.revision, table.body, *until]


def _add(
    found: dict[int, list[Version]], key: int, revision: int, body: bytes | None, until: int | None = None
) -> None:
    found.setdefault(key, []).append(Version(revision, until, body))


def _chunks(keys: Collection[int]) -> Iterable[list[int]]:
    walk = iter(keys)
    while some := list(islice(walk, _CHUNK)):
        yield some
