"""What the ticket types of events offer: the least price, whether any are left, and when the first are sold."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events.rules import ForSale
from sync_server.plumbing.event_key import EventKey
from sync_server.tickets.models import TicketTypeRecord


@dataclass(frozen=True, slots=True)
class Offered:
    """What the shop offers of one event to everybody."""

    from_cents: int  # what the cheapest ticket costs with its fee: of those that are left, if any are
    to_cents: int  # and the dearest
    currency: str
    left: bool  # at an event of several days always true: a quantity counts for each day, and the page tells them apart
    begins_at: Millis | None  # when the first of them is sold, where that is not yet; None: with the event's own sale


@dataclass(frozen=True, slots=True)
class InList:
    """What lists say of the ticket types of an event."""

    for_sale: ForSale
    offered: Offered | None  # None where all tickets are hidden, which codes open


def for_sale(session: Session, several_days: Mapping[EventKey, bool], now: Millis) -> Mapping[EventKey, ForSale]:
    """What the ticket types of these events offer; events without any are left out."""
    return {key: found.for_sale for key, found in in_lists(session, several_days, now).items()}


def in_lists(session: Session, several_days: Mapping[EventKey, bool], now: Millis) -> Mapping[EventKey, InList]:
    """What lists say of these events, each with whether it has several days.

    Events without any tickets, or whose tickets are no longer sold, are left out.
    """
    types: dict[EventKey, list[TicketTypeRecord]] = {}
    for row in _types(session, several_days.keys()):
        key = EventKey(row.organisation_id, row.event_id)
        if key in several_days and (row.sale_end_at is None or now <= row.sale_end_at):
            types.setdefault(key, []).append(row)
    return {key: _in_list(rows, now, several_days=several_days[key]) for key, rows in types.items()}


def _in_list(rows: Sequence[TicketTypeRecord], now: Millis, *, several_days: bool) -> InList:
    shown = [row for row in rows if not row.hidden]
    of = shown or rows
    left = [row for row in of if several_days or row.quantity > row.issued]
    begins = min(row.sale_start_at or 0 for row in left or of)
    begins_at = begins if begins > now else None
    found = ForSale(bool(left), begins_at)
    if not shown:
        return InList(found, None)
    prices = [(row.price_cents + row.fee_cents, row.currency) for row in left or of]
    (cheapest, currency), (dearest, _) = min(prices), max(prices)
    return InList(found, Offered(cheapest, dearest, currency, bool(left), begins_at))


def _types(session: Session, events: Collection[EventKey]) -> Collection[TicketTypeRecord]:
    if not events:
        return []
    statement = select(TicketTypeRecord).where(
        TicketTypeRecord.organisation_id.in_({key.organisation_id for key in events}),
        TicketTypeRecord.event_id.in_({key.event_id for key in events}),
    )
    return session.execute(statement).scalars().all()
