"""/api/events/…/layout: how an event uses a layout, and which seats it offers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from apiflask import APIBlueprint
from sqlalchemy.orm import Session

from shared.errors import InvalidRequest
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import context, organisation, require, requires
from sync_server.seating import event_layouts, event_schemas, queries
from sync_server.seating.event_seating import EventSeating, event_policy, require_offer, seat_numbers_of
from sync_server.seating.event_seatings import event_seatings
from sync_server.seating.layouts.overlay import event_zones
from sync_server.seating.search.offers import Offer, SeatRequest

bp = APIBlueprint("event_layouts", __name__, url_prefix="/events/<event_id>/layout", tag="Seats of events")


@bp.put("")
@requires(Action.EDIT_EVENTS)
@bp.input(event_schemas.ChooseLayout)
@bp.output(event_schemas.EventLayoutView)
def choose(event_id: str, json_data: event_schemas.ChooseLayout) -> event_schemas.EventLayoutView:
    """Choose the layout of an event and its overrides; frozen once seats are sold or held."""
    with parts().database.writing() as session:
        event_layouts.choose(session, organisation(), event_id, json_data.chosen(), context())
        return _view(session, event_id)


@bp.get("")
@requires(Action.READ)
@bp.output(event_schemas.EventLayoutView)
def show(event_id: str) -> event_schemas.EventLayoutView:
    """Show the layout of an event with its overrides."""
    with parts().database.reading() as session:
        return _view(session, event_id)


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
    with _seating(event_id) as (session, seating):
        if json_data.wheelchairs:
            if json_data.wheelchairs > json_data.size:
                raise InvalidRequest("size counts everybody, so it must be at least wheelchairs.", field="size")
            companions = json_data.size - json_data.wheelchairs
            return _offer(
                session, seating, require_offer(seating.best_with_wheelchairs(json_data.wheelchairs, companions))
            )
        zones = None if json_data.zones is None else _zone_numbers(seating, json_data.zones)
        return _offer(
            session,
            seating,
            require_offer(seating.best(SeatRequest(json_data.size, zones, json_data.apart, json_data.override))),
        )


@bp.post("/picked-seats")
@requires(Action.READ)
@bp.input(event_schemas.PickedSeats)
@bp.output(event_schemas.OfferView)
def picked_seats(event_id: str, json_data: event_schemas.PickedSeats) -> event_schemas.OfferView:
    """Check whether a customer could take these seats; nothing is held."""
    _check_override(json_data.override)
    with _seating(event_id) as (session, seating):
        seats = seat_numbers_of(session, seating, json_data.seat_ids)
        return _offer(
            session,
            seating,
            require_offer(seating.evaluate(seats, SeatRequest(len(seats), None, json_data.apart, json_data.override))),
        )


def _check_override(override: bool) -> None:
    if override:
        require(Action.ISSUE_TICKETS)


@contextmanager
def _seating(event_id: str) -> Iterator[tuple[Session, EventSeating]]:
    with (
        event_seatings().current(organisation(), event_id, parts().clock()) as seating,
        parts().database.reading() as session,
    ):
        yield session, seating


def _zone_numbers(seating: EventSeating, ids: list[str]) -> frozenset[int]:
    numbers = {zone.id: zone.number for zone in seating.zones.values()}
    unknown = [id for id in ids if id not in numbers]
    if unknown:
        raise InvalidRequest(f"The event has no open zone {', '.join(unknown[:10])}.", code="unknown_zone")
    return frozenset(numbers[id] for id in ids)


def _offer(session: Session, seating: EventSeating, offer: Offer) -> event_schemas.OfferView:
    companions = tuple(seat for seat in seating.companions_kept(offer.seats) if seat not in offer.seats)
    shown = sorted({*offer.seats, *companions})
    names = dict(zip(shown, queries.seat_names(session, seating.layout_id, shown), strict=True))
    return event_schemas.offer_view(offer, names, companions)


def _view(session: Session, event_id: str) -> event_schemas.EventLayoutView:
    row = queries.event_layout(session, organisation(), event_id)
    deltas, zones = queries.deltas(row), queries.zones(session, row.layout_id)
    blocked = queries.seats_by_zone(session, row.layout_id, deltas.blocked)
    return event_schemas.event_layout_view(
        row,
        event_zones(zones, deltas, blocked),
        event_policy(session, row),
        blocked=queries.seat_names(session, row.layout_id, deltas.blocked),
        disabled=[zone.id for zone in zones if zone.number in deltas.disabled],
        frozen=event_layouts.frozen(session, organisation(), event_id, parts().clock()),
    )
