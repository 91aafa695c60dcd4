"""Copies of an event: one on another date, or a series by weekdays or days."""

from __future__ import annotations

from typing import Any

from flask import redirect, request, url_for
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.clock import Millis
from shared.errors import GatehouseError
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page, render_page
from sync_server.events import queries
from sync_server.events.series import copying, recurrence
from sync_server.events.series.recurrence import WEEKDAYS
from sync_server.events.series.series_schemas import CopyOf, NewSeries
from sync_server.events.snapshot_rows import window
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context

Page = str | tuple[str, int] | WerkzeugResponse


@bp.get("/events/<event_id>/copy")
@page(Action.EDIT_EVENTS)
def ask_to_copy(event_id: str) -> str:
    """What a copy takes with it, and the forms of one and of many."""
    return _page(event_id, {})


def _page(event_id: str, problems: dict[str, str]) -> str:
    with parts().database.reading() as session:
        row = queries.event(session, current_organisation(), event_id)
    chosen = request.form.getlist("weekday")
    shown = {"problems": problems, "typed": request.form, "weekdays": WEEKDAYS, "chosen": chosen}
    return render_page("event_copy.html", event=row, dates=_dates(row), **shown)


def _dates(row: queries.Event) -> list[Millis]:
    """When the copies of the series would begin, as far as the form says it yet."""
    try:
        return recurrence.starts(window(row)[0], row.timezone, forms.read(NewSeries, _written()).rule())
    except GatehouseError:
        return []


@bp.post("/events/<event_id>/copy")
@page(Action.EDIT_EVENTS)
def copy_event(event_id: str) -> Page:
    """Copy an event to another date, as a draft with nothing sold."""
    here = current_organisation()
    try:
        with parts().database.writing() as session:
            row = queries.event(session, here, event_id)
            written = {"start_at": forms.moment("start_at", row.timezone), "name": forms.text_or_none("name", 200)}
            asked = copying.CopyRequest(**forms.read(CopyOf, written).model_dump())
            made = copying.copy_event(session, here, event_id, asked, context()).id
    except GatehouseError as error:
        return _page(event_id, forms.problems_of(error)), error.status
    return redirect(url_for("admin.event", event_id=made))


@bp.post("/events/<event_id>/series")
@page(Action.EDIT_EVENTS)
def repeat_event(event_id: str) -> Page:
    """Make a copy for each date of a rule, all or none; they stand in the calendar."""
    if forms.only_looks():
        return _page(event_id, {})
    here = current_organisation()
    try:
        with parts().database.writing() as session:
            row = queries.event(session, here, event_id)
            rule = forms.read(NewSeries, _written()).rule()
            starts = recurrence.starts(window(row)[0], row.timezone, rule)
            copying.repeat_event(session, here, event_id, starts, context())
    except GatehouseError as error:
        return _page(event_id, forms.problems_of(error)), error.status
    return redirect(url_for("admin.events", show="draft", made=len(starts)))


def _written() -> dict[str, Any]:
    """By weekdays where any is ticked, and else every so many days; as often, or until a day."""
    weekdays = [day for day in WEEKDAYS if day in request.form.getlist("weekday")]
    until = forms.text_or_none("until", 10)
    return {
        "weekdays": weekdays or None,
        "every_days": None if weekdays else forms.number("every_days"),
        "until": until,
        "count": None if until else forms.number("count"),
    }
