"""Counts what happens to checkout sessions and orders, in the metrics of the process."""

from __future__ import annotations

from functools import partial

from prometheus_client import CollectorRegistry, Counter
from sqlalchemy.orm import Session

from sync_server.plumbing.database import after_commit
from sync_server.plumbing.ports import ports_of


class CheckoutCounters:
    """The counters of one process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.sessions = Counter(
            "gatehouse_checkout_sessions",
            "Checkout sessions of this process: opened, paid, left and expired, and how often none was free",
            ["outcome"],
            registry=registry,
        )
        self.orders = Counter("gatehouse_orders", "Changes of orders made by this process", ["fact"], registry=registry)


def count(session: Session, outcome: str, number: int = 1) -> None:
    """Count once the transaction is committed; a refusal is counted at once, because nothing is."""
    counter = ports_of(session, CheckoutCounters).sessions.labels(outcome)
    if outcome == "full":
        counter.inc(number)
    else:
        after_commit(session, partial(counter.inc, number))


def count_order(session: Session, fact: str) -> None:
    """Count a change of an order once it is committed."""
    after_commit(session, ports_of(session, CheckoutCounters).orders.labels(fact).inc)
