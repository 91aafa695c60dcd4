"""Says which holds are gone: their ids, and in words what they had, to whoever had them and to staff."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.errors import Conflict
from sync_server.holds.models import HoldRow
from sync_server.plumbing.event_key import EventKey
from sync_server.seating.plans.seat_plans import find_event_plan

_LISTED: Final = 500
_SPOKEN: Final = 10


def hold_expired(session: Session, event: EventKey, ids: Collection[str], bearer_id: str | None = None) -> Conflict:
    """The error for holds that expired or were released; of others' than this bearer's it says nothing but the id."""
    listed = sorted(ids)[:_LISTED]
    mine = [hold for hold in _found(session, event, listed) if bearer_id in {None, hold.bearer_id}]
    names, words = _named(session, event, mine)
    which = f"These are no longer held, because they expired or were released: {_few(words)}." if words else ""
    return Conflict(
        f"{which or 'A hold has expired or was released.'} Choose those again; the others are still yours.",
        code="hold_expired",
        holds=listed,
        seats=names,
    )


def _found(session: Session, event: EventKey, ids: Collection[str]) -> Sequence[HoldRow]:
    wanted = select(HoldRow).where(event.of(HoldRow), HoldRow.id.in_(ids)).order_by(HoldRow.zone, HoldRow.seat)
    return session.execute(wanted).scalars().all()


def _named(session: Session, event: EventKey, holds: Iterable[HoldRow]) -> tuple[list[str], list[str]]:
    """The names of the seats that these holds had, and all that they had as people say it."""
    plan, names, words = find_event_plan(session, *event), list[str](), list[str]()
    for hold in holds:
        if hold.seat is None:
            zone = plan.zones.get(hold.zone) if plan is not None else None
            places = "1 place" if hold.quantity == 1 else f"{hold.quantity} places"
            words.append(f"{places} in {zone.name}" if zone is not None else places)
        elif plan is not None and plan.layout.has(hold.seat):
            names.append(plan.layout.name(hold.seat))
            words.append(plan.layout.in_words(hold.seat))
    return names, words


def _few(words: Sequence[str]) -> str:
    more = len(words) - _SPOKEN
    return "; ".join([*words[:_SPOKEN], *([f"and {more} more"] if more > 0 else [])])
