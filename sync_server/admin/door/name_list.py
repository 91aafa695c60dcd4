"""The list by name, for the night without power and network: a PDF of everybody who comes, and who printed it."""

from __future__ import annotations

from typing import Final

from flask import Response, request
from sqlalchemy.orm import Session

from sync_server.admin import display
from sync_server.admin.door.name_pages import Guest, Heading, pdf_of
from sync_server.admin.page import bp, current_organisation, page, render_page, words
from sync_server.audit.service import AuditLine, record
from sync_server.events import queries as events
from sync_server.exports.tables import Attendee, Evening, attendees
from sync_server.plumbing.language.folding import fold
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, current_principal
from sync_server.tickets import ticket_counts

BY: Final = ("name", "seat")


@bp.get("/events/<event_id>/names")
@page(Action.READ_ORDERS)
def name_list(event_id: str) -> str:
    """What the list is, how long it gets, and the buttons that print it."""
    with parts().database.reading() as session:
        event = events.event(session, current_organisation(), event_id)
        count = ticket_counts.active_ticket_counts(session, [event.key]).get(event.id, 0)
    return render_page("door/names.html", event=event, count=count)


@bp.get("/events/<event_id>/names.pdf")
@page(Action.READ_ORDERS)
def print_names(event_id: str) -> Response:
    """The list as a PDF; whoever prints it is noted before it leaves."""
    by = "seat" if request.args.get("by") == "seat" else "name"
    with parts().database.writing() as session:
        event = events.event(session, current_organisation(), event_id)
        evening = Evening.read(session, event.key)
        subject = "event", event.id, event.organisation_id
        record(session, AuditLine(context(), "event.names_printed", *subject, None, {"by": by}))
    guests = sorted(_guests(evening), key=_by_seat if by == "seat" else _by_name)
    response = Response(pdf_of(guests, _heading(evening), parts().clock(), by), content_type="application/pdf")
    response.headers["Content-Disposition"] = f'inline; filename="{evening.event.slug}-names.pdf"'
    return response


def _heading(evening: Evening) -> Heading:
    t, event, now = words(), evening.event, parts().clock()
    starts = display.date_time(event.rescheduled_at or event.start_at, event.timezone)
    printed = t("names.printed", time=display.date_time(now, event.timezone), name=current_principal().name)
    return Heading(event.name, f"{starts} · {event.venue_name}", printed, t)


def _guests(evening: Evening) -> list[Guest]:
    found: list[Guest] = []
    after: str | None = None
    while True:
        with parts().database.reading() as session:
            people, after = _page_of(session, evening, after)
        found += people
        if after is None:
            return found


def _page_of(session: Session, evening: Evening, after: str | None) -> tuple[list[Guest], str | None]:
    people, following = attendees(session, evening, after)
    return [_guest(evening, one) for one in people], following


def _guest(evening: Evening, one: Attendee) -> Guest:
    t, ticket = words(), one.ticket
    seat = t("names.seat", row=ticket.seat_row, seat=ticket.seat_number) if ticket.seat_number else ""
    zone = ticket.section or evening.zones.get(ticket.zone, "")
    status = t(f"ticket_state.{ticket.state}")
    if one.entered_at is not None:
        status = t("names.came", time=display.hour(one.entered_at, evening.event.timezone))
    kind = evening.types.get(ticket.ticket_type, "")
    code = f"{ticket.number} · {ticket.confirmation_code}"
    return Guest(one.name, seat, zone, kind, code, status, ticket.state != 0, ticket.seat_row, ticket.seat_number)


def _by_name(guest: Guest) -> tuple[bool, str, str, str]:
    """By the last word of the name, as people are asked for at a door; those without a name come last."""
    return not guest.name, fold(guest.surname), fold(guest.name), guest.code


def _by_seat(guest: Guest) -> tuple[bool, str, tuple[str, int, str], tuple[str, int, str], str]:
    return not guest.number, fold(guest.zone), _natural(guest.row), _natural(guest.number), guest.code


def _natural(label: str) -> tuple[str, int, str]:
    """Row 9 before row 10, and row B after row A."""
    letters = label.rstrip("0123456789")
    digits = label[len(letters) :]
    return letters, int(digits or 0), label
