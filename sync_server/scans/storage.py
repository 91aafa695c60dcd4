"""Stores journal entries: finds new ones and forks, corrects times, and computes how far a journal is complete."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, cast

from msgspec import Struct
from sqlalchemy import Table, bindparam, func, select, text, update
from sqlalchemy.orm import Session

from shared.attempts import Mode
from shared.clock import Millis
from shared.journal.scans import GENESIS, Entry, EntryKind, Timeline, anchor_of, decode
from sync_server.plumbing.database import database_of
from sync_server.plumbing.sql import writes
from sync_server.plumbing.sql.bulk import array_literal, insert_many
from sync_server.scans import boots
from sync_server.scans.models import Journal, ScanEntry
from sync_server.scans.rules import HeldEntry, Line, Mark, advance, declared_gap, declared_gaps, last_before

_WALK = 2_000
Touched = set[tuple[str, int]]
"""(event id, ticket) pairs that must be reconciled."""


class Stored(Struct, frozen=True):
    """An entry that counts, with its corrected time."""

    entry: Entry
    hash: bytes
    at: Millis
    uncertainty: Millis
    event_id: str | None


def locked_journal(session: Session, device: int, branch: int, organisation_id: str) -> Journal:
    """The journal's row, created on first use and locked: one transaction at a time writes to a journal."""
    initial = {
        "device": device,
        "branch": branch,
        "organisation_id": organisation_id,
        "boots": b"",
        "anchored_seq": 0,
        "mark_seq": 0,
        "mark_head": GENESIS,
        "claimed_seq": 0,
        "claimed_head": GENESIS,
        "claimed_signature": b"",
        "alarm": "",
    }
    session.execute(writes.insert(session, Journal).values(initial).on_conflict_do_nothing())
    mine = Journal.organisation_id == organisation_id, Journal.device == device, Journal.branch == branch
    here = select(Journal).where(*mine).with_for_update()
    return session.execute(here, execution_options={"populate_existing": True}).scalar_one()


def held_around(session: Session, journal: Journal, lines: Sequence[Line]) -> dict[int, list[HeldEntry]]:
    """The stored entries at these lines' numbers, and at those that the lines must name."""
    if not lines:
        return {}
    seqs = [line.seq for line in lines]
    named = [last_before(line.entry) for line in lines if line.entry is not None]
    columns = select(ScanEntry.seq, ScanEntry.hash, ScanEntry.quarantined, ScanEntry.why).where(*of(journal))
    around = ScanEntry.seq.between(min(seqs) - 1, max(seqs)) | ScanEntry.seq.in_({min(named, default=0)})
    held: dict[int, list[HeldEntry]] = {}
    for seq, digest, quarantined, why in session.execute(columns.where(around)):
        held.setdefault(seq, []).append(HeldEntry(digest, quarantined, why))
    return held


def add(
    session: Session, journal: Journal, lines: Sequence[Line], forked: Collection[int], now: Millis
) -> list[Stored]:
    """Store new lines; returns those that count, with their corrected times."""
    stored_boots = boots.read(journal.boots)
    good = [line.entry for line in lines if line.entry is not None and not line.why]
    boots.note(stored_boots, good)
    journal.boots = boots.write(stored_boots)
    times = boots.timeline(stored_boots, good)
    rows = [_row(journal, line, times, line.seq in forked, now) for line in lines]
    insert_many(session, ScanEntry, rows, "ON CONFLICT DO NOTHING")
    counted = zip(lines, rows, strict=True)
    return [
        Stored(line.entry, line.hash, row["at"], row["uncertainty"], line.event_id)
        for line, row in counted
        if line.entry is not None and not line.why
    ]


def mark_forks(session: Session, journal: Journal, seqs: Collection[int]) -> Touched:
    """Flag stored entries with these numbers as forked; returns their tickets."""
    if not seqs:
        return set()
    forked = update(ScanEntry).where(*of(journal), ScanEntry.seq.in_(seqs)).values(forked=True)
    return _tickets(session.execute(forked.returning(ScanEntry.event_id, ScanEntry.ticket)))


def move_times(session: Session, journal: Journal, from_seq: int) -> Touched:
    """Correct the times of stored entries after a new time anchor; returns the affected tickets."""
    named = ScanEntry.event_id, ScanEntry.ticket
    columns = select(ScanEntry.seq, ScanEntry.hash, ScanEntry.body, ScanEntry.at, ScanEntry.uncertainty, *named)
    rows = session.execute(columns.where(*of(journal), ScanEntry.seq >= from_seq, ~ScanEntry.quarantined)).all()
    entries = [decode(row.body) for row in rows]
    times = boots.timeline(boots.read(journal.boots), entries)
    moved: list[dict[str, Any]] = []
    touched: Touched = set()
    for row, entry in zip(rows, entries, strict=True):
        at, uncertainty = times.at(entry)
        if (at, uncertainty) != (row.at, row.uncertainty):
            moved.append({"s": row.seq, "h": row.hash, "new_at": at, "new_uncertainty": uncertainty})
            touched |= _tickets([(row.event_id, row.ticket)])
    _write_times(session, journal, moved)
    return touched


