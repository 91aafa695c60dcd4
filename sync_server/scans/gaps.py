"""What devices have declared lost: entries of a journal that were written at a door and will never come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.scans import EntryKind, decode
from sync_server.scans.models import ScanEntry
from sync_server.scans.rules import declared_gap


@dataclass(frozen=True, slots=True)
class Lost:
    """The entries of one device that are gone, and when it first said so."""

    entries: int
    since: Millis
    stretches: tuple[Stretch, ...]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Entries that follow one another, and that are not here."""

    branch: int
    first: int
    last: int
    missing: int
    declared_at: Millis


def lost(session: Session, organisation_id: str) -> dict[int, Lost]:
    """What each device of an organisation has declared lost, by the device's number; who lost nothing is not named."""
    found: dict[int, Lost] = {}
    for device, stretches in groupby(_declared(session, organisation_id), key=lambda one: one[0]):
        missing = tuple(stretch for _, stretch in stretches if stretch.missing)
        if missing:
            entries, since = sum(one.missing for one in missing), min(one.declared_at for one in missing)
            found[device] = Lost(entries, since, missing)
    return found


def _declared(session: Session, organisation_id: str) -> list[tuple[int, Stretch]]:
    # A gap belongs to no event and no ticket: so it is found by the index of tickets among few others.
    here = ScanEntry.event == 0, ScanEntry.ticket == 0, ScanEntry.organisation_id == organisation_id
    gaps = select(ScanEntry).where(*here, ScanEntry.kind == EntryKind.GAP, ~ScanEntry.quarantined)
    rows = session.scalars(gaps.order_by(ScanEntry.device, ScanEntry.branch, ScanEntry.seq)).all()
    return [(row.device, stretch) for row, *told in _apart(rows) for stretch in _missing(session, row, *told)]


def _apart(rows: Sequence[ScanEntry]) -> Iterable[tuple[ScanEntry, int, int]]:
    """Each gap without what an earlier one of the same branch has declared already."""
    reached: dict[tuple[int, int], int] = {}
    holes = [(row, hole) for row in rows if (hole := declared_gap(decode(row.body))) is not None]
    for row, (first, last) in sorted(holes, key=lambda one: (one[0].device, one[0].branch, one[1])):
        begins = max(first, reached.get((row.device, row.branch), 0) + 1)
        if begins <= last:
            reached[row.device, row.branch] = last
            yield row, begins, last


def _missing(session: Session, row: ScanEntry, first: int, last: int) -> Iterable[Stretch]:
    """As it stands: what came after all, from another card or another gate, is not lost."""
    within = ScanEntry.device == row.device, ScanEntry.branch == row.branch, ScanEntry.seq.between(first, last)
    here = session.scalar(select(func.count(ScanEntry.seq.distinct())).where(*within)) or 0
    yield Stretch(row.branch, first, last, last - first + 1 - here, row.at)
