"""Releases stranded seats: single ones that nobody has, which the platform's super admin puts on sale to anybody.

A released seat is neither blocked, nor reserved for a companion, nor sold with its table only, and may be left single.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlalchemy.orm import Session

from shared.errors import Conflict, InvalidRequest
from sync_server.events import queries as events
from sync_server.events.service import record_change
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.seating import event_layouts
from sync_server.seating.event_seating import EventSeating, HeldBack
from sync_server.seating.plans.seat_plans import seat_plan
from sync_server.seating.taken import taken


def releasable(seating: EventSeating) -> Mapping[int, HeldBack | None]:
    """The stranded seats that may be released; wheelchair places stay with those who need them."""
    return {seat: why for seat, why in seating.stranded().items() if why is not HeldBack.WHEELCHAIR}


def chosen(seating: EventSeating, names: Collection[str] | None) -> Mapping[int, HeldBack | None]:
    """The stranded seats of these names, or all; Conflict for one that is not stranded."""
    found = releasable(seating)
    if names is None:
        return found
    numbers = seating.plan.layout.find_all(names)
    if unknown := [name for name in names if name not in numbers]:
        raise InvalidRequest(f"The layout has no seat {', '.join(unknown[:10])}.", code="unknown_seat")
    if other := [name for name, number in numbers.items() if number not in found]:
        raise Conflict(
            f"Not stranded: {', '.join(other[:20])}. They are taken, beside free seats, or wheelchair places.",
            code="not_stranded",
        )
    return {number: found[number] for number in numbers.values()}


def release(
    session: Session,
    organisation_id: str,
    event_id: str,
    seats: Collection[int],
    context: ActionContext,
    *,
    reason: str,
) -> list[str]:
    """Release these seats, which were found stranded; returns their names. Conflict if one has been taken since."""
    if not reason.strip():
        raise InvalidRequest("Say why the seats are released.", field="reason")
    row = event_layouts.locked_event_layout(session, organisation_id, event_id, context)
    plan = seat_plan(session, row)
    names = plan.layout.names_of(seats)
    if gone := taken(session, organisation_id, event_id, context.now).seats.intersection(seats):
        listed = plan.layout.names_of(gone)
        raise Conflict(f"Taken meanwhile: {', '.join(listed[:20])}. Nothing was released.", code="seats_taken")
    if not seats:
        return names
    row.blocked_seats = sorted({*row.blocked_seats}.difference(seats))
    row.released_seats = sorted({*row.released_seats}.union(seats))
    row.revision, row.updated_at = row.revision + 1, context.now
    session.flush()
    event_layouts.store_capacity(session, row)
    event = events.event(session, organisation_id, event_id)
    after = {"seats": [plan.layout.in_words(seat) for seat in sorted(seats)]}
    record_change(session, event, "stranded_seats_released", context, after=after, reason=reason)
    return names
