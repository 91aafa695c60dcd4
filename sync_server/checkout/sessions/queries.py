"""Reads of checkout sessions, and of how many there may be."""

from __future__ import annotations

from typing import Final, NamedTuple

from sqlalchemy import ColumnElement, func, select, text
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.checkout.models import CheckoutLimitRow, CheckoutSessionRow
from sync_server.checkout.sessions.rules import DEFAULT_LIMIT, SessionState
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.asked_together import Question
from sync_server.plumbing.sql.prepared import Prepared, placeholder
from sync_server.queueing import queries as queueing

Row = CheckoutSessionRow


class Visit(NamedTuple):
    """Who wants to pay for what they hold of which event."""

    event: EventKey
    bearer_kind: str
    bearer_id: str


def is_open(now: Millis) -> tuple[ColumnElement[bool], ...]:
    """Sessions that have a slot and have not run out."""
    return Row.state == SessionState.OPEN.value, Row.expires_at > now


def open_session(session: Session, visit: Visit, now: Millis) -> CheckoutSessionRow | None:
    """The session that somebody has open at an event."""
    wanted = select(Row).where(visit.event.of(Row), Row.bearer_id == visit.bearer_id, *is_open(now))
    return session.execute(wanted.execution_options(populate_existing=True)).scalar_one_or_none()


class Slot(NamedTuple):
    """A slot that somebody's session has."""

    slot: int
    bearer_id: str
    expires_at: Millis


_SLOTS: Final = Prepared(
    select(Row.slot, Row.bearer_id, Row.expires_at).where(
        Row.organisation_id == placeholder("organisation"),
        Row.event_id == placeholder("event"),
        Row.state == text(f"'{SessionState.OPEN.value}'"),
    )
)


def asks_slots(event: EventKey) -> Question:
    """What `slots` asks."""
    return _SLOTS, {"organisation": event.organisation_id, "event": event.event_id}


def slots(session: Session, event: EventKey) -> list[Slot]:
    """The slots of an event that are taken: by sessions that are open, or have run out unnoticed."""
    statement, values = asks_slots(event)
    rows = statement.rows(session, **values)
    return [Slot(row.slot, str(row.bearer_id), row.expires_at) for row in rows]


def count_open(session: Session, event: EventKey, now: Millis) -> int:
    """How many sessions are open at an event."""
    return session.execute(select(func.count()).select_from(Row).where(event.of(Row), *is_open(now))).scalar_one()


def count_all_open(session: Session, now: Millis) -> int:
    """How many sessions are open at all events of the installation."""
    return session.execute(select(func.count()).select_from(Row).where(*is_open(now))).scalar_one()


def limit_of(session: Session, event: EventKey, *, lock: bool = False) -> int:
    """How many may be in the checkout of an event at once."""
    wanted = select(CheckoutLimitRow.sessions).where(event.of(CheckoutLimitRow))
    found = session.execute(wanted.with_for_update() if lock else wanted).scalar_one_or_none()
    return DEFAULT_LIMIT if found is None else found


def free_slots(session: Session, organisation_id: str, event_id: str, now: Millis) -> int:
    """How many more the queue may let in: slots that neither a session has, nor somebody whose turn it is may want."""
    event = EventKey(organisation_id, event_id)
    shopping = queueing.shopping(organisation_id, event_id, now)
    in_checkout = select(Row.bearer_id).where(event.of(Row), *is_open(now))
    taken = in_checkout.union(shopping).subquery()
    counted = session.execute(select(func.count()).select_from(taken)).scalar_one()
    return max(0, limit_of(session, event) - counted)


def count_bearers(session: Session, event: EventKey) -> int:
    """How many guests were ever in the checkout of an event."""
    return session.execute(select(func.count(Row.bearer_id.distinct())).where(event.of(Row))).scalar_one()
