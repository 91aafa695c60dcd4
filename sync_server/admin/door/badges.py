"""Pages of badges: which layout gates print for which ticket types, seen before it is printed."""

from __future__ import annotations

import base64
from typing import Final

from flask import Response, redirect, request, url_for
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.badges import ready_made
from shared.badges.layout import read_layout
from shared.errors import GatehouseError, InvalidRequest, NotFound
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page, render_page
from sync_server.events import queries as events
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context
from sync_server.ticket_files import badges as files
from sync_server.ticket_files.design import design_of
from sync_server.tickets import queries as tickets
from sync_server.tickets.types import badge_layouts

OWN, NONE = "own", "none"
_LONGEST: Final = 12_000


@bp.get("/events/<event_id>/badges")
@page()
def badges(event_id: str) -> str:
    """What is printed for each ticket type, and the layouts to choose from, with the event's own words on them."""
    return _shown(event_id, "", "")


@bp.post("/events/<event_id>/badges")
@page(Action.EDIT_EVENTS)
def choose_badges(event_id: str) -> str | tuple[str, int] | WerkzeugResponse:
    """Choose a layout for some ticket types, or only look at an own one."""
    own = forms.lines("own", _LONGEST)
    try:
        layout = _chosen(forms.text("layout", 40), own)
        if "look" in request.form:
            return _shown(event_id, own, layout)
        with parts().database.writing() as session:
            event = events.event(session, current_organisation(), event_id)
            layout = files.with_logo(layout, design_of(session, event.organisation_id).logo) if layout else ""
            numbers = _ticked()
            badge_layouts.choose(session, event.key, numbers, layout, context())
    except GatehouseError as error:
        return _shown(event_id, own, "", error.message), error.status
    return redirect(url_for("admin.badges", event_id=event_id, saved=1))


def _ticked() -> list[int]:
    """The ticket types that are ticked; anything else in the form is none."""
    return [int(each) for each in request.form.getlist("type") if each.isascii() and each.isdigit() and len(each) < 10]


@bp.get("/events/<event_id>/badges/<name>.png")
@page()
def badge_picture(event_id: str, name: str) -> Response:
    """A layout that comes along, or the one of a ticket type by its number, with the event's own words on it."""
    with parts().database.reading() as session:
        event = events.event(session, current_organisation(), event_id)
        types = {row.number: row for row in tickets.ticket_types(session, *event.key)}
        zones = {zone.number: zone.name for zone in events.zones(session, *event.key)}
        numbers = {str(number): number for number in types}
        own = badge_layouts.layouts(session, event.key).get(numbers[name], "") if name in numbers else ""
        logo = design_of(session, event.organisation_id).logo
    if not own and name not in ready_made.names():
        raise NotFound
    row = types[numbers[name]] if own else next(iter(types.values()), None)
    words = files.sample(event, row.name if row else "", zones.get(row.zone, "") if row else "")
    png = files.png_of(own or files.with_logo(ready_made.text_of(name), logo), words)
    return Response(png, content_type="image/png")


@bp.get("/orders/<order_id>/badges.pdf")
@page(Action.ISSUE_TICKETS)
def order_badges(order_id: str) -> Response:
    """The badges of an order, each on a page of its size."""
    with parts().database.writing() as session:  # codes are completed when they are first asked for
        pdf = files.pdf_of_order(session, parts().sealer, current_organisation(), order_id)
    response = Response(pdf, content_type="application/pdf")
    response.headers["Content-Disposition"] = 'inline; filename="badges.pdf"'
    return response


def _chosen(name: str, own: str) -> str:
    if name == NONE:
        return ""
    if name == OWN:
        read_layout(own)
        return own
    try:
        return ready_made.text_of(name)
    except KeyError:
        raise InvalidRequest("Choose one of the layouts.", field="layout") from None


def _shown(event_id: str, own: str, looked_at: str, problem: str = "") -> str:
    with parts().database.reading() as session:
        event = events.event(session, current_organisation(), event_id)
        types = tickets.ticket_types(session, *event.key)
        layouts = badge_layouts.layouts(session, event.key)
        zones = {zone.number: zone.name for zone in events.zones(session, *event.key)}
        logo = design_of(session, event.organisation_id).logo
    first = types[0] if types else None
    words = files.sample(event, first.name if first else "", zones.get(first.zone, "") if first else "")
    return render_page(
        "door/badges.html",
        event=event,
        types=types,
        titles={number: read_layout(text).title for number, text in layouts.items() if text},
        offered=[(name, ready_made.layout_of(name).title) for name in ready_made.names()],
        own=own or files.without_logo(next((text for text in layouts.values() if text), ready_made.text_of("badge"))),
        preview=_picture(looked_at, words, logo) if looked_at else "",
        chosen=request.form.get("layout", ""),
        ticked=_ticked(),
        problem=problem,
    )


def _picture(layout: str, words: dict[str, str], logo: bytes | None) -> str:
    """A badge for the page itself, which asks for nothing else."""
    png = files.png_of(files.with_logo(layout, logo), words)
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"
