"""Reads of cancelled events; an event of another organisation counts as unknown."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.errors import NotFound
from sync_server.cancellations.models import CancellationRow, DateAnswerRow
from sync_server.cancellations.rules import Answer
from sync_server.plumbing.event_key import EventKey


def find(session: Session, event: EventKey, *, lock: bool = False) -> CancellationRow | None:
    """What was chosen for an event's buyers, if anything was."""
    row = CancellationRow
    wanted = select(row).where(row.organisation_id == event.organisation_id, row.event_id == event.event_id)
    if lock:
        wanted = wanted.with_for_update().execution_options(populate_existing=True)
    return session.execute(wanted).scalar_one_or_none()


def cancellation(session: Session, event: EventKey, *, lock: bool = False) -> CancellationRow:
    """As `find`; NotFound where nothing was chosen."""
    row = find(session, event, lock=lock)
    if row is None:
        raise NotFound("Nothing has been chosen yet for the buyers of this event.", code="not_called_off")
    return row


def answers(session: Session, row: CancellationRow) -> dict[str, int]:
    """How many buyers have answered for the date that is offered now, by answer."""
    answer = DateAnswerRow
    here = answer.organisation_id == row.organisation_id, answer.event_id == row.event_id
    counted = select(answer.answer, func.count()).where(*here, answer.new_date == row.new_date).group_by(answer.answer)
    return {each.value: 0 for each in Answer} | {name: int(count) for name, count in session.execute(counted)}


def answer_of(session: Session, row: CancellationRow, order_id: str) -> str | None:
    """What a buyer has chosen for the date that is offered now; None: nothing yet."""
    found = session.get(DateAnswerRow, (row.organisation_id, order_id))
    return found.answer if found is not None and found.new_date == row.new_date else None
