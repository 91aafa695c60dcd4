"""Measures the interest in each event, by its sales, holds and joins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import delete
from sqlalchemy.orm import Session

from sync_server.listings.models import Interest
from sync_server.listings.rules import HOUR, INTEREST_HOURS, JOIN_WEIGHT
from sync_server.outbox.catalogue import kind_of
from sync_server.outbox.signals import JoinedElsewhere
from sync_server.plumbing.jobs import Message
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sql.bulk import insert_many

_ADD: Final = "ON CONFLICT (event_id, hour) DO UPDATE SET weight = event_interest.weight + excluded.weight"


def count_interest(session: Session, facts: Sequence[Message]) -> None:
    """Add what these facts say of the interest in their events."""
    weights: Counter[tuple[str, int]] = Counter()
    for fact in facts:
        if weight := interest_in(fact):
            weights[str(fact.subjects["event"]), fact.at // HOUR] += weight
    add_interest(session, weights)


def delete_old(session: Session, context: ActionContext) -> None:
    """Job: delete interest that is too old to count."""
    session.execute(delete(Interest).where(Interest.hour < context.now // HOUR - INTEREST_HOURS))


def record_join(session: Session, join: JoinedElsewhere) -> None:
    """Count a join elsewhere, in the transaction that records it."""
    if join.step > 0:
        add_interest(session, {(join.event_id, join.now // HOUR): JOIN_WEIGHT})


def add_interest(session: Session, weights: Mapping[tuple[str, int], int]) -> None:
    """Add weights by (event, hour); in message order, so that writers cannot deadlock."""
    rows = [{"event_id": event, "hour": hour, "weight": weight} for (event, hour), weight in sorted(weights.items())]
    insert_many(session, Interest, rows, _ADD)


def interest_in(message: Message) -> int:
    """How much a fact adds to the score of its event."""
    interest = kind_of(message.name).interest
    if interest is None or "event" not in message.subjects:
        return 0
    return interest.weight * int(message.payload.get(interest.per, 1))
