"""Finds the order of each entry, says what it would do, and notes what is confirmed: by the one way of all payments."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.errors import GatehouseError
from sync_server.checkout import queries
from sync_server.checkout.models import OrderRow
from sync_server.checkout.money import ledger
from sync_server.checkout.money.ledger import Kind
from sync_server.checkout.payments import paying
from sync_server.checkout.payments.bank_files.entries import Entry
from sync_server.checkout.payments.methods import METHODS
from sync_server.checkout.payments.paying import Arrived, OrderKey
from sync_server.checkout.rules import OrderState
from sync_server.plumbing.database import Database
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer

TRANSFER: Final = METHODS["invoice"]
_NUMBER: Final = re.compile(r"(?<![A-Za-z0-9])([A-Za-z0-9]{1,12}?)[\s\-‐–/._]*R\s?(\d{1,9})(?!\d)", re.IGNORECASE)  # noqa: RUF001


class Outcome(StrEnum):
    """What an entry means."""

    EXACT = "exact"
    SHORT = "short"  # the order waits on for the rest
    OVER = "over"  # the rest is owed back
    DOUBLE = "double"  # nothing was due any more: all of it is owed back
    LATE = "late"  # the order has run out: sold if its seats are free, else owed back
    UNKNOWN = "unknown"  # no order, or several
    OTHER_CURRENCY = "other_currency"
    KNOWN = "known"  # noted before
    REFUSED = "refused"  # when it was to be noted; the error says why


@dataclass(frozen=True, slots=True)
class Match:
    """An entry with its order, and what it does or has done."""

    entry: Entry
    outcome: Outcome
    order: OrderRow | None = None
    due_cents: int = 0  # of the order, before the entry
    problem: str = ""


def preview(
    session: Session, organisation_id: str, entries: Sequence[Entry], chosen: Mapping[str, str] | None = None
) -> list[Match]:
    """What each entry would do, in the order of the file; `chosen` are orders by reference, which people have found."""
    arrived: Counter[str] = Counter()
    matches = []
    for entry in entries:
        match = _match(session, organisation_id, entry, arrived, chosen or {})
        if match.order is not None and match.outcome not in {Outcome.KNOWN, Outcome.OTHER_CURRENCY}:
            arrived[match.order.id] += entry.cents
        matches.append(match)
    return matches


def _match(
    session: Session, organisation_id: str, entry: Entry, arrived: Counter[str], chosen: Mapping[str, str]
) -> Match:
    noted = ledger.told_before(session, organisation_id, Kind.PAYMENT, TRANSFER.name, entry.reference)
    if noted is not None:
        return Match(entry, Outcome.KNOWN, queries.order(session, organisation_id, noted.order_id))
    if entry.reference in chosen:
        order: OrderRow | None = queries.order(session, organisation_id, chosen[entry.reference])
    else:
        order = _order_of(session, organisation_id, entry)
    if order is None:
        return Match(entry, Outcome.UNKNOWN)
    due = paying.due(session, order) - arrived[order.id]
    if entry.currency not in {"", order.currency}:
        return Match(entry, Outcome.OTHER_CURRENCY, order, due)
    return Match(entry, _outcome(order, entry.cents, due), order, due)


def _order_of(session: Session, organisation_id: str, entry: Entry) -> OrderRow | None:
    """The one order whose number stands in the text; None where there is none, or several."""
    numbers = {f"{code.upper()}-R{int(count)}" for code, count in _NUMBER.findall(entry.text)}
    wanted = select(OrderRow).where(OrderRow.organisation_id == organisation_id, OrderRow.number.in_(sorted(numbers)))
    found = session.execute(wanted.limit(2)).scalars().all() if numbers else ()
    return found[0] if len(found) == 1 else None


def _outcome(order: OrderRow, cents: int, due: int) -> Outcome:
    if order.state == OrderState.EXPIRED:
        return Outcome.LATE
    if order.state != OrderState.PENDING or due <= 0:
        return Outcome.DOUBLE
    return Outcome.EXACT if cents == due else Outcome.SHORT if cents < due else Outcome.OVER


def note(
    database: Database, sealer: Sealer, organisation_id: str, matches: Sequence[Match], context: ActionContext
) -> list[Match]:
    """Note these entries, each in a transaction of its own: after a crash the same file is sent again."""
    return [_noted(database, sealer, organisation_id, match, context) for match in matches]


def _noted(database: Database, sealer: Sealer, organisation_id: str, match: Match, context: ActionContext) -> Match:
    if match.order is None or match.outcome in {Outcome.KNOWN, Outcome.OTHER_CURRENCY}:
        return match
    key, payment = (
        OrderKey(organisation_id, match.order.id),
        Arrived(TRANSFER, match.entry.cents, match.entry.reference),
    )
    try:
        order = paying.receive_or_keep(database, sealer, key, payment, context)
    except GatehouseError as refusal:
        if refusal.retryable:
            raise
        return Match(match.entry, Outcome.REFUSED, match.order, match.due_cents, refusal.message)
    return Match(match.entry, match.outcome, order, match.due_cents)
