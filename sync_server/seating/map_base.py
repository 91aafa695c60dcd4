"""The fixed part of an event's seat map: which seats are on sale, the zone of each, and the capacity of zones."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from sync_server.seating import queries
from sync_server.seating.bitmap import DisplayState
from sync_server.seating.event_seating import event_policy
from sync_server.seating.layouts.overlay import EventZone, event_zones
from sync_server.seating.map_drawing import plan_id
from sync_server.seating.models import EventLayoutRecord, SeatRecord
from sync_server.seating.search.accessibility import Pairing, WheelchairPlaces


@dataclass(frozen=True, slots=True)
class MapBase:
    """The seat map of an event with nothing sold or held."""

    first: int  # number of the first seat; seat numbers of a layout have no gaps
    zone_of: tuple[int, ...]
    empty: bytes  # FREE or CLOSED, seat by seat
    zones: Mapping[int, EventZone]  # open zones
    places: WheelchairPlaces

    def has(self, seat: int) -> bool:
        """Whether the layout has this seat."""
        return 0 <= seat - self.first < len(self.empty)


@dataclass(frozen=True, slots=True)
class LayoutUse:
    """How an event uses its layout, with ids that change whenever the drawing or the map base would change."""

    plan_id: str  # of the drawing
    basis: str  # of the map base
    row: EventLayoutRecord


def layout_use(session: Session, organisation_id: str, event_id: str) -> LayoutUse:
    """How an event uses its layout; NotFound for an event without one."""
    row = queries.event_layout(session, organisation_id, event_id)
    inputs = [plan_id(row), row.blocked_seats, event_policy(session, row).accessibility()]
    return LayoutUse(plan_id(row), hashlib.sha256(orjson.dumps(inputs)).hexdigest()[:12], row)


def load_map_base(session: Session, use: LayoutUse) -> MapBase:
    """The map base of an event."""
    row, deltas = use.row, queries.deltas(use.row)
    blocked = queries.seats_by_zone(session, row.layout_id, deltas.blocked)
    zones = {zone.number: zone for zone in event_zones(queries.zones(session, row.layout_id), deltas, blocked)}
    numbered = {number for number, zone in zones.items() if zone.zone_type.numbered}
    statement = select(SeatRecord.number, SeatRecord.zone_number).where(SeatRecord.layout_id == row.layout_id)
    seats = session.execute(statement.order_by(SeatRecord.number)).all()
    empty = bytes(
        DisplayState.FREE if zone in numbered and number not in deltas.blocked else DisplayState.CLOSED
        for number, zone in seats
    )
    return MapBase(
        seats[0][0] if seats else 1,
        tuple(zone for _, zone in seats),
        empty,
        zones,
        WheelchairPlaces(_pairings_on_sale(session, row, numbered), event_policy(session, row).accessibility()),
    )


def _pairings_on_sale(session: Session, row: EventLayoutRecord, numbered: set[int]) -> tuple[Pairing, ...]:
    return tuple(pairing for pairing in queries.pairings(session, row.layout_id) if pairing.zone in numbered)
