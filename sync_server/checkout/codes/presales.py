"""Presales that open an event's sale before it begins: for whoever shows a code, and for the types that it names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.checkout.codes import guessing, spending
from sync_server.checkout.codes.rules import CodeKind
from sync_server.checkout.models import CodeBatchRow
from sync_server.events import queries as events
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.requests.principals import ActionContext

Row = CodeBatchRow


def opener(parts: Parts) -> Callable[[EventKey, Sequence[str], ActionContext], bool]:
    """What finds out whether codes that are shown open the sale of an event now."""

    def opens(event: EventKey, texts: Sequence[str], context: ActionContext) -> bool:
        with parts.database.reading() as session:
            if not texts or not is_to_begin(session, event, context.now):
                return False
        guessing.require_codes(parts.database, parts.sealer, event, texts, context)
        with parts.database.reading() as session:
            redeemed = spending.redeem(session, parts.sealer, event, texts, context.now)
            spending.require_unspent(session, event, redeemed)
            return bool(redeemed.opened_early)

    return opens


def is_to_begin(session: Session, event: EventKey, now: Millis) -> bool:
    """Whether the event's own sale has not begun yet."""
    start = events.event(session, *event).sale_start_at
    return start is not None and now < start


def is_on(session: Session, event: EventKey, at: Millis) -> bool:
    """Whether codes open the sale of this event at that time."""
    opens = Row.kind == CodeKind.PRESALE.value, Row.opens_sale.is_(True), Row.revoked_at.is_(None)
    found = select(Row.number).where(event.of(Row), *opens, *_valid(at)).limit(1)
    return session.execute(found).first() is not None


def _valid(at: Millis) -> tuple[ColumnElement[bool], ...]:
    begun = or_(Row.valid_from.is_(None), Row.valid_from <= at)
    return begun, or_(Row.valid_until.is_(None), Row.valid_until > at)
