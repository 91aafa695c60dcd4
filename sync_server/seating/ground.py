"""What a map of an event is laid over: which seats are sold at all, in which zone each lies, and what zones hold."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from sync_server.seating import queries
from sync_server.seating.accessibility import Pairing, Places
from sync_server.seating.bitmap import Shown
from sync_server.seating.house import policy_at
from sync_server.seating.maps import plan_id
from sync_server.seating.models import EventLayoutRecord, SeatRecord
from sync_server.seating.overlay import EventZone, event_zones


@dataclass(frozen=True, slots=True)
class Ground:
    """An event's house with nobody in it."""

    first: int  # number of the first seat; those of a layout have no gaps
    zone_of: tuple[int, ...]
    empty: bytes  # FREE or CLOSED, seat by seat
    zones: Mapping[int, EventZone]  # that are open
    places: Places

    def has(self, seat: int) -> bool:
        """Whether the house has that seat."""
        return 0 <= seat - self.first < len(self.empty)


@dataclass(frozen=True, slots=True)
class Use:
    """How an event uses its layout, by names that change whenever what is made of it would be another."""

    plan_id: str  # of what is drawn
    basis: str  # of the ground
    row: EventLayoutRecord


def in_use(session: Session, organisation_id: str, event_id: str) -> Use:
    """How that event uses its layout; NotFound where it has none."""
    row = queries.event_layout(session, organisation_id, event_id)
    told = [plan_id(row), row.blocked_seats, policy_at(session, row).care()]
    return Use(plan_id(row), hashlib.sha256(orjson.dumps(told)).hexdigest()[:12], row)


def ground(session: Session, use: Use) -> Ground:
    """The house of an event with nobody in it."""
    row, deltas = use.row, queries.deltas(use.row)
    blocked = queries.seats_by_zone(session, row.layout_id, deltas.blocked)
    zones = {zone.number: zone for zone in event_zones(queries.zones(session, row.layout_id), deltas, blocked)}
    numbered = {number for number, zone in zones.items() if zone.zone_type.numbered}
    here = select(SeatRecord.number, SeatRecord.zone_number).where(SeatRecord.layout_id == row.layout_id)
    seats = session.execute(here.order_by(SeatRecord.number)).all()
    empty = bytes(
        Shown.FREE if zone in numbered and number not in deltas.blocked else Shown.CLOSED for number, zone in seats
    )
    return Ground(
        seats[0][0] if seats else 1,
        tuple(zone for _, zone in seats),
        empty,
        zones,
        Places(_sold_here(session, row, numbered), policy_at(session, row).care()),
    )


def _sold_here(session: Session, row: EventLayoutRecord, numbered: set[int]) -> tuple[Pairing, ...]:
    return tuple(pairing for pairing in queries.pairings(session, row.layout_id) if pairing.zone in numbered)
