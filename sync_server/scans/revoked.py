"""Journals of revoked devices: entries beyond the last head claimed before the revocation wait for an admin."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from shared.journal.scans import decode
from sync_server.scans import boots
from sync_server.scans.models import Journal, ScanEntry
from sync_server.scans.rules import Line, QuarantineReason
from sync_server.scans.storage import Stored, of


def quarantine_late(session: Session, journal: Journal, lines: Sequence[Line]) -> list[Line]:
    """Quarantine lines that the head claimed before the revocation does not cover."""
    covered = _covered_hashes(journal, [*_waiting(session, journal), *_named(lines)])
    return [
        line if line.why or line.hash in covered else replace(line, why=QuarantineReason.REVOKED_DEVICE)
        for line in lines
    ]


def release_covered(session: Session, journal: Journal, lines: Sequence[Line]) -> list[Stored]:
    """Release entries that are covered now that the missing part up to the claimed head has arrived."""
    waiting = _waiting(session, journal)
    covered = _covered_hashes(journal, [*waiting, *_named(lines)])
    return release(session, journal, [digest for _, digest, _ in waiting if digest in covered], clear=True)


def release(session: Session, journal: Journal, hashes: Sequence[bytes], *, clear: bool) -> list[Stored]:
    """Let quarantined entries count; `clear` removes the mark that a revoked device wrote them."""
    if not hashes:
        return []
    here = *of(journal), ScanEntry.hash.in_(hashes)
    columns = ScanEntry.seq, ScanEntry.hash, ScanEntry.body, ScanEntry.event_id
    rows = session.execute(select(*columns).where(*here)).all()
    entries = [decode(row.body) for row in rows]
    known = boots.read(journal.boots)
    boots.note(known, entries)
    journal.boots = boots.write(known)
    times = boots.timeline(known, entries)
    stored: list[Stored] = []
    for row, entry in zip(rows, entries, strict=True):
        at, uncertainty = times.at(entry)
        freed = {"quarantined": False, "at": at, "uncertainty": uncertainty} | ({"why": ""} if clear else {})
        session.execute(
            update(ScanEntry).where(*here, ScanEntry.seq == row.seq, ScanEntry.hash == row.hash).values(freed)
        )
        stored.append(Stored(entry, row.hash, at, uncertainty, row.event_id))
    return stored


def release_late(session: Session, organisation_id: str, device: int) -> list[Stored]:
    """Release all quarantined entries of a device, on every branch."""
    mine = ScanEntry.organisation_id == organisation_id, ScanEntry.device == device
    branches = select(ScanEntry.branch).where(
        *mine, ScanEntry.quarantined, ScanEntry.why == QuarantineReason.REVOKED_DEVICE
    )
    own = Journal.organisation_id == organisation_id, Journal.device == device
    journals = select(Journal).where(*own, Journal.branch.in_(branches))
    locked = session.scalars(journals.order_by(Journal.branch).with_for_update()).all()
    return [
        one for journal in locked for one in release(session, journal, _waiting_hashes(session, journal), clear=False)
    ]


def _waiting_hashes(session: Session, journal: Journal) -> list[bytes]:
    return [digest for _, digest, _ in _waiting(session, journal)]


def _waiting(session: Session, journal: Journal) -> list[tuple[int, bytes, bytes]]:
    """(seq, hash, previous) of entries quarantined because the device is revoked."""
    waiting = select(ScanEntry.seq, ScanEntry.hash, ScanEntry.body).where(
        *of(journal), ScanEntry.quarantined, ScanEntry.why == QuarantineReason.REVOKED_DEVICE
    )
    return [(seq, digest, decode(body).previous) for seq, digest, body in session.execute(waiting)]


def _named(lines: Sequence[Line]) -> list[tuple[int, bytes, bytes]]:
    return [(line.seq, line.hash, line.entry.previous) for line in lines if line.entry is not None and not line.why]


def _covered_hashes(journal: Journal, known: Iterable[tuple[int, bytes, bytes]]) -> frozenset[bytes]:
    """The hashes back from the claimed head: nobody can add another entry before it afterwards."""
    before = {digest: previous for _, digest, previous in known}
    covered: set[bytes] = set()
    digest = journal.claimed_head
    while digest in before and digest not in covered:
        covered.add(digest)
        digest = before[digest]
    return frozenset(covered)
