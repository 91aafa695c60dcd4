"""The pages of an event's seats: the map, and who sits on one of them."""

from __future__ import annotations

from typing import Final

import orjson
from sqlalchemy.orm import Session

from shared.errors import NotFound
from sync_server.admin.page import bp, current_organisation, may, page, render_page, words
from sync_server.events import queries
from sync_server.events.queries import Event
from sync_server.events.snapshot_rows import days
from sync_server.exports.tables import Attendee, holders
from sync_server.holds import queries as holds
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.seat_maps.map_inputs import load_inputs
from sync_server.seating import queries as seating
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.plans.seat_plans import event_plan
from sync_server.tickets import queries as tickets

SCRIPT_TEXTS: Final = "seats_live."
"""Texts whose keys begin so are for the script of the map."""


@bp.get("/events/<event_id>/seats")
@page()
def event_seats(event_id: str) -> str:
    """The page around the seat map, which its script draws and keeps up to date."""
    with parts().database.reading() as session:
        row = queries.event(session, current_organisation(), event_id)
        has_layout = seating.find_event_layout(session, current_organisation(), event_id) is not None
    return render_page("door/seats.html", event=row, has_layout=has_layout, days=days(row), texts=_texts())


def _texts() -> str:
    """What the map's script says, and in which language."""
    t = words()
    return orjson.dumps({"language": t.language, "texts": t.for_script(SCRIPT_TEXTS)}).decode()


@bp.get("/events/<event_id>/seats/<int:seat>")
@page()
def event_seat(event_id: str, seat: int) -> str:
    """One seat: what kind it is, and who sits there or holds it."""
    with parts().database.reading() as session:
        row = queries.event(session, current_organisation(), event_id)
        plan = event_plan(session, current_organisation(), event_id)
        if not plan.layout.has(seat):
            raise NotFound("The layout has no such seat.", code="unknown_seat")
        sitting = tickets.on_seat(session, row.key, seat)
        guests = holders(session, row.key, sitting) if may(Action.READ_ORDERS) else [_unnamed(one) for one in sitting]
        shown: dict[str, object] = {"guests": guests, "held": [] if sitting else _holds(session, row, seat)}
    shown |= {"seat": plan.layout.in_words(seat), "number": seat, "kind": _kind(plan, seat)}
    return render_page("door/seat.html", event=row, ticket_id=lambda ticket: tickets.public_id(ticket.id), **shown)


def _unnamed(ticket: tickets.Ticket) -> Attendee:
    """For staff who may not see who bought: the ticket, and no name."""
    return Attendee(ticket, None, None)


def _holds(session: Session, event: Event, seat: int) -> list[object]:
    everyday = load_inputs(session, event.id).days("")
    try:
        return list(holds.holds_on(session, event.organisation_id, event.id, seat, everyday, now=parts().clock()))
    except NotFound:
        return []


def _kind(plan: SeatPlan, seat: int) -> str:
    """The key of what a seat is besides a seat; empty for an ordinary one."""
    for pairing in plan.layout.pairings:
        if seat == pairing.wheelchair:
            return "wheelchair"
        if seat in pairing.companions:
            return "companion"
    return "blocked" if seat in plan.blocked else ""