def times_move_from(journal: Journal, lines: Sequence[Line], last_held: int) -> int | None:
    """The first number whose stored time may change with these lines; None where none does."""
    if lines and min(line.seq for line in lines) <= last_held:
        return 1
    anchors = [line.seq for line in lines if line.entry is not None and not line.why and anchor_of(line.entry)]
    before = journal.anchored_seq
    journal.anchored_seq = max([before, *anchors])
    return before if anchors and last_held else None


def new_mark(session: Session, journal: Journal, new: Sequence[Line], last_held: int) -> Mark:
    """How far the journal is complete, apart from declared gaps, with these new lines.

    Where nothing beyond the mark was stored before, as in any ordinary upload, the new lines are all there is.
    """
    mark = Mark(journal.mark_seq, journal.mark_head)
    if last_held <= mark.seq:
        added = [line for line in new if line.seq > mark.seq]
        return advance(mark, sorted((line.seq, line.hash) for line in added), declared_gaps(added))
    while True:
        beyond = _beyond(session, journal, mark.seq)
        reached = advance(mark, beyond, _gaps(session, journal, mark.seq))
        if reached == mark or len(beyond) < _WALK:
            return reached
        mark = reached


def tickets_of(stored: Iterable[Stored]) -> Touched:
    """The tickets of these entries."""
    return {(one.event_id, one.entry.ticket_id) for one in stored if one.event_id and one.entry.ticket_id}


def last_seq(session: Session, journal: Journal) -> int:
    """The highest number stored."""
    return session.scalar(select(func.max(ScanEntry.seq)).where(*of(journal))) or 0


def of(journal: Journal) -> tuple[Any, ...]:
    """The conditions for the entries of a journal."""
    mine = ScanEntry.organisation_id == journal.organisation_id, ScanEntry.device == journal.device
    return *mine, ScanEntry.branch == journal.branch


def _row(journal: Journal, line: Line, times: Timeline, forked: bool, now: Millis) -> dict[str, Any]:
    entry = line.entry
    at, uncertainty = (now, 0) if entry is None or line.why else times.at(entry)
    fits = entry is not None and entry.ticket_id < 2**64
    return {
        "device": journal.device,
        "branch": journal.branch,
        "seq": line.seq,
        "hash": line.hash,
        "organisation_id": journal.organisation_id,
        "body": line.body,
        "received_at": now,
        "quarantined": bool(line.why),
        "why": line.why,
        "forked": forked,
        "kind": entry.kind[:20] if entry else "",
        "event_id": line.event_id,
        "gate": entry.gate if entry else 0,
        "ticket": entry.ticket_id if entry and fits else 0,
        "admitted": entry.admitted if entry else False,
        "test": entry is not None and entry.mode == Mode.TEST,
        "reason": entry.reason[:24] if entry else "",
        "at": at,
        "uncertainty": uncertainty,
    }


def _beyond(session: Session, journal: Journal, seq: int) -> Sequence[tuple[int, bytes]]:
    found = select(ScanEntry.seq, ScanEntry.hash).where(*of(journal), ScanEntry.seq > seq)
    in_order = found.order_by(ScanEntry.seq, ScanEntry.received_at, ScanEntry.hash).limit(_WALK)
    return session.execute(in_order).all()


def _gaps(session: Session, journal: Journal, seq: int) -> Iterable[tuple[int, int]]:
    declared = select(ScanEntry.body).where(
        *of(journal), ScanEntry.seq > seq, ScanEntry.kind == EntryKind.GAP, ~ScanEntry.quarantined
    )
    gaps = (declared_gap(decode(body)) for body in session.scalars(declared))
    return [gap for gap in gaps if gap is not None]


def _write_times(session: Session, journal: Journal, moved: Sequence[dict[str, Any]]) -> None:
    if not moved:
        return
    if database_of(session).embedded:
        statement = (
            update(cast(Table, ScanEntry.__table__))
            .where(*of(journal), ScanEntry.seq == bindparam("s"), ScanEntry.hash == bindparam("h"))
            .values(at=bindparam("new_at"), uncertainty=bindparam("new_uncertainty"))
        )
        session.connection().execute(statement, list(moved))
        return
    columns = {name: array_literal([row[name] for row in moved]) for name in moved[0]}
    names = {"organisation": journal.organisation_id, "device": journal.device, "branch": journal.branch}
    session.execute(_MOVE_MANY, columns | names)


_MOVE_MANY = text(
    "UPDATE scan_entries SET at = moved.at, uncertainty = moved.uncertainty "
    "FROM unnest(CAST(:s AS bigint[]), CAST(:h AS bytea[]), CAST(:new_at AS bigint[]), "
    "CAST(:new_uncertainty AS bigint[])) "
    "AS moved(seq, hash, at, uncertainty) "
    "WHERE organisation_id = :organisation AND device = :device AND branch = :branch "
    "AND scan_entries.seq = moved.seq AND scan_entries.hash = moved.hash"
)


def _tickets(rows: Iterable[Any]) -> Touched:
    return {(event_id, ticket) for event_id, ticket in rows if event_id and ticket}
