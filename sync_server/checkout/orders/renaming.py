"""Changes the names on an order: its buyer's, and those of the guests on its tickets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy.orm import Session

from shared.errors import Conflict, InvalidRequest
from sync_server.checkout import queries
from sync_server.checkout.filing import words
from sync_server.checkout.models import OrderLineRow, OrderRow
from sync_server.checkout.orders import recording
from sync_server.checkout.rules import LineState
from sync_server.events import queries as events
from sync_server.plumbing.requests.principals import Action, ActionContext
from sync_server.tickets import service as tickets

STANDING: Final = frozenset({LineState.ORDERED.value, LineState.ISSUED.value})
"""The lines that have a guest still to come."""
_REISSUED: Final = "the name on it was changed"


@dataclass(frozen=True, slots=True)
class Names:
    """The names that an order shall have; what is left out stays."""

    buyer: str | None = None
    guests: Mapping[int, str] = field(default_factory=dict)  # by the position of their lines
    reason: str = ""


def rename(session: Session, order: OrderRow, names: Names, context: ActionContext) -> int:
    """Change names of a locked order; returns how many tickets have a new code, because the old one names another."""
    lines = [line for line in _chosen(session, order, names) if line.holder_name != names.guests[line.position]]
    renamed = names.buyer is not None and names.buyer != order.buyer_name
    if not lines and not renamed:
        return 0
    if any(line.ticket_id is not None for line in lines):
        context.require(Action.CHANGE_TICKETS)
    if names.buyer is not None:
        order.buyer_name = names.buyer
        order.search_text = words.text_of(order.number, order.buyer_name, order.buyer_email)
    reissued = sum(_name(session, line, names, context) for line in lines)
    order.updated_at = context.now
    session.flush()
    number = events.event(session, *order.event).number
    told = {"buyer": int(renamed), "admissions": len(lines), "reissued": reissued}
    recording.record_order(session, order, number, "order_renamed", context, reason=names.reason, **told)
    return reissued


def _chosen(session: Session, order: OrderRow, names: Names) -> list[OrderLineRow]:
    """The lines whose guests are named; refused where one does not stand, or is somebody else's by now."""
    lines = {line.position: line for line in queries.lines(session, order.organisation_id, order.id)}
    unknown = sorted(set(names.guests) - set(lines))
    if unknown:
        raise InvalidRequest(f"The order has no line {unknown[0]}.", field="guests")
    chosen = [lines[position] for position in sorted(names.guests)]
    for line in chosen:
        if line.state not in STANDING:
            raise Conflict(f"Line {line.position} is {line.state}: it no longer has a guest.", code="line_ended")
        if line.passed_on and line.holder_name != names.guests[line.position]:
            raise Conflict(
                f"The ticket of line {line.position} was passed on to another person.", code="ticket_passed_on"
            )
    return chosen


def _name(session: Session, line: OrderLineRow, names: Names, context: ActionContext) -> bool:
    """Name the guest of a line, and of its ticket; returns whether that has a new code."""
    line.holder_name = names.guests[line.position]
    if line.ticket_id is None:
        return False
    place = session, line.organisation_id, line.ticket_id
    return tickets.name_holder(*place, line.holder_name, context, reason=names.reason or _REISSUED)
