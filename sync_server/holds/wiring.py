"""Answers what is held and sold, and lets holds follow what happens to events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events.hanging import ASKED as HANGING
from sync_server.holds import expiry, following, queries, service, telling
from sync_server.holds.box_office import MEMORY, BoxOffice
from sync_server.holds.ending import ENDED
from sync_server.holds.models import HoldRow
from sync_server.holds.tiers import Kept
from sync_server.plumbing.database import after_commit
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.work import Job
from sync_server.seating.event_layouts import CHANGING as LAYOUT_CHANGING
from sync_server.seating.spots import ids_of
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
        (_OVER, following.called_off), (_DATED, following.dated), (("event_unpublished",), following.back_to_draft),
        (("event_postponed",), following.postponed), (("event_changed",), following.changed),
        (("guest_gone",), following.left),
    ):  # fmt: skip
        for name in names:
            when(name, act)
    when(LAYOUT_CHANGING, _layout_changing)
    when("guest_let_in", _count_from_now)
    when(service.HELD, _remember(office))
    when(ENDED, _forget(office))
    parts.jobs.append(Job("holds.sweep", 1_000, expiry.sweep))
    parts.jobs.append(Job("holds.forget_tallies", 3_600_000, lambda s, deed: expiry.forget_tallies(s, deed.now)))
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
        for kept in _kept(session, holds, named=office.tiers.far is not None):
            after_commit(session, partial(office.tiers.keep, kept, now))

    return act


def _forget(office: BoxOffice) -> Callable[[Session, Any, Millis], None]:
    def act(session: Session, holds: Any, _now: Millis) -> None:
        gone = _kept(session, holds, named=office.tiers.far is not None)
        after_commit(session, lambda: office.tiers.forget(gone))

    return act


def _kept(session: Session, holds: Sequence[HoldRow], *, named: bool) -> list[Kept]:
    """As memories have them; what Redis calls a seat is looked up only where there is one."""
    seats = [hold for hold in holds if hold.seat is not None]
    names: dict[tuple[str, int], str] = {}
    if named:
        for event_id, where in {(hold.event_id, hold.organisation_id) for hold in seats}:
            numbers = [hold.seat for hold in seats if hold.event_id == event_id and hold.seat is not None]
            names |= {(event_id, number): id for number, id in ids_of(session, where, event_id, numbers).items()}
    return [
        Kept(
            hold.organisation_id, hold.event_id, hold.seat, names.get((hold.event_id, hold.seat), ""), hold.id,
            hold.bearer_id, hold.held_until,
        )
        for hold in seats
        if hold.seat is not None
    ]  # fmt: skip
