"""The waiting list of an event: who waits in which order and why, what is offered until when, and changes by hand."""

from __future__ import annotations

from typing import Any, Final

from flask import redirect, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import GatehouseError
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page, render_page, words
from sync_server.events import queries as events
from sync_server.holds.attempts.runtime import hold_runtime
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context
from sync_server.seating.event_seatings import event_seatings
from sync_server.seating.plans.seat_plans import find_event_plan
from sync_server.tickets import queries as tickets
from sync_server.waiting_list import queries, schemas, service
from sync_server.waiting_list.offering import Offering
from sync_server.waiting_list.rules import DEFAULT_OFFER_MINUTES

PAGE_SIZE: Final = 50
OFFERS: Final = 30
Page = str | tuple[str, int] | WerkzeugResponse


@bp.get("/events/<event_id>/waiting-list")
@page()
def waiting_list(event_id: str) -> str:
    """The list in its order, and the latest offers with whom they passed."""
    return _list(event_id, {})


def _list(event_id: str, problems: dict[str, str]) -> str:
    with parts().database.reading() as session:
        event = events.event(session, current_organisation(), event_id)
        row = queries.waiting_list(session, event.key)
        found = queries.parties(session, event.key, limit=PAGE_SIZE, after=request.args.get("after"))
        offers = queries.offers(session, event.key, limit=OFFERS, after=None).items
        shown: dict[str, Any] = {
            "row": row,
            "parties": found.items,
            "next": found.next,
            "offers": [(offer, party, _passed(offer)) for offer, party in offers],
            "open_until": {offer.party_id: offer.ends_at for offer, _ in offers if offer.state == "open"},
            "counts": queries.count_by_state(session, event.key),
            "types": {kind.number: kind.name for kind in tickets.ticket_types(session, *event.key)},
            "places": _places(session, event.key, [offer for offer, _ in offers]),
            "minutes": row.offer_minutes if row is not None else DEFAULT_OFFER_MINUTES,
        }
    return render_page("selling/waiting_list.html", event=event, problems=problems, **shown)


def _places(session: Session, event: EventKey, offers: list[queries.Offer]) -> dict[str, str]:
    """The seats of each offer, or its zone."""
    plan = find_event_plan(session, *event)
    if plan is None:
        return {}
    zones = {number: zone.name for number, zone in plan.zones.items()}
    return {offer.id: ", ".join(plan.layout.names_of(offer.seats)) or zones.get(offer.zone, "") for offer in offers}


def _passed(offer: queries.Offer) -> list[str]:
    """Who was passed over and why, such as `No. 3 to 5: not so many seats side by side`."""
    t = words()
    return [
        t(
            f"waiting_why.{why}",
            who=", ".join(str(first) if first == last else f"{first}-{last}" for first, last in all_),
        )
        for why, all_ in offer.passed.items()
    ]


@bp.post("/events/<event_id>/waiting-list")
@page(Action.EDIT_EVENTS)
def set_waiting_list(event_id: str) -> Page:
    """Open or close the list, and say for how long offers last."""
    values = {"open": forms.text("open", 5) == "yes", "offer_minutes": forms.number("offer_minutes")}
    try:
        with parts().database.writing() as session:
            event = events.event(session, current_organisation(), event_id, lock=True)
            asked = forms.read(schemas.SetWaitingList, values)
            service.set_list(session, event.key, context(), opened=asked.open, offer_minutes=asked.offer_minutes)
    except GatehouseError as error:
        return _list(event_id, forms.problems_of(error)), error.status
    return _back(event_id)


def _back(event_id: str) -> WerkzeugResponse:
    return redirect(url_for("admin.waiting_list", event_id=event_id))


@bp.get("/events/<event_id>/waiting-list/<party_id>/off")
@page(Action.EDIT_EVENTS)
def ask_to_take_off(event_id: str, party_id: str) -> str:
    """Whom it touches to take a party off the list."""
    return _party_page(event_id, party_id, "off")


@bp.get("/events/<event_id>/waiting-list/<party_id>/offer")
@page(Action.EDIT_EVENTS)
def ask_to_offer(event_id: str, party_id: str) -> str:
    """Whom it touches to offer to a party before its turn."""
    return _party_page(event_id, party_id, "offer")


def _party_page(event_id: str, party_id: str, change: str, problem: str = "") -> str:
    with parts().database.reading() as session:
        event = events.event(session, current_organisation(), event_id)
        row = _party(session, event.key, party_id)
        position = queries.position(session, row)
        found = queries.waiting_list(session, event.key)
    minutes = found.offer_minutes if found is not None else DEFAULT_OFFER_MINUTES
    before = position - 1 if position is not None else 0
    shown = {"party": row, "before": before, "minutes": minutes, "change": change, "problem": problem}
    return render_page("selling/waiting_party.html", event=event, **shown)


def _party(session: Session, event: EventKey, party_id: str) -> queries.Party:
    row = queries.party(session, event.organisation_id, party_id)
    if row.event_id != event.event_id:
        raise queries.no_such_party()
    return row


@bp.post("/events/<event_id>/waiting-list/<party_id>/off")
@page(Action.EDIT_EVENTS)
def take_party_off(event_id: str, party_id: str) -> Page:
    """Take a party off the list; what it was offered goes to the next."""
    key = EventKey(current_organisation(), event_id)
    with parts().database.writing() as session:
        _party(session, key, party_id)
        service.leave(session, key.organisation_id, party_id, context())
    return _back(event_id)


@bp.post("/events/<event_id>/waiting-list/<party_id>/offer")
@page(Action.EDIT_EVENTS)
def offer_by_hand(event_id: str, party_id: str) -> Page:
    """Offer to a party before its turn what is free and fits it."""
    offering = Offering(parts().database, hold_runtime(parts()), event_seatings())
    try:
        offering.offer_to(EventKey(current_organisation(), event_id), party_id, context())
    except GatehouseError as error:
        return _party_page(event_id, party_id, "offer", error.message), error.status
    return _back(event_id)
