"""The facts of orders, of their money, and of events that are called off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sync_server.outbox.fact_fields import ID, MILLIS, NUMBER, TEXT
from sync_server.outbox.fact_kinds import FactKind, Group, Schema, Topic

_ORDER: Final[Mapping[str, Schema]] = {"order": ID, "event": ID, "event_number": NUMBER}
_PAYMENT: Final[Mapping[str, Schema]] = {"cents": NUMBER, "method": TEXT}
_EVENT_TOPIC: Final = frozenset({Topic.EVENT})
_EVENT_TOPICS: Final = frozenset({Topic.EVENT, Topic.ORGANISATION})


def _order(description: str, **more: Schema) -> FactKind:
    payload = {"state": TEXT, "channel": TEXT, "total_cents": NUMBER, "currency": TEXT, **more}
    return FactKind(description, Group.ORDER, _ORDER, payload, topics=_EVENT_TOPIC, logged=tuple(payload))


def _cancellation(description: str) -> FactKind:
    payload = {
        "choice": {"enum": ["refund", "another_date", "nothing"]},
        "orders": NUMBER,
        "done_orders": NUMBER,
        "failed_orders": NUMBER,
        "cents": NUMBER,
        "new_date": MILLIS,
        "keep_until": MILLIS,
    }
    subjects = {"event": ID, "event_number": NUMBER}
    return FactKind(description, Group.EVENT, subjects, payload, topics=_EVENT_TOPICS, logged=tuple(payload))


ORDER_FACTS: Final[Mapping[str, FactKind]] = {
    "order_created": _order("An order was made; it keeps its seats until it is paid or ends.", admissions=NUMBER),
    "order_invoiced": _order("An order waits until its invoice is due.", due_at=MILLIS),
    "payment_received": _order("A payment for an order was noted in its ledger.", **_PAYMENT),
    "order_paid": _order("An order is paid; its tickets are valid.", admissions=NUMBER, method=TEXT),
    "order_refunded": _order("Admissions were refunded, or money paid back.", admissions=NUMBER, **_PAYMENT),
    "payment_returned": _order(
        "A payment is paid back by itself: it came too late, twice, or for an order that had ended.",
        because=TEXT,
        **_PAYMENT,
    ),
    "payout_made": _order("A payment service has paid money back.", **_PAYMENT),
    "payout_due": _order("No payment service can pay this money back: the box office does.", **_PAYMENT),
    "new_date_offered": _order(
        "The buyer of an order may keep its tickets for another date, or have the money back until then.",
        new_date=MILLIS,
        keep_until=MILLIS,
    ),
    "new_date_answered": _order("A buyer has chosen: keep the tickets for another date, or refund.", answer=TEXT),
    "cancellation_begun": _cancellation("The organiser has chosen what buyers of an event that is called off get."),
    "cancellation_stopped": _cancellation("The refunds, or offers, of an event that is called off were stopped."),
    "cancellation_resumed": _cancellation("The refunds, or offers, of an event that is called off go on."),
    "cancellation_finished": _cancellation("Every order of an event that is called off was refunded, or offered."),
    "payout_failed": _order("A payment service could not pay money back; it is owed to the buyer.", **_PAYMENT),
    "order_cancelled": _order("An order that was not paid was cancelled; its seats are free."),
    "order_expired": _order("An order was not paid in time; its seats are free."),
}
