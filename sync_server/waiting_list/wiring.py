"""Wakes waiting lists when something comes back, and registers the job that makes offers."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from sync_server.holds.attempts.runtime import hold_runtime
from sync_server.outbox import catalogue
from sync_server.outbox.fact_kinds import Group, Seats
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.jobs import HeavyJob, Message, Subscriber
from sync_server.plumbing.messaging.bus import Notification
from sync_server.plumbing.parts import Parts
from sync_server.seating.event_seatings import event_seatings_of
from sync_server.waiting_list import offering, service
from sync_server.waiting_list.offering import Offering

EVERY_MS = 1_000


def wire(parts: Parts) -> None:
    """Subscribe, and register the job."""
    parts.subscribers.append(Subscriber("waiting_list", may_free_places, _wake))
    made = Offering(parts.database, hold_runtime(parts), event_seatings_of(parts))
    parts.jobs.append(HeavyJob(service.OFFER, EVERY_MS, made.run, offering.next_at, lane="waiting lists"))


def may_free_places(fact: Message) -> bool:
    """Whether what happened may leave places for somebody who waits: anything about seats but that they were taken."""
    if fact.name not in catalogue.FACTS:
        return False  # of a later release, whose own servers wake the list
    kind = catalogue.kind_of(fact.name)
    concerns = kind.seats is not Seats.NONE or kind.occupancy or kind.group is Group.EVENT
    return concerns and kind.interest is None and "event" in fact.subjects


def _wake(session: Session, facts: Sequence[Message]) -> Sequence[Notification]:
    for event in sorted({EventKey(fact.organisation_id, fact.subjects["event"]) for fact in facts}):
        service.wake(session, event, max(fact.at for fact in facts))
    return ()
