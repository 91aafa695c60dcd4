"""Publishes how full an event is on the bus, after each fact that changes it."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.outbox.catalogue import kind_of
from sync_server.plumbing.api.schemas import iso
from sync_server.plumbing.database import after_commit
from sync_server.plumbing.due import AT_ONCE
from sync_server.plumbing.jobs import Message, Subscriber
from sync_server.plumbing.messaging.bus import Notification, occupancy_topic
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.telemetry.logs import LOG
from sync_server.plumbing.waking import wake
from sync_server.seat_maps import counters
from sync_server.seat_maps.map_cache import MapCache
from sync_server.seat_maps.occupancy import shown, with_percents

PUBLISH: Final = "seat_maps.publish_occupancy"
FIRST: Final = 8
"""How many events of a batch are counted before the next batch; the others are counted within a second."""
MOST_DAYS: Final = 31
"""Days of one event that a notification tells of; an event of more is followed by `/occupancy?day=`."""


class OccupancyNotifier:
    """Counts each event once for all facts of a batch: by then the log has the seats that they have touched."""

    def __init__(self, parts: Parts, maps: MapCache) -> None:
        self._parts, self._maps = parts, maps
        self._later: list[Message] = []
        self._lock = threading.Lock()

    def subscriber(self) -> Subscriber:
        """Publishes after the commit: reading a large map for the first time must hold up nobody's."""
        return Subscriber("occupancy", _changes_occupancy, self._on_facts)

    def _on_facts(self, session: Session, facts: Sequence[Message]) -> Sequence[Notification]:
        first = set(list(dict.fromkeys(fact.subjects["event"] for fact in facts))[:FIRST])
        later = [fact for fact in facts if fact.subjects["event"] not in first]
        with self._lock:
            self._later += later
        if later:
            wake(session, PUBLISH)
        after_commit(session, partial(self._publish, [fact for fact in facts if fact.subjects["event"] in first]))
        return ()

    def anything_left(self, _session: Session, _now: Millis) -> Millis | None:
        """At once, where `publish_rest` has anything to do."""
        return AT_ONCE if self._later else None

    def publish_rest(self, session: Session, _context: ActionContext) -> None:
        """Job: publish the counts of the events that have waited."""
        with self._lock:
            facts, self._later = self._later, []
        after_commit(session, partial(self._publish, facts))

    def _publish(self, facts: Sequence[Message]) -> None:
        try:
            self._parts.bus.publish_all(list(self._notifications(facts)))
        except Exception as problem:  # the next fact publishes the counts again
            LOG.warning("occupancy_not_told", problem=type(problem).__name__)

    def _notifications(self, facts: Sequence[Message]) -> Iterator[Notification]:
        events = {str(fact.subjects["event"]): fact.organisation_id for fact in facts}
        touched = _touched_days(facts)
        counts = {
            each: organisers_counts(self._parts, self._maps, whose, each, touched[each])
            for each, whose in events.items()
        }
        for fact in facts:
            if found := counts[str(fact.subjects["event"])]:
                topic = occupancy_topic(fact.organisation_id, fact.subjects["event_number"])
                yield Notification(topic, {**_seat_of(fact), **found})


def _changes_occupancy(fact: Message) -> bool:
    return kind_of(fact.name).occupancy and {"event", "event_number"} <= set(fact.subjects)


def _touched_days(facts: Sequence[Message]) -> dict[str, Collection[str] | None]:
    """The dates that facts name, by event; None where a fact concerns every day."""
    named: dict[str, set[str] | None] = {}
    for fact in facts:
        event, dates = str(fact.subjects["event"]), fact.payload.get("days")
        before = named.get(event, set())
        named[event] = before | {*dates} if dates and before is not None else None
    return dict(named)


def organisers_counts(
    parts: Parts, maps: MapCache, organisation_id: str, event_id: str, dates: Collection[str] | None = None
) -> Mapping[str, Any]:
    """How full an event is now, as its organisers see it; empty where there is no such event.

    At an event of several days also on each, or on these of them.
    """

    def count(date: str) -> counters.Counted:
        return counters.count(parts.database, maps, organisation_id, event_id, date, parts.clock())

    try:
        whole = count("")
        wanted = [date for date in whole.days if dates is None or date in dates][:MOST_DAYS]
        days = [{"date": date, **_counts(count(date))} for date in wanted]
    except NotFound:  # it was deleted, or moved to other days
        return {}
    return {"mark": whole.mark, **_counts(whole), **({"days": days} if whole.days else {})}


def _counts(counted: counters.Counted) -> dict[str, Any]:
    return with_percents(shown(counted.occupancy, organiser=True))


def _seat_of(fact: Message) -> dict[str, Any]:
    return {
        "event": fact.name,
        "event_id": fact.subjects["event"],
        "hold_id": fact.subjects.get("hold"),
        "seat": fact.payload.get("seat"),
        "seat_id": fact.payload.get("seat_id"),  # present where a seat was held
        "timestamp": iso(fact.at),
    }
