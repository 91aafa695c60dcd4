"""What became of mails."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.mail.models import MailRow
from sync_server.mail.rules import State

WAITS: Final = MailRow.state == State.WAITING


@dataclass(frozen=True, slots=True)
class Delivery:
    """Where a mail is on its way, and the code of its last problem."""

    state: str
    problem: str


def deliveries(session: Session, organisation_id: str, ids: Collection[str]) -> dict[str, Delivery]:
    """What became of these mails of an organisation."""
    query = select(MailRow.id, MailRow.state, MailRow.problem).where(
        MailRow.organisation_id == organisation_id, MailRow.id.in_(ids)
    )
    return {id: Delivery(state, problem) for id, state, problem in session.execute(query)}


def due(now: Millis) -> tuple[ColumnElement[bool], ...]:
    """The condition of mails that are to be sent now."""
    return WAITS, MailRow.due_at <= now
