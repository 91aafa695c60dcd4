"""What to look at before an event is published: what is there, what is missing, and where it is added."""

from __future__ import annotations

from dataclasses import dataclass

from flask import url_for
from sqlalchemy.orm import Session

from sync_server.admin.page import may
from sync_server.checkout.settings import settings_of
from sync_server.checkout.shop_checks import warnings_of
from sync_server.events.lifecycle.publishing import LOCATION_COLUMNS
from sync_server.events.queries import Event
from sync_server.plumbing.requests.principals import Action
from sync_server.tickets import queries as tickets
from sync_server.venues import queries as venues


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the list: whether it is done, and where it is; an empty address where this person may not."""

    key: str
    done: bool
    url: str = ""
    must: bool = False  # without it the event cannot be published at all


def checks(session: Session, event: Event, *, devices: int) -> list[Check]:
    """The lines, in the order in which buyers and guests would miss them; `devices` are those at its gates."""
    here, edits = event.organisation_id, may(Action.EDIT_EVENTS)
    types = tickets.ticket_types(session, here, event.id)
    costs = any(kind.price_cents + kind.fee_cents for kind in types)
    warned = {each.code for each in warnings_of(session, settings_of(session, here))} if costs else set[str]()
    edit = url_for("admin.edit_event", event_id=event.id) if edits else ""
    venue_page = url_for("admin.venue", venue_id=event.venue_id, event=event.id)  # which leads back
    gates = venues.gates(session, here, event.venue_id)
    payments = url_for("admin.payments_page") if may(Action.MANAGE_PAYMENTS) else ""
    return [
        Check("types", bool(types), url_for("admin.new_type", event_id=event.id) if edits else ""),
        *([Check("pay", "no_way_to_pay" not in warned, payments)] if types else []),
        Check("text", bool(event.description.strip()), edit, must=True),
        Check("place", _has_place(session, event), venue_page, must=True),
        Check("cover", bool(event.cover_images), url_for("admin.event_covers", event_id=event.id) if edits else ""),
        Check("gates", bool(gates), venue_page),
        Check("devices", devices > 0, url_for("admin.devices")),
    ]


def _has_place(session: Session, event: Event) -> bool:
    venue = venues.venue(session, event.organisation_id, event.venue_id)
    return venue.kind == "virtual" or all(getattr(event, name) or getattr(venue, name) for name in LOCATION_COLUMNS)
