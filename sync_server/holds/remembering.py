"""What Redis remembers of holds, made from the tables: after each commit, and all of it where Redis has lost it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import select, text, tuple_
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.holds.models import HoldRow
from sync_server.holds.tiers import Far, Kept
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.principals import Deed
from sync_server.plumbing.work import Job
from sync_server.seating.spots import ids_of

EVERY_MS: Final = 30_000
AT_ONCE: Final = 500


def kept(session: Session, holds: Sequence[HoldRow], *, named: bool) -> list[Kept]:
    """As memories have them; what Redis calls a seat is looked up only where there is one."""
    seats = [hold for hold in holds if hold.seat is not None]
    names: dict[tuple[str, int], str] = {}
    if named:
        for event_id, where in {(hold.event_id, hold.organisation_id) for hold in seats}:
            numbers = [hold.seat for hold in seats if hold.event_id == event_id and hold.seat is not None]
            names |= {(event_id, number): id for number, id in ids_of(session, where, event_id, numbers).items()}
    return [
        Kept(
            hold.organisation_id,
            hold.event_id,
            hold.seat,
            names.get((hold.event_id, hold.seat), ""),
            hold.id,
            hold.bearer_id,
            hold.held_until,
            hold.updated_at != hold.created_at,
        )
        for hold in seats
        if hold.seat is not None
    ]


def job(far: Far) -> Job:
    """The worker's part: a Redis that came back with nothing, or without some, is told everything again."""
    return Job("holds.remember", EVERY_MS, lambda session, deed: remember(session, far, deed))


def remember(session: Session, far: Far, deed: Deed) -> None:
    """Tell Redis every hold of a seat, unless it knows them."""
    if far.whole():
        return
    count, last = 0, (deed.now + 1, "")
    while some := _next(session, last):
        last = some[-1].held_until, some[-1].id
        told = kept(session, some, named=True)
        if not far.keep(told, deed.now):
            return
        far.forget(_ended_meanwhile(session, told))
        count += len(told)
    far.now_whole()
    LOG.info("holds_remembered", count=count)


def _next(session: Session, after: tuple[Millis, str]) -> Sequence[HoldRow]:
    # In words: the index is for these. Suspended holds are told when their time goes on.
    here = HoldRow.status == text("'active'"), HoldRow.seat.is_not(None)
    further = tuple_(HoldRow.held_until, HoldRow.id) > after
    wanted = select(HoldRow).where(*here, further).order_by(HoldRow.held_until, HoldRow.id).limit(AT_ONCE)
    return session.execute(wanted.execution_options(populate_existing=True)).scalars().all()


def _ended_meanwhile(session: Session, told: Sequence[Kept]) -> list[Kept]:
    ids = [hold.hold_id for hold in told]
    here = select(HoldRow.id).where(HoldRow.id.in_(ids), HoldRow.status == "active")
    there = set(session.execute(here).scalars())
    return [hold for hold in told if hold.hold_id not in there]
