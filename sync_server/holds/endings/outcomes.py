"""How an event's holds ended: how many were bought, ran out or were given up, counted as they end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from sync_server.events.days.chosen_days import EVERY_DAY
from sync_server.holds.models import HoldOutcomeRow, HoldRow, HoldStatus
from sync_server.plumbing import sums
from sync_server.plumbing.event_key import EventKey


def count(session: Session, event: EventKey, ended: Iterable[tuple[str, int]], more: int = 1) -> None:
    """Count holds that ended, each with its status and its days; `more` is -1 for holds that are deleted."""
    for status, days in ended:
        sums.add(session, HoldOutcomeRow, (*event, status, days), more)


def outcomes(session: Session, organisation_id: str, event_id: str, days: int = EVERY_DAY) -> Mapping[str, int]:
    """The holds of an event that have ended, by status; of some days those that were for any of them."""
    row = HoldOutcomeRow
    here = EventKey(organisation_id, event_id).of(row), row.n != 0
    found: Counter[str] = Counter()
    for status, of_days, n in session.execute(select(row.status, row.days, row.n).where(*here)):
        if EVERY_DAY in {days, of_days} or days & of_days:
            found[status] += n
    return dict(found)


def _counted(event: EventKey) -> Select[str, int, int]:
    """Counts the holds that have ended themselves, for the check of the sums."""
    row, ended = HoldRow, HoldRow.status.not_in([HoldStatus.ACTIVE.value, HoldStatus.SUSPENDED.value])
    return select(row.status, row.days, func.count()).where(event.of(row), ended).group_by(row.status, row.days)


SUMS: Final = sums.Summed(HoldOutcomeRow, sums.selected(_counted))
