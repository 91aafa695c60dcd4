"""How an event's holds ended: how many were bought, ran out or were given up, counted as they end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from sync_server.holds.models import HoldOutcomeRow, HoldRow, HoldStatus
from sync_server.plumbing import sums
from sync_server.plumbing.event_key import EventKey


def count(session: Session, event: EventKey, statuses: Iterable[str], more: int = 1) -> None:
    """Count holds that ended with these statuses; `more` is -1 for holds that are deleted."""
    for status in statuses:
        sums.add(session, HoldOutcomeRow, (*event, status), more)


def outcomes(session: Session, organisation_id: str, event_id: str) -> Mapping[str, int]:
    """The holds of an event that have ended, by status."""
    here = EventKey(organisation_id, event_id).of(HoldOutcomeRow)
    return dict(
        session.execute(select(HoldOutcomeRow.status, HoldOutcomeRow.n).where(here, HoldOutcomeRow.n != 0)).all()
    )


def _counted(event: EventKey) -> Select[str, int]:
    """Counts the holds that have ended themselves, for the check of the sums."""
    ended = HoldRow.status.not_in([HoldStatus.ACTIVE.value, HoldStatus.SUSPENDED.value])
    return select(HoldRow.status, func.count()).where(event.of(HoldRow), ended).group_by(HoldRow.status)


SUMS: Final = sums.Summed(HoldOutcomeRow, _counted)
