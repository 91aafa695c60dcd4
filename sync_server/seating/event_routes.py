"""/api/events/…/layout: how an event uses a layout, and which seats it offers."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager

from apiflask import APIBlueprint
from sqlalchemy.orm import Session

from shared.errors import InvalidRequest
from sync_server.events import queries as events_queries
from sync_server.events import service as events
from sync_server.events.days import chosen_days
from sync_server.plumbing.api.edits import check_unchanged, tagged
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, organisation, require, requires
from sync_server.seating import event_layouts, event_schemas, queries, stranded_seats
from sync_server.seating.event_seating import EventSeating, HeldBack, require_offer
from sync_server.seating.event_seatings import event_seatings
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.plans.seat_plans import seat_plan
from sync_server.seating.search.offers import Offer, SeatRequest

bp = APIBlueprint("event_layouts", __name__, url_prefix="/events/<event_id>/layout", tag="Seats of events")


@bp.put("")
@requires(Action.EDIT_EVENTS)
@bp.input(event_schemas.ChooseLayout)
@bp.output(event_schemas.EventLayoutView)
def choose(event_id: str, json_data: event_schemas.ChooseLayout) -> event_schemas.EventLayoutView:
    """Choose the layout of an event and its overrides; frozen once seats are sold or held."""
    with parts().database.writing() as session:
        check_unchanged(lambda: _locked_view(session, event_id))
        event_layouts.choose(session, organisation(), event_id, json_data.chosen(), context())
        return tagged(_view(session, event_id))


@bp.get("")
@requires(Action.READ)
@bp.output(event_schemas.EventLayoutView)
def show(event_id: str) -> event_schemas.EventLayoutView:
    """Show the layout of an event with its overrides."""
    with parts().database.reading() as session:
        return tagged(_view(session, event_id))


@bp.delete("")
@requires(Action.EDIT_EVENTS)
@bp.doc(summary="Remove the layout of an event", responses={204: "Removed"})
def drop(event_id: str) -> tuple[str, int]:
    """Remove the layout of an event while nothing is sold or held."""
    with parts().database.writing() as session:
        event_layouts.drop(session, organisation(), event_id, context())
    return "", 204


@bp.post("/best-seats")
@requires(Action.READ)
@bp.input(event_schemas.WantedSeats)
@bp.output(event_schemas.OfferView)
def best_seats(event_id: str, json_data: event_schemas.WantedSeats) -> event_schemas.OfferView:
    """Find the best seats for a group; nothing is held."""
    _check_override(json_data.override)
    with _seating(event_id, json_data) as seating:
        if json_data.wheelchairs:
            if json_data.wheelchairs > json_data.size:
                raise InvalidRequest("size counts everybody, so it must be at least wheelchairs.", field="size")
            companions = json_data.size - json_data.wheelchairs
            found = seating.best_with_wheelchairs(json_data.wheelchairs, companions)
        else:
            zones = None if json_data.zones is None else _zone_numbers(seating.plan, json_data.zones)
            price = seating.plan.known_price_category(json_data.price_category)
            request = SeatRequest(json_data.size, zones, json_data.apart, json_data.override, price_category=price)
            found = seating.best(request)
        return _offer(seating, require_offer(found, seating.plan))


@bp.post("/picked-seats")
@requires(Action.READ)
@bp.input(event_schemas.PickedSeats)
@bp.output(event_schemas.OfferView)
def picked_seats(event_id: str, json_data: event_schemas.PickedSeats) -> event_schemas.OfferView:
    """Check whether a customer could take these seats; nothing is held."""
    _check_override(json_data.override)
    with _seating(event_id, json_data) as seating:
        numbers = seating.plan.layout.find_all(json_data.seat_ids)
        if unknown := [name for name in json_data.seat_ids if name not in numbers]:
            raise InvalidRequest(f"The layout has no seat {', '.join(unknown[:10])}.", code="unknown_seat")
        seats = [numbers[name] for name in json_data.seat_ids]
        request = SeatRequest(len(seats), None, json_data.apart, json_data.override)
        return _offer(seating, require_offer(seating.evaluate(seats, request), seating.plan))


@bp.get("/stranded-seats")
@requires(Action.READ)
@bp.output(event_schemas.StrandedSeatsView)
def stranded(event_id: str) -> event_schemas.StrandedSeatsView:
    """List single seats that nobody has, and what keeps the public from each."""
    with _seating(event_id, event_schemas.OnDays()) as seating:
        return _stranded_view(seating, stranded_seats.releasable(seating))


@bp.post("/stranded-seats/release")
@requires(Action.RELEASE_STRANDED_SEATS)
@bp.input(event_schemas.ReleaseStranded)
@bp.output(event_schemas.StrandedSeatsView)
def release_stranded(event_id: str, json_data: event_schemas.ReleaseStranded) -> event_schemas.StrandedSeatsView:
    """Put stranded seats on sale to anybody, all of them or those named; only super admins of the platform may."""
    with _seating(event_id, event_schemas.OnDays()) as seating:
        found = stranded_seats.chosen(seating, json_data.seat_ids)
        view = _stranded_view(seating, found)
    with parts().database.writing() as session:
        stranded_seats.release(session, organisation(), event_id, found, context(), reason=json_data.reason)
    return view


def _stranded_view(seating: EventSeating, found: Mapping[int, HeldBack | None]) -> event_schemas.StrandedSeatsView:
    layout = seating.plan.layout
    return event_schemas.StrandedSeatsView(
        items=[
            event_schemas.StrandedSeatView(
                seat_id=layout.name(seat), words=layout.in_words(seat), held_back=why.value if why else None
            )
            for seat, why in sorted(found.items())
        ]
    )


def _check_override(override: bool) -> None:
    if override:
        require(Action.ISSUE_TICKETS)


def _seating(event_id: str, wanted: event_schemas.OnDays) -> AbstractContextManager[EventSeating]:
    with parts().database.reading() as session:
        dates = chosen_days.dates_of(events_queries.event(session, organisation(), event_id))
    return event_seatings().current(
        organisation(), event_id, parts().clock(), days=chosen_days.choose(dates, wanted.days)
    )


def _zone_numbers(plan: SeatPlan, ids: list[str]) -> frozenset[int]:
    numbers = {zone.id: zone.number for zone in plan.zones.values()}
    unknown = [id for id in ids if id not in numbers]
    if unknown:
        raise InvalidRequest(f"The event has no open zone {', '.join(unknown[:10])}.", code="unknown_zone")
    return frozenset(numbers[id] for id in ids)


def _offer(seating: EventSeating, offer: Offer) -> event_schemas.OfferView:
    companions = tuple(seat for seat in seating.companions_kept(offer.seats) if seat not in offer.seats)
    names = {seat: seating.plan.layout.name(seat) for seat in (*offer.seats, *companions)}
    return event_schemas.offer_view(offer, names, companions)


def _locked_view(session: Session, event_id: str) -> event_schemas.EventLayoutView:
    events.lock_event(session, organisation(), event_id)
    return _view(session, event_id)


def _view(session: Session, event_id: str) -> event_schemas.EventLayoutView:
    row = queries.event_layout(session, organisation(), event_id)
    plan = seat_plan(session, row)
    return event_schemas.event_layout_view(
        row,
        plan,
        frozen=event_layouts.frozen(session, organisation(), event_id, parts().clock()),
    )
