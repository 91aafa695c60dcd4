"""Answers what is held and sold, and lets holds follow what happens to events."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events.hanging import ASKED as HANGING
from sync_server.holds import expiry, following, queries, service, telling
from sync_server.holds.box_office import MEMORY, BoxOffice
from sync_server.holds.ending import ENDED
from sync_server.holds.remembering import job, kept
from sync_server.plumbing.database import after_commit
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.work import Job
from sync_server.seating.event_layouts import CHANGING as LAYOUT_CHANGING
from sync_server.seating.taken import ASKED

_OVER = ("event_cancelled", "event_ended", "event_archived")
_DATED = ("event_published", "event_went_live")


def wire(parts: Parts) -> None:
    """Act inside the transactions of lower floors; remember and forget after the commit."""
    office = BoxOffice(parts)
    parts.memories[MEMORY] = office
    when = parts.database.when
    when(ASKED, _tell_taken)
    when(HANGING, _count_holds)
    for names, act in (
        (_OVER, following.called_off),
        (_DATED, following.dated),
        (("event_unpublished",), following.back_to_draft),
        (("event_postponed",), following.postponed),
        (("event_changed",), following.changed),
        (("guest_gone",), following.left),
    ):
        for name in names:
            when(name, act)
    when(LAYOUT_CHANGING, _layout_changing)
    when("guest_let_in", _count_from_now)
    when(service.HELD, _remember(office))
    when(ENDED, _forget(office))
    parts.jobs.append(Job("holds.sweep", 1_000, expiry.sweep))
    parts.jobs.append(Job("holds.forget_tallies", 3_600_000, lambda s, deed: expiry.forget_tallies(s, deed.now)))
    if office.tiers.far is not None:
        parts.jobs.append(job(office.tiers.far))
    parts.announcers.append(telling.teller(parts))


def _tell_taken(session: Session, asked: Any, now: Millis) -> None:
    seats, sold = queries.seats_gone(session, asked.event_id, now)
    asked.seats |= seats
    asked.places.update(queries.places_gone(session, asked.event_id, now))
    asked.sold = asked.sold or sold


def _count_holds(session: Session, asked: Any, _now: Millis) -> None:
    asked.uses["holds, old ones among them"] = queries.ever(session, asked.event_id)


def _count_from_now(session: Session, guest: Any, now: Millis) -> None:
    service.open_tally(session, guest.id, guest.organisation_id, now)


def _layout_changing(session: Session, subject: Any, _now: Millis) -> None:
    following.turn_desk(session, *subject)


def _remember(office: BoxOffice) -> Callable[[Session, Any, Millis], None]:
    def act(session: Session, holds: Any, now: Millis) -> None:
        for one in kept(session, holds, named=office.tiers.far is not None):
            after_commit(session, partial(office.tiers.keep, one, now))

    return act


def _forget(office: BoxOffice) -> Callable[[Session, Any, Millis], None]:
    def act(session: Session, holds: Any, _now: Millis) -> None:
        gone = kept(session, holds, named=office.tiers.far is not None)
        after_commit(session, lambda: office.tiers.forget(gone))

    return act
