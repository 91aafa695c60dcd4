"""Gaps that devices declared: journal entries that were written at a gate and are lost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.journal.scans import decode
from sync_server.scans.models import BY_GAPS, GAPS, ScanEntry
from sync_server.scans.rules import declared_gap


@dataclass(frozen=True, slots=True)
class Lost:
    """The lost entries of one device, and when it first declared any."""

    entries: int
    since: Millis
    stretches: tuple[Stretch, ...]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive entries that the server does not have."""

    branch: int
    first: int
    last: int
    missing: int
    declared_at: Millis


def lost(session: Session, organisation_id: str, device: int | None = None) -> dict[int, Lost]:
    """What each device of an organisation, or only this one, has declared lost, by number; others are omitted."""
    found: dict[int, Lost] = {}
    for number, stretches in groupby(_declared(session, organisation_id, device), key=lambda one: one[0]):
        missing = tuple(stretch for _, stretch in stretches if stretch.missing)
        if missing:
            entries, since = sum(one.missing for one in missing), min(one.declared_at for one in missing)
            found[number] = Lost(entries, since, missing)
    return found


def _declared(session: Session, organisation_id: str, device: int | None) -> list[tuple[int, Stretch]]:
    gaps = select(ScanEntry).where(ScanEntry.organisation_id == organisation_id, GAPS, ~ScanEntry.quarantined)
    if device is not None:
        gaps = gaps.where(ScanEntry.device == device)
    in_order = gaps.order_by(ScanEntry.device, ScanEntry.branch, ScanEntry.seq)
    rows = session.scalars(in_order.with_hint(ScanEntry, BY_GAPS, "sqlite")).all()
    return [(row.device, stretch) for row, *span in _without_overlap(rows) for stretch in _missing(session, row, *span)]


def _without_overlap(rows: Sequence[ScanEntry]) -> Iterable[tuple[ScanEntry, int, int]]:
    """Each gap, without what an earlier one of the same branch declared."""
    reached: dict[tuple[int, int], int] = {}
    gaps = [(row, gap) for row in rows if (gap := declared_gap(decode(row.body))) is not None]
    for row, (first, last) in sorted(gaps, key=lambda one: (one[0].device, one[0].branch, one[1])):
        begins = max(first, reached.get((row.device, row.branch), 0) + 1)
        if begins <= last:
            reached[row.device, row.branch] = last
            yield row, begins, last


def _missing(session: Session, row: ScanEntry, first: int, last: int) -> Iterable[Stretch]:
    """What is still missing: entries that arrived after all, from another card or gate, are not lost."""
    mine = ScanEntry.organisation_id == row.organisation_id, ScanEntry.device == row.device
    within = ScanEntry.branch == row.branch, ScanEntry.seq.between(first, last)
    found = session.scalar(select(func.count(ScanEntry.seq.distinct())).where(*mine, *within)) or 0
    yield Stretch(row.branch, first, last, last - first + 1 - found, row.at)
