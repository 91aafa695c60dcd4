"""An event's layout as issuing needs it: its open zones, and the zone numbers that gates use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.seating import queries
from sync_server.seating.event_seating import event_policy
from sync_server.seating.layouts.overlay import Deltas, EventZone, event_zones
from sync_server.seating.rules import Policy


@dataclass(frozen=True, slots=True)
class IssuingLayout:
    """One event's layout, within one transaction."""

    session: Session
    organisation_id: str
    event_id: str
    layout_id: str
    zones: Mapping[int, EventZone]  # the open ones, by number in the layout
    event_zones: Mapping[int, int]  # the number that gates use for each
    deltas: Deltas
    policy: Policy
    now: Millis
    issued_by: str = ""  # the id of the actor

    def number_of(self, event_zone: int) -> int | None:
        """The layout's zone for a number that gates use; None if there is none."""
        return next((number for number, other in self.event_zones.items() if other == event_zone), None)

    def places_zone(self, event_zone: int) -> int | None:
        """The layout's zone whose unnumbered places tickets of this zone take; None if no places are counted."""
        number = self.number_of(event_zone) if event_zone else None
        if number is None or number not in self.zones or self.zones[number].zone_type.numbered:
            return None
        return number


def issuing_layout(
    session: Session, organisation_id: str, event_id: str, now: Millis, issued_by: str = ""
) -> IssuingLayout | None:
    """The layout of an event; None if it has none."""
    row = queries.find_event_layout(session, organisation_id, event_id)
    if row is None:
        return None
    deltas = queries.deltas(row)
    blocked = queries.seats_by_zone(session, row.layout_id, deltas.blocked)
    zones = {zone.number: zone for zone in event_zones(queries.zones(session, row.layout_id), deltas, blocked)}
    zone_numbers = {int(number): int(event_zone) for number, event_zone in row.event_zones.items()}
    policy = event_policy(session, row)
    return IssuingLayout(
        session, organisation_id, event_id, row.layout_id, zones, zone_numbers, deltas, policy, now, issued_by
    )
