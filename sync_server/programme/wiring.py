"""Keeps listings in step with events, forgets remembered answers, and gives the worker its jobs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events.service import SOLD_OUT_OR_NOT
from sync_server.outbox.announcing import is_news
from sync_server.outbox.joins import JOINED_ELSEWHERE
from sync_server.plumbing.cache import Cache, public
from sync_server.plumbing.database import after_commit
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.work import Job, Message
from sync_server.programme import interest, service, trending

PUBLIC = public("", "").place


def wire(parts: Parts) -> None:
    """Act inside the transactions in which events change and joins are counted."""
    parts.database.when("event_changed", partial(_event_changed, parts.cache))
    parts.database.when(SOLD_OUT_OR_NOT, partial(_sold_out_or_not, parts.cache))
    parts.database.when(JOINED_ELSEWHERE, partial(_joined, parts.cache))
    ear = interest.Ear(parts.cache)
    parts.announcers.extend([ear.hear, partial(_forget_again, parts.cache)])
    parts.jobs.extend(
        [
            Job("programme.note_interest", 10_000, ear.note),
            Job("programme.rank", trending.EVERY_MS, trending.rank),
            Job("programme.let_go", 60_000, service.let_go),
        ]
    )


def _event_changed(cache: Cache, session: Session, subject: Any, now: Millis) -> None:
    _organisation, event_id, _number = subject
    if service.look_anew(session, event_id, now):
        after_commit(session, partial(_forget_lists, cache))
    after_commit(session, lambda: cache.forget(public("event", event_id)))


def _sold_out_or_not(cache: Cache, session: Session, event_id: Any, _now: Millis) -> None:
    """The other numbers on a card may be some seconds old; nobody should set out for a ticket that is gone."""
    after_commit(session, lambda: cache.forget(public("event", event_id)))
    after_commit(session, lambda: cache.forget_family(PUBLIC, "feed"))


def _forget_lists(cache: Cache) -> None:
    for family in ("feed", "cities"):
        cache.forget_family(PUBLIC, family)


def _forget_again(cache: Cache, messages: Sequence[Message]) -> None:
    """For the process that dies between its commit and its forgetting: the fact comes by all the same."""
    events = {str(one.subjects.get("event")) for one in messages if is_news(one.name)}
    if events:
        cache.forget(*(public("event", event) for event in events))
        _forget_lists(cache)


def _joined(cache: Cache, session: Session, told: Any, now: Millis) -> None:
    interest.joined(session, told, now)
    after_commit(session, lambda: cache.forget(public("event", told.event_id)))
