"""Pages of venues: where they are, what guests read about them, and the gates through which they come."""

from __future__ import annotations

from typing import Any, Final

from flask import redirect, request, url_for
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import GatehouseError
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page, render_page
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context
from sync_server.venues import queries, service
from sync_server.venues.queries import VenueFilter
from sync_server.venues.schemas import ChangeVenue, NewGate, NewVenue, VenueSettings, VenueView

PAGE_SIZE = 50
FOR_GUESTS: Final = ("directions", "accessibility", "house_rules")
"""What is written about a venue in a few sentences, as the pages of its events show it."""
_IN_ONE_FIELD: Final = {"latitude": "position", "longitude": "position"}
Page = str | tuple[str, int] | WerkzeugResponse


@bp.get("/venues")
@page()
def venues() -> str:
    """The organisation's venues."""
    return _venues({})


def _venues(problems: dict[str, str]) -> str:
    here, after = current_organisation(), request.args.get("after")
    with parts().database.reading() as session:
        found = queries.venues(session, here, VenueFilter(), limit=PAGE_SIZE, after=after)
        gates = queries.gates_at(session, here, {venue.id for venue in found.items})
    shown = {"venues": found.items, "next": found.next, "gates": gates}
    return render_page("venues.html", typed=request.form, problems=problems, **shown)


@bp.post("/venues")
@page(Action.EDIT_VENUES)
def create_venue() -> Page:
    """Create a venue, and go to its page."""
    try:
        asked = forms.read(NewVenue, _place())
        with parts().database.writing() as session:
            made = service.create_venue(session, current_organisation(), asked.model_dump(), context())
    except GatehouseError as error:
        return _venues(forms.problems_of(error)), error.status
    return redirect(url_for("admin.venue", venue_id=made.id))


def _place() -> dict[str, object]:
    named = {name: forms.text_or_none(name, 500) for name in ("name", "city", "country", "address", "timezone")}
    return {**named, "max_capacity": forms.number_as_typed("max_capacity") or 0}


def _written() -> dict[str, object]:
    """All that the form of a venue has; what is left empty is cleared."""
    latitude, _, longitude = forms.text("position", 60).partition(",")
    return {
        **_place(),
        **{name: forms.text(name, 100) for name in ("name", "timezone")},
        "website": forms.text_or_none("website", 300),
        "latitude": _degrees(latitude),
        "longitude": _degrees(longitude),
        "settings": forms.read(VenueSettings, _settings()),
    }


def _settings() -> dict[str, Any]:
    rules = [line.strip() for line in forms.lines("access_rules", 5_000).splitlines() if line.strip()]
    return {
        **{name: forms.lines(name) or None for name in FOR_GUESTS},
        **{name: forms.number_as_typed(name) for name in ("doors_minutes_before", "age_limit")},
        "access_rules": rules or None,
    }


def _degrees(typed: str) -> float | str | None:
    """A latitude or longitude; what is none stays as it was typed, and is refused beside its field."""
    try:
        return float(typed)
    except ValueError:
        return typed.strip() or None


@bp.get("/venues/<venue_id>")
@page()
def venue(venue_id: str) -> str:
    """One venue, and its gates."""
    return _venue(venue_id, {})


def _view(row: queries.Venue) -> VenueView:
    """What the form edits: gates are changed one by one."""
    return VenueView.of(row, gates=[])


def _venue(venue_id: str, problems: dict[str, str]) -> str:
    here = current_organisation()
    problems = {_IN_ONE_FIELD.get(field, field): problem for field, problem in problems.items()}
    with parts().database.reading() as session:
        row = queries.venue(session, here, venue_id)
        shown = {"gates": queries.gates(session, here, venue_id), "etag": _view(row).etag}
    return render_page("venue.html", venue=row, typed=request.form, problems=problems, about=FOR_GUESTS, **shown)


@bp.post("/venues/<venue_id>")
@page(Action.EDIT_VENUES)
def change_venue(venue_id: str) -> Page:
    """Change a venue; events that exist keep what they copied."""
    here = current_organisation()
    try:
        with parts().database.writing() as session:
            forms.require_unchanged(_view(queries.venue(session, here, venue_id, lock=True)))
            changes = forms.read_changes(ChangeVenue, _written())
            service.change_venue(session, here, venue_id, changes, context())
    except GatehouseError as error:
        return _venue(venue_id, forms.problems_of(error)), error.status
    return redirect(url_for("admin.venue", venue_id=venue_id, saved=1, event=request.args.get("event")))


@bp.post("/venues/<venue_id>/gates")
@page(Action.EDIT_VENUES)
def add_gate(venue_id: str) -> Page:
    """Add a gate; the events of the venue know it at once."""
    try:
        asked = forms.read(NewGate, {"code": forms.text("code", 20), "name": forms.text_or_none("gate_name", 100)})
        with parts().database.writing() as session:
            service.add_gate(session, current_organisation(), venue_id, asked.model_dump(), context())
    except GatehouseError as error:
        return _venue(venue_id, forms.problems_of(error)), error.status
    return redirect(url_for("admin.venue", venue_id=venue_id, event=request.args.get("event")))


@bp.post("/venues/<venue_id>/gates/<int:number>")
@page(Action.EDIT_VENUES)
def change_gate(venue_id: str, number: int) -> WerkzeugResponse:
    """Open or close a gate; its devices know within a second."""
    status = "closed" if forms.text("status", 10) == "closed" else "open"
    here, changes = current_organisation(), {"status": status}
    with parts().database.writing() as session:
        service.change_gate(session, here, venue_id, number, changes=changes, context=context())
    return redirect(url_for("admin.venue", venue_id=venue_id))
