"""A shut-out device may deliver its journal; what lies beyond the last head it had shown before waits for an admin."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from shared.scans import decode
from sync_server.scans import boots
from sync_server.scans.keeping import Stored
from sync_server.scans.models import Journal, ScanEntry
from sync_server.scans.rules import Line, Why


def with_late_ones_apart(session: Session, journal: Journal, lines: Sequence[Line]) -> list[Line]:
    """Lines that the head shown before the revocation does not vouch for are kept apart."""
    vouched = _vouched(journal, [*_waiting(session, journal), *_named(lines)])
    return [line if line.why or line.hash in vouched else replace(line, why=Why.REVOKED_DEVICE) for line in lines]


def release_covered(session: Session, journal: Journal, lines: Sequence[Line]) -> list[Stored]:
    """Entries that waited because the stretch up to the vouched head had not come yet, and has now."""
    waiting = _waiting(session, journal)
    vouched = _vouched(journal, [*waiting, *_named(lines)])
    return release(session, journal, [digest for _, digest, _ in waiting if digest in vouched], clear=True)


def release(session: Session, journal: Journal, hashes: Sequence[bytes], *, clear: bool) -> list[Stored]:
    """Let entries count; `clear` where they need not have waited, else they stay known as a shut-out device's."""
    if not hashes:
        return []
    here = ScanEntry.device == journal.device, ScanEntry.branch == journal.branch, ScanEntry.hash.in_(hashes)
    rows = session.execute(select(ScanEntry.seq, ScanEntry.hash, ScanEntry.body).where(*here)).all()
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
        stored.append(Stored(entry, row.hash, at))
    return stored


def release_late(session: Session, device: int) -> list[Stored]:
    """All that waits of a device, in whichever branch."""
    branches = select(ScanEntry.branch).where(
        ScanEntry.device == device, ScanEntry.quarantined, ScanEntry.why == Why.REVOKED_DEVICE
    )
    journals = select(Journal).where(Journal.device == device, Journal.branch.in_(branches))
    held = session.scalars(journals.order_by(Journal.branch).with_for_update()).all()
    return [
        one for journal in held for one in release(session, journal, _waiting_hashes(session, journal), clear=False)
    ]


def _waiting_hashes(session: Session, journal: Journal) -> list[bytes]:
    return [digest for _, digest, _ in _waiting(session, journal)]


def _waiting(session: Session, journal: Journal) -> list[tuple[int, bytes, bytes]]:
    """(seq, hash, previous) of what is kept apart because the device is shut out."""
    here = ScanEntry.device == journal.device, ScanEntry.branch == journal.branch
    kept = select(ScanEntry.seq, ScanEntry.hash, ScanEntry.body).where(
        *here, ScanEntry.quarantined, ScanEntry.why == Why.REVOKED_DEVICE
    )
    return [(seq, digest, decode(body).previous) for seq, digest, body in session.execute(kept)]


def _named(lines: Sequence[Line]) -> list[tuple[int, bytes, bytes]]:
    return [(line.seq, line.hash, line.entry.previous) for line in lines if line.entry is not None and not line.why]


def _vouched(journal: Journal, known: Iterable[tuple[int, bytes, bytes]]) -> frozenset[bytes]:
    """The hashes on the way back from the head that was shown: nobody can put another entry on it afterwards."""
    before = {digest: previous for _, digest, previous in known}
    vouched: set[bytes] = set()
    digest = journal.claimed_head
    while digest in before and digest not in vouched:
        vouched.add(digest)
        digest = before[digest]
    return frozenset(vouched)
