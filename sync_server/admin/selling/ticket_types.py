"""Pages of ticket types: what is sold at which price, from when to when, and how much of it is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flask import redirect, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import GatehouseError
from sync_server.accounts import queries as accounts
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page, render_page
from sync_server.checkout.money.amounts import BASIS_POINTS, tax_included
from sync_server.events import queries as events
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context
from sync_server.tickets import queries, ticket_counts
from sync_server.tickets.rules import ENTITLEMENTS
from sync_server.tickets.schemas import ChangeTicketType, NewTicketType, type_view
from sync_server.tickets.types import type_service

Page = str | tuple[str, int] | WerkzeugResponse


@bp.get("/events/<event_id>/types")
@page()
def ticket_types(event_id: str) -> str:
    """The ticket types of an event."""
    here = current_organisation()
    with parts().database.reading() as session:
        event = events.event(session, here, event_id)
        rows = queries.ticket_types(session, here, event_id)
        zones = {zone.number: zone.name for zone in events.zones(session, here, event_id)}
        counts = ticket_counts.counts(session, event.key)
    return render_page("selling/types.html", event=event, types=rows, zones=zones, tickets=counts)


@bp.get("/events/<event_id>/types/new")
@page(Action.EDIT_EVENTS)
def new_type(event_id: str) -> str:
    """The form of a new ticket type."""
    return _form(event_id, None, {})


@bp.post("/events/<event_id>/types/new")
@page(Action.EDIT_EVENTS)
def create_type(event_id: str) -> Page:
    """Create a ticket type."""
    if forms.only_looks():
        return _form(event_id, None, {})
    here = current_organisation()
    try:
        with parts().database.writing() as session:
            event = events.event(session, here, event_id)
            asked = forms.read(NewTicketType, _written(event.timezone))
            type_service.create_type(session, here, event_id, asked.model_dump(), context())
    except GatehouseError as error:
        return _form(event_id, None, forms.problems_of(error)), error.status
    return redirect(url_for("admin.ticket_types", event_id=event_id))


@bp.get("/events/<event_id>/types/<int:number>")
@page(Action.EDIT_EVENTS)
def edit_type(event_id: str, number: int) -> str:
    """The form that changes a ticket type."""
    return _form(event_id, number, {})


@bp.post("/events/<event_id>/types/<int:number>")
@page(Action.EDIT_EVENTS)
def change_type(event_id: str, number: int) -> Page:
    """Change a ticket type, unless somebody else has changed it meanwhile."""
    if forms.only_looks():
        return _form(event_id, number, {})
    here = current_organisation()
    try:
        with parts().database.writing() as session:
            event = events.event(session, here, event_id, lock=True)
            row = queries.ticket_type(session, here, event_id, number)
            forms.require_unchanged(_view(session, event, row))
            changes = forms.read_changes(ChangeTicketType, _changed(_written(event.timezone)))
            type_service.change_type(session, here, event_id, number, changes=changes, context=context())
    except GatehouseError as error:
        return _form(event_id, number, forms.problems_of(error)), error.status
    return redirect(url_for("admin.ticket_types", event_id=event_id))


def _written(timezone: str) -> dict[str, Any]:
    """The fields of the form; what is empty and must not be is said by the schema."""
    percent = forms.amount("tax_percent", "tax_rate")
    return {
        "name": forms.text("name", 100),
        "description": forms.lines("description", 1_000),
        "price_cents": forms.amount("price", "price_cents"),
        "fee_cents": forms.amount("fee", "fee_cents") or 0,
        "tax_rate": 0 if percent is None else percent,
        "quantity": forms.number_as_typed("quantity"),
        "zone": forms.number("zone") or 0,
        "entitlement": forms.text("entitlement", 40) or "single_entry",
        "check_words": forms.text("check_words", 100),
        "sale_start_at": forms.moment("sale_start_at", timezone),
        "sale_end_at": forms.moment("sale_end_at", timezone),
        "min_per_order": forms.number_as_typed("min_per_order") or 1,
        "max_per_order": forms.number_as_typed("max_per_order") or 10,
        "hidden": forms.ticked("hidden"),
    }


def _changed(written: dict[str, Any]) -> dict[str, Any]:
    """The same for a change, where only times may be cleared."""
    clearable = ChangeTicketType.clearable
    return {name: value for name, value in written.items() if value is not None or name in clearable}


@dataclass(frozen=True, slots=True)
class Seen:
    """A ticket type as its form has it so far; None where no amount or number was typed."""

    name: str
    description: str
    price_cents: int | None
    fee_cents: int
    tax_rate: int
    quantity: int | None

    @property
    def cents(self) -> int:
        """What a guest pays for one."""
        return (self.price_cents or 0) + self.fee_cents

    @property
    def tax_cents(self) -> int:
        """The tax that this includes."""
        return tax_included(self.cents, self.tax_rate)


def _seen(row: queries.TicketType | None) -> Seen:
    """What is typed, or stored where nothing was typed yet."""
    if request.method == "POST":
        fee, rate = forms.cents("fee") or 0, min(forms.cents("tax_percent") or 0, BASIS_POINTS)
        text = forms.text("name", 100), forms.lines("description", 1_000)
        return Seen(*text, forms.cents("price"), fee, rate, forms.number("quantity"))
    if row is None:
        return Seen("", "", None, 0, 0, None)
    return Seen(row.name, row.description or "", row.price_cents, row.fee_cents, row.tax_rate, row.quantity)


def _view(session: Session, event: events.Event, row: queries.TicketType) -> Any:
    return type_view(row, type_service.taken_by_day(session, event)(row.number))


def _form(event_id: str, number: int | None, problems: dict[str, str]) -> str:
    here = current_organisation()
    with parts().database.reading() as session:
        event = events.event(session, here, event_id)
        row = None if number is None else queries.ticket_type(session, here, event_id, number)
        shown = {
            "etag": "" if row is None else _view(session, event, row).etag,
            "zones": [(zone.number, zone.name) for zone in events.zones(session, here, event_id)],
            "currency": row.currency if row is not None else accounts.organisation(session, here).currency,
        }
    shown["seen"] = _seen(row)
    typed = request.form if request.method == "POST" else None
    return render_page(
        "selling/type_form.html", event=event, row=row, typed=typed, problems=problems, **shown, **_CHOICES
    )


_CHOICES = {"entitlements": tuple(ENTITLEMENTS)}
