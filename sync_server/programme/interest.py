"""Hears what is bought and held, and notes how much interest each event meets with."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import delete
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.outbox.joins import Joined
from sync_server.plumbing.cache import Cache, public
from sync_server.plumbing.many import insert_many
from sync_server.plumbing.principals import Deed
from sync_server.plumbing.work import Message
from sync_server.programme.models import Interest
from sync_server.programme.rules import HOUR, INTEREST_HOURS, WEIGHTS

_ADDED: Final = "ON CONFLICT (event_id, hour) DO UPDATE SET weight = event_interest.weight + excluded.weight"


class Ear:
    """Counts in memory what this process hears between two notes; what a crash loses is a few seconds of interest."""

    def __init__(self, cache: Cache) -> None:
        """Has heard nothing yet."""
        self._cache = cache
        self._heard: Counter[tuple[str, int]] = Counter()
        self._turn = threading.Lock()

    def hear(self, messages: Sequence[Message]) -> None:
        """Take in facts by the batch; an event's page is looked up anew when its tickets sell."""
        sold = {str(one.subjects["event"]) for one in messages if one.name == "tickets_issued"}
        with self._turn:
            for message in messages:
                if weight := _weight(message):
                    self._heard[str(message.subjects["event"]), message.at // HOUR] += weight
        if sold:
            self._cache.forget(*(public("event", event) for event in sold))

    def note(self, session: Session, deed: Deed) -> None:
        """Write down what was heard, and forget what is too old to count."""
        with self._turn:
            heard, self._heard = self._heard, Counter()
        write(session, heard)
        session.execute(delete(Interest).where(Interest.hour < deed.now // HOUR - INTEREST_HOURS))


def joined(session: Session, told: Any, now: Millis) -> None:
    """Somebody joined elsewhere: noted in the transaction that counts the join."""
    if isinstance(told, Joined) and told.step > 0:
        write(session, {(told.event_id, now // HOUR): WEIGHTS["joined"]})


def write(session: Session, heard: dict[tuple[str, int], int]) -> None:
    """Add weights to (event, hour), in one order, so that writers wait for one another and never in a ring."""
    rows = [{"event_id": event, "hour": hour, "weight": weight} for (event, hour), weight in sorted(heard.items())]
    insert_many(session, Interest, rows, _ADDED)


def _weight(message: Message) -> int:
    if "event" not in message.subjects:
        return 0
    if message.name == "tickets_issued":
        return WEIGHTS["ticket_sold"] * int(message.payload.get("count", 1))
    return WEIGHTS.get(message.name, 0)
