"""/api/events/…/layout: what an event makes of a layout, and which seats it would give."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from apiflask import APIBlueprint
from sqlalchemy.orm import Session

from shared.errors import InvalidRequest
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import deed, organisation, require, requires
from sync_server.seating import event_layouts, event_schemas, queries
from sync_server.seating.house import House, given, numbers_of, policy_at
from sync_server.seating.houses import houses
from sync_server.seating.offers import Offer, Wish
from sync_server.seating.overlay import event_zones

bp = APIBlueprint("event_layouts", __name__, url_prefix="/events/<event_id>/layout", tag="Seats of events")


@bp.put("")
@requires(Action.EDIT_EVENTS)
@bp.input(event_schemas.ChooseLayout)
@bp.output(event_schemas.EventLayoutView)
def choose(event_id: str, json_data: event_schemas.ChooseLayout) -> event_schemas.EventLayoutView:
    """Choose the layout of an event, with what the event changes about it; frozen once seats are sold or held."""
    with parts().database.writing() as session:
        event_layouts.choose(session, organisation(), event_id, json_data.chosen(), deed())
        return _view(session, event_id)


@bp.get("")
@requires(Action.READ)
@bp.output(event_schemas.EventLayoutView)
def show(event_id: str) -> event_schemas.EventLayoutView:
    """Show what an event makes of its layout."""
    with parts().database.reading() as session:
        return _view(session, event_id)


@bp.delete("")
@requires(Action.EDIT_EVENTS)
@bp.doc(summary="Let an event go without a layout", responses={204: "Dropped"})
def drop(event_id: str) -> tuple[str, int]:
    """Let an event go without a layout again, while nothing is sold or held."""
    with parts().database.writing() as session:
        event_layouts.drop(session, organisation(), event_id, deed())
    return "", 204


@bp.post("/best-seats")
@requires(Action.READ)
@bp.input(event_schemas.WantedSeats)
@bp.output(event_schemas.OfferView)
def best_seats(event_id: str, json_data: event_schemas.WantedSeats) -> event_schemas.OfferView:
    """Say which seats a party would get now; nothing is held by asking."""
    _check_override(json_data.override)
    with _house(event_id) as (session, now):
        if json_data.wheelchairs:
            if json_data.wheelchairs > json_data.size:
                raise InvalidRequest("size counts everybody: it is no less than wheelchairs.", field="size")
            companions = json_data.size - json_data.wheelchairs
            return _offer(session, now, given(now.best_with_wheelchairs(json_data.wheelchairs, companions)))
        zones = None if json_data.zones is None else _zone_numbers(now, json_data.zones)
        return _offer(session, now, given(now.best(Wish(json_data.size, zones, json_data.apart, json_data.override))))


@bp.post("/picked-seats")
@requires(Action.READ)
@bp.input(event_schemas.PickedSeats)
@bp.output(event_schemas.OfferView)
def picked_seats(event_id: str, json_data: event_schemas.PickedSeats) -> event_schemas.OfferView:
    """Say whether a customer could take these seats, and if not why; nothing is held by asking."""
    _check_override(json_data.override)
    with _house(event_id) as (session, now):
        seats = numbers_of(session, now, json_data.seat_ids)
        return _offer(
            session, now, given(now.judged(seats, Wish(len(seats), None, json_data.apart, json_data.override)))
        )


def _check_override(override: bool) -> None:
    if override:
        require(Action.ISSUE_TICKETS)


@contextmanager
def _house(event_id: str) -> Iterator[tuple[Session, House]]:
    with (
        parts().database.reading() as session,
        houses().house(session, organisation(), event_id, parts().clock()) as now,
    ):
        yield session, now


def _zone_numbers(now: House, ids: list[str]) -> frozenset[int]:
    numbers = {zone.id: zone.number for zone in now.zones.values()}
    unknown = [id for id in ids if id not in numbers]
    if unknown:
        raise InvalidRequest(f"The event has no open zone {', '.join(unknown[:10])}.", code="unknown_zone")
    return frozenset(numbers[id] for id in ids)


def _offer(session: Session, now: House, offer: Offer) -> event_schemas.OfferView:
    kept = now.companions_kept(offer.seats)
    kept = tuple(seat for seat in kept if seat not in offer.seats)
    shown = sorted({*offer.seats, *kept})
    names = dict(zip(shown, queries.seat_names(session, now.layout_id, shown), strict=True))
    return event_schemas.offer_view(offer, names, kept)


def _view(session: Session, event_id: str) -> event_schemas.EventLayoutView:
    row = queries.event_layout(session, organisation(), event_id)
    deltas, zones = queries.deltas(row), queries.zones(session, row.layout_id)
    blocked = queries.seats_by_zone(session, row.layout_id, deltas.blocked)
    return event_schemas.event_layout_view(
        row,
        event_zones(zones, deltas, blocked),
        policy_at(session, row),
        blocked=queries.seat_names(session, row.layout_id, deltas.blocked),
        disabled=[zone.id for zone in zones if zone.number in deltas.disabled],
        frozen=event_layouts.frozen(session, organisation(), event_id, parts().clock()),
    )
