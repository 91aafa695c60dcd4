"""The page on which one guest moves to another seat: what changes, who is told, and then the button."""

from __future__ import annotations

from dataclasses import dataclass

from flask import redirect, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import GatehouseError, NotFound
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page, render_page
from sync_server.devices import queries as devices
from sync_server.devices.rules import is_silent
from sync_server.events import queries as events
from sync_server.events.queries import Event
from sync_server.exports.tables import Attendee, holders
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context
from sync_server.reseating import one_guest
from sync_server.reseating.one_guest import Examined, SeatChange
from sync_server.seating.plans.seat_plans import event_plan
from sync_server.tickets import queries as tickets


@dataclass(frozen=True, slots=True)
class _Guest:
    """Who moves, from where, and who hears of it."""

    event: Event
    one: Attendee
    from_seat: str
    tells: str  # "mail", "passed_on", or "nobody"
    gates: int
    gates_silent: int


@bp.get("/events/<event_id>/guests/<ticket_id>/move")
@page(Action.CHANGE_TICKETS)
def ask_to_move(event_id: str, ticket_id: str) -> str:
    """Where a guest sits, and what another seat would change; without a seat, the field for one."""
    problem = ""
    try:
        return _page(event_id, ticket_id, _wanted_seat(event_id))
    except GatehouseError as error:
        if not request.args.get("to") and not request.args.get("seat"):
            raise
        problem = error.message
    return _page(event_id, ticket_id, "", problem)


def _wanted_seat(event_id: str) -> str:
    """The seat that was typed, or chosen on the map."""
    number = request.args.get("seat", "")
    if not number.isdecimal():
        return request.args.get("to", "").strip()[:80]
    with parts().database.reading() as session:
        plan = event_plan(session, current_organisation(), event_id)
        return plan.layout.name(int(number)) if plan.layout.has(int(number)) else number


def _page(event_id: str, ticket_id: str, seat: str, problem: str = "") -> str:
    examined: Examined | None = None
    with parts().database.reading() as session:
        guest = _guest(session, event_id, ticket_id)
        if seat:
            change = SeatChange(guest.one.ticket.id, seat)
            examined = one_guest.examine(session, current_organisation(), change, parts().clock())
    typed = seat or request.args.get("to", "") or request.form.get("seat", "")
    shown = {"guest": guest, "to": examined, "seat": typed, "problem": problem, "ticket_id": ticket_id}
    return render_page("door/move.html", event=guest.event, **shown)


def _guest(session: Session, event_id: str, ticket_id: str) -> _Guest:
    event = events.event(session, current_organisation(), event_id)
    ticket = tickets.ticket(session, current_organisation(), tickets.internal_id(ticket_id))
    if ticket.event_id != event.id:
        raise NotFound("The event has no such ticket.", code="ticket_not_found")
    (one,) = holders(session, event.key, [ticket])
    seen = devices.last_seen_at_event(session, event.key)
    silent = sum(is_silent(parts().clock(), at) for at in seen)
    return _Guest(event, one, tickets.printed_seat(ticket).label, _tells(one), len(seen), silent)


def _tells(one: Attendee) -> str:
    if one.passed_on:
        return "passed_on"
    written = one.order is not None and one.order.buyer_email and parts().config.mail_url is not None
    return "mail" if written else "nobody"


@bp.post("/events/<event_id>/guests/<ticket_id>/move")
@page(Action.CHANGE_TICKETS)
def move_guest(event_id: str, ticket_id: str) -> str | tuple[str, int] | WerkzeugResponse:
    """Move the guest as the page has explained it, and go to the order, which prints the new ticket."""
    seat = forms.text("seat", 80)
    change = SeatChange(tickets.internal_id(ticket_id), seat, forms.ticked("agreed"), forms.text("reason", 1_000))
    try:
        with parts().database.writing() as session:
            guest = _guest(session, event_id, ticket_id)
            one_guest.move_guest(session, current_organisation(), change, context())
            order = guest.one.order
    except GatehouseError as error:
        return _page(event_id, ticket_id, "", error.message), error.status
    if order is not None:
        return redirect(url_for("admin.order", order_id=order.id, moved=seat))
    return redirect(url_for("admin.event_seats", event_id=event_id))
