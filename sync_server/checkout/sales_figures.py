"""Figures of sales over time, and what of the money waits for somebody."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import exists, func, literal, select, text, union_all
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.checkout.filing import sold
from sync_server.checkout.filing.sold import DAY_MS, SOLD
from sync_server.checkout.models import OrderRow, PayoutRow
from sync_server.checkout.rules import PayoutState
from sync_server.plumbing.event_key import EventKey

BY_PENDING: Final = "INDEXED BY ix_orders_expires_at"
"""SQLite would read every order of the organisation for the few that are not paid."""


@dataclass(frozen=True, slots=True)
class Sold:
    """What was sold on one day, before refunds."""

    at: int  # which day, counted from 0
    currency: str
    orders: int
    cents: int


@dataclass(frozen=True, slots=True)
class TypeSold:
    """How many tickets of one type were sold in one stretch of time, and for how much, before refunds."""

    at: int  # which stretch, counted from 0
    ticket_type: int
    currency: str
    tickets: int
    cents: int
    orders: int  # that begin with one of them, so that each counts once


@dataclass(frozen=True, slots=True)
class MoneyWaiting:
    """Money that waits for somebody to look."""

    overdue_invoices: int
    failed_payouts: int


def by_day(session: Session, organisation_id: str, days: Sequence[Millis]) -> list[Sold]:
    """What an organisation sold on each of these days, given by their beginnings, the last of which goes on.

    Each event's days are those of its own time zone.
    """
    found: Counter[tuple[int, str, str]] = Counter()
    for starts, currency, figure, n in sold.days_of_organisation(session, organisation_id, days[0]):
        at = bisect_right(days, starts + DAY_MS // 2) - 1  # at noon it is the same day almost everywhere
        found[at, currency, figure] += n
    keys = sorted({(at, currency) for at, currency, _ in found if at >= 0})
    return [Sold(*key, found[*key, sold.ORDERS], found[*key, sold.CENTS]) for key in keys]


def first_sale(session: Session, event: EventKey) -> Millis | None:
    """When an event was sold first; None where nobody has bought yet."""
    sold = select(OrderRow.created_at).where(event.of(OrderRow), OrderRow.state.in_(SOLD))
    return session.execute(sold.order_by(OrderRow.id).limit(1)).scalar_one_or_none()


def bought(session: Session, events: Sequence[EventKey]) -> set[str]:
    """Those of these events that somebody has bought tickets of: tickets can be issued without an order, too."""
    asked = [
        select(literal(event.event_id)).where(exists().where(event.of(OrderRow), OrderRow.state.in_(SOLD)))
        for event in events
    ]
    return set(session.execute(union_all(*asked)).scalars()) if asked else set()


def types_of_event(session: Session, event: EventKey, timezone: str, since: Millis, step: int) -> list[TypeSold]:
    """The tickets in paid orders of an event, by type and by the hours or days since then."""
    counted = sold.of_event(session, event, timezone, step)
    found = []
    for starts, number, currency in sorted({key[1:4] for key in counted}):
        at = round((starts - since) / step)  # a day of 23 or 25 hours is one nevertheless
        tickets, cents, orders = (
            counted[step, starts, number, currency, each] for each in (sold.TICKETS, sold.CENTS, sold.ORDERS)
        )
        found.append(TypeSold(at, number, currency, tickets, cents, orders))
    return [one for one in found if one.tickets and one.at >= 0]


def money_waiting(session: Session, organisation_id: str, now: Millis) -> MoneyWaiting:
    """How many invoices are overdue, and how many payouts a payment service has refused."""
    overdue = (
        select(func.count())
        .where(
            OrderRow.organisation_id == organisation_id,
            OrderRow.state == text("'pending'"),  # as literal text, to match the partial index
            OrderRow.due_at < now,
        )
        .with_hint(OrderRow, BY_PENDING, "sqlite")
    )
    failed = select(func.count()).where(
        PayoutRow.organisation_id == organisation_id, PayoutRow.state == PayoutState.FAILED.value
    )
    return MoneyWaiting(*session.execute(select(overdue.scalar_subquery(), failed.scalar_subquery())).one())
