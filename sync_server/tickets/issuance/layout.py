"""An event's layout as issuing needs it: its open zones, and the zone numbers that gates use."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.plans.seat_plans import find_event_plan


@dataclass(frozen=True, slots=True)
class IssuingLayout:
    """One event's layout, within one transaction."""

    session: Session
    organisation_id: str
    event_id: str
    plan: SeatPlan
    now: Millis
    issued_by: str = ""  # the id of the actor

    def number_of(self, event_zone: int) -> int | None:
        """The layout's zone for a number that gates use; None if there is none."""
        return next((number for number, other in self.plan.event_zones.items() if other == event_zone), None)

    def places_zone(self, event_zone: int) -> int | None:
        """The layout's zone whose unnumbered places tickets of this zone take; None if no places are counted."""
        number = self.number_of(event_zone) if event_zone else None
        return number if number in self.plan.zones and number not in self.plan.numbered else None


def issuing_layout(
    session: Session, organisation_id: str, event_id: str, now: Millis, issued_by: str = ""
) -> IssuingLayout | None:
    """The layout of an event; None if it has none."""
    plan = find_event_plan(session, organisation_id, event_id)
    return None if plan is None else IssuingLayout(session, organisation_id, event_id, plan, now, issued_by)
