"""An event's layout as issuing sees it: its open zones, and by what numbers gates know them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.seating import queries
from sync_server.seating.house import policy_at
from sync_server.seating.overlay import Deltas, EventZone, event_zones
from sync_server.seating.rules import Policy


@dataclass(frozen=True, slots=True)
class House:
    """One event's layout, within one transaction."""

    session: Session
    organisation_id: str
    event_id: str
    layout_id: str
    zones: Mapping[int, EventZone]  # those that are open, by number in the layout
    event_zones: Mapping[int, int]  # by what number gates know each
    deltas: Deltas
    policy: Policy
    now: Millis
    by: str = ""  # the id of whoever sells

    def number_of(self, event_zone: int) -> int | None:
        """The zone of the layout that gates know by this number; None: the layout has none."""
        return next((number for number, known in self.event_zones.items() if known == event_zone), None)

    def places_zone(self, event_zone: int) -> int | None:
        """The zone of the layout whose places tickets of this zone take; None: none are counted."""
        number = self.number_of(event_zone) if event_zone else None
        if number is None or number not in self.zones or self.zones[number].zone_type.numbered:
            return None
        return number


def house(session: Session, organisation_id: str, event_id: str, now: Millis, by: str = "") -> House | None:
    """The layout of an event, if it has one."""
    row = queries.maybe_event_layout(session, organisation_id, event_id)
    if row is None:
        return None
    deltas = queries.deltas(row)
    blocked = queries.seats_by_zone(session, row.layout_id, deltas.blocked)
    zones = {zone.number: zone for zone in event_zones(queries.zones(session, row.layout_id), deltas, blocked)}
    known = {int(number): int(event_zone) for number, event_zone in row.event_zones.items()}
    policy = policy_at(session, row)
    return House(session, organisation_id, event_id, row.layout_id, zones, known, deltas, policy, now, by)
