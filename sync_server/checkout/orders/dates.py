"""Facts about orders whose event has another date: that it was offered, and what the buyer chose."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.audit import queries as audit
from sync_server.checkout.orders import recording
from sync_server.checkout.orders.locking import lock_order
from sync_server.events import queries as events
from sync_server.plumbing.requests.principals import ActionContext


def record_offer(
    session: Session,
    organisation_id: str,
    order_id: str,
    dates: tuple[Millis | None, Millis | None],
    context: ActionContext,
) -> None:
    """The buyer may keep the tickets for the first of these dates, or have the money back until the second."""
    order = lock_order(session, organisation_id, order_id, to_tell=True)
    number = events.event(session, organisation_id, order.event_id).number
    new_date, keep_until = dates
    recording.record_order(
        session, order, number, "new_date_offered", context, new_date=new_date, keep_until=keep_until
    )


def offered(
    session: Session, organisation_id: str, order_ids: Collection[str], new_date: Millis | None, since: Millis
) -> set[str]:
    """Those of these orders whose buyers have been offered this date since then."""
    told = audit.lines_about(session, organisation_id, "order", order_ids, "new_date_offered", since=since)
    return {str(line.subject_id) for line in told if (line.after or {}).get("new_date") == new_date}


def record_answer(session: Session, organisation_id: str, order_id: str, answer: str, context: ActionContext) -> None:
    """The buyer has chosen."""
    order = lock_order(session, organisation_id, order_id, to_tell=True)
    number = events.event(session, organisation_id, order.event_id).number
    recording.record_order(session, order, number, "new_date_answered", context, answer=answer)
