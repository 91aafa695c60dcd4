"""The forms that create and change an event: name, place and time are enough to begin with."""

from __future__ import annotations

from typing import Any

from flask import redirect, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import GatehouseError, InvalidRequest
from sync_server.admin import event_preview, forms
from sync_server.admin.page import bp, current_organisation, page, render_page, words
from sync_server.events import queries, service
from sync_server.events.schemas import ChangeEvent, NewEvent
from sync_server.events.views import event_view
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context
from sync_server.venues import queries as venues
from sync_server.venues import service as venue_service
from sync_server.venues.queries import VenueFilter
from sync_server.venues.schemas import NewGate, NewVenue

MOST_VENUES = 500
HOUR_MS = 3_600_000
NEW_VENUE = "new"
Page = str | tuple[str, int] | WerkzeugResponse


def _venues(session: Session) -> list[venues.Venue]:
    found = venues.venues(session, current_organisation(), VenueFilter(), limit=MOST_VENUES, after=None)
    return sorted(found.items, key=lambda venue: venue.name)


@bp.get("/events/new")
@page(Action.EDIT_EVENTS)
def new_event() -> str:
    """The form of a new event."""
    return _form({})


def _form(problems: dict[str, str]) -> str:
    with parts().database.reading() as session:
        found = _venues(session)
    choices = [(venue.id, f"{venue.name}, {venue.city}" if venue.city else venue.name) for venue in found]
    seen = event_preview.of_new(found)
    shown = {"venue_choices": choices, "problems": problems, "timezones": _TIMEZONES, "seen": seen}
    return render_page("event_new.html", venues=found, typed=request.form, **shown)


@bp.post("/events/new")
@page(Action.EDIT_EVENTS)
def create_event() -> Page:
    """Create a draft, and its venue if that is new."""
    if forms.only_looks():
        return _form({})
    missing = _missing()
    if missing:
        return _form(missing), InvalidRequest.status
    try:
        with parts().database.writing() as session:
            venue = _venue(session)
            made = service.create_event(session, current_organisation(), _new(venue).model_dump(), context())
    except GatehouseError as error:
        return _form(forms.problems_of(error)), error.status
    return redirect(url_for("admin.event", event_id=made.id))


def _missing() -> dict[str, str]:
    """What nobody can do without, all of it at once; the rest is said by whoever reads it."""
    t, new_venue = words(), forms.text("venue_id", 40) in {"", NEW_VENUE}
    asked = {
        "name": (forms.text("name"), t("new_event.no_name")),
        "venue_name": (not new_venue or forms.text("venue_name"), t("new_event.no_venue")),
        "start_at": (forms.moment("start_at", "UTC"), t("new_event.no_start")),
    }
    return {field: said for field, (given, said) in asked.items() if not given}


def _venue(session: Session) -> venues.Venue:
    chosen = forms.text("venue_id", 40)
    if chosen and chosen != NEW_VENUE:
        return venues.venue(session, current_organisation(), chosen)
    fields = {name: forms.text_or_none(name, 500) for name in ("address", "city", "country", "timezone")}
    fields["name"] = forms.text_or_none("venue_name", 100)
    asked, here = forms.read(NewVenue, fields), current_organisation()
    made = venue_service.create_venue(session, here, asked.model_dump(), context())
    first_gate = NewGate(code="A", name=words()("venues.gate_example"))  # every device stands at a gate
    venue_service.add_gate(session, here, made.id, first_gate.model_dump(), context())
    return made


def _new(venue: venues.Venue) -> NewEvent:
    start = forms.moment("start_at", venue.timezone)
    values = {**_written(venue.timezone), "venue_id": venue.id, "start_at": start}
    return forms.read(NewEvent, values)


def _written(timezone: str) -> dict[str, Any]:
    """The fields that both forms have."""
    start, end = forms.moment("start_at", timezone), forms.moment("end_at", timezone)
    doors = forms.moment("doors_at", timezone)
    return {
        "name": forms.text("name", 200),
        "description": forms.lines("description") or None,
        "category": forms.text_or_none("category", 50),
        "end_at": end if end is not None else start and start + 3 * HOUR_MS,
        "doors_at": doors,
        "go_live_at": doors if forms.ticked("opens_by_itself") else None,
        "end_at_auto": end if forms.ticked("ends_by_itself") else None,
        "capacity": forms.number_as_typed("capacity") or 0,
    }


@bp.get("/events/<event_id>/edit")
@page(Action.EDIT_EVENTS)
def edit_event(event_id: str) -> str:
    """The form that changes an event."""
    return _edit_form(event_id, {})


def _edit_form(event_id: str, problems: dict[str, str]) -> str:
    with parts().database.reading() as session:
        row = queries.event(session, current_organisation(), event_id)
        etag = event_view(session, row, parts().clock()).etag
    seen = event_preview.of_event(row, typed=request.method == "POST")
    return render_page("event_edit.html", event=row, problems=problems, etag=etag, seen=seen)


@bp.post("/events/<event_id>/edit")
@page(Action.EDIT_EVENTS)
def change_event(event_id: str) -> Page:
    """Change an event, unless somebody else has changed it meanwhile."""
    if forms.only_looks():
        return _edit_form(event_id, {})
    here = current_organisation()
    short_notice_ms = parts().config.short_notice_hours * HOUR_MS
    try:
        with parts().database.writing() as session:
            row = queries.event(session, here, event_id, lock=True)
            forms.require_unchanged(event_view(session, row, parts().clock()))
            changes = _changes(row)
            service.change_event(session, here, event_id, changes, context(), short_notice_ms=short_notice_ms)
    except GatehouseError as error:
        return _edit_form(event_id, forms.problems_of(error)), error.status
    return redirect(url_for("admin.event", event_id=event_id))


def _changes(row: queries.Event) -> dict[str, Any]:
    """What differs from the event: what stays the same needs no permission."""
    written = _written(row.timezone)
    written["start_at"] = forms.moment("start_at", row.timezone)
    for name in ("sale_start_at", "sale_end_at"):
        written[name] = forms.moment(name, row.timezone)
    minute = 60_000
    different = {
        name: value
        for name, value in written.items()
        if not _same(getattr(row, name), value, minute if name.endswith(("_at", "_auto")) else 1)
    }
    keeps = {name for name, value in different.items() if value is None and name not in ChangeEvent.clearable}
    return forms.read_changes(ChangeEvent, {name: value for name, value in different.items() if name not in keeps})


def _same(old: Any, new: Any, grain: int) -> bool:
    """Whether a field still says what stands there; a form shows times to the minute."""
    if isinstance(old, int) and isinstance(new, int):
        return old // grain == new // grain
    return (old or None) == (new or None)


_TIMEZONES = tuple(
    f"{area}/{city}"
    for area, cities in (
        (
            "Europe",
            "Amsterdam Athens Berlin Brussels Copenhagen Dublin Lisbon London Madrid Paris Rome",
        ),
        ("Europe", "Stockholm Vienna Warsaw Zurich"),
        ("Africa", "Cairo Johannesburg Lagos Nairobi Windhoek"),
        ("America", "Chicago Los_Angeles Mexico_City New_York Sao_Paulo Toronto"),
        ("Asia", "Dubai Kolkata Singapore Tokyo"),
        ("Australia", "Perth Sydney"),
    )
    for city in cities.split()
)
"""Offered first; a venue can have any."""
