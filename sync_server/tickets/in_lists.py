"""What lists of events say about tickets: the least price, and whether any are left."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.plumbing.event_key import EventKey
from sync_server.tickets.models import TicketTypeRecord


@dataclass(frozen=True, slots=True)
class Offered:
    """What the shop offers of one event."""

    from_cents: int  # what the cheapest ticket costs with its fee: of those that are left, if any are
    currency: str
    left: bool  # at an event of several days always true: a quantity counts for each day, and the page tells them apart


def offered(session: Session, several_days: Mapping[EventKey, bool], now: Millis) -> Mapping[EventKey, Offered | None]:
    """What is offered of these events, each with whether it has several days.

    None where all tickets are hidden, which codes open; events without any tickets are left out.
    """
    types: dict[EventKey, list[tuple[bool, int, str]]] = {}
    for row in _types(session, several_days.keys()):
        key = EventKey(row.organisation_id, row.event_id)
        if key not in several_days or (row.sale_end_at is not None and row.sale_end_at < now):
            continue
        found = types.setdefault(key, [])
        if not row.hidden:
            left = several_days[key] or row.quantity > row.issued
            found.append((not left, row.price_cents + row.fee_cents, row.currency))
    return {key: _best(found) for key, found in types.items()}


def _best(found: Collection[tuple[bool, int, str]]) -> Offered | None:
    if not found:
        return None
    gone, cents, currency = min(found)
    return Offered(cents, currency, not gone)


def _types(session: Session, events: Collection[EventKey]) -> Collection[TicketTypeRecord]:
    if not events:
        return []
    statement = select(TicketTypeRecord).where(
        TicketTypeRecord.organisation_id.in_({key.organisation_id for key in events}),
        TicketTypeRecord.event_id.in_({key.event_id for key in events}),
    )
    return session.execute(statement).scalars().all()
