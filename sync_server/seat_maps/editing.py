"""What organisers change on the map: take seats off sale, put them back on sale, and release holds."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from shared.errors import InvalidRequest
from sync_server.events import queries as events
from sync_server.holds import queries as holds
from sync_server.holds import service
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.seat_maps.map_inputs import load_inputs
from sync_server.seating import event_layouts, queries
from sync_server.seating.event_layouts import LayoutChoice
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.plans.seat_plans import event_plan


@dataclass(frozen=True, slots=True)
class BlockingChange:
    """Seats by their numbers in the plan."""

    blocked: frozenset[int]
    opened: frozenset[int]


def block(
    session: Session, organisation_id: str, event_id: str, change: BlockingChange, context: ActionContext
) -> tuple[int, int]:
    """Block and open seats, all or none; the number of blocked seats, and of changed ones.

    Conflict if a seat to block is sold or held.
    """
    events.event(session, organisation_id, event_id, lock=True)  # concurrent changes would undo each other
    plan = event_plan(session, organisation_id, event_id)
    if not all(map(plan.layout.has, change.blocked | change.opened)):
        raise InvalidRequest("The layout has no seat with that number.", code="unknown_seat")
    wanted = (plan.blocked | change.blocked) - change.opened
    if wanted != plan.blocked:
        overrides = queries.event_layout(session, organisation_id, event_id).seating_overrides
        event_layouts.choose(session, organisation_id, event_id, _chosen(plan, wanted, overrides), context)
    return len(wanted), len(wanted ^ plan.blocked)


def release_hold(  # noqa: PLR0917 - what names the holds
    session: Session, organisation_id: str, event_id: str, seat: int, day: str, context: ActionContext
) -> None:
    """Release the holds on a seat on this day (any, for ""), whoever has them; NotFound if the seat is not held."""
    events.event(session, organisation_id, event_id)
    days = load_inputs(session, event_id).days(day)
    for held in holds.holds_on(session, organisation_id, event_id, seat, days, now=context.now):
        service.release(session, organisation_id, held.id, None, context)


def _chosen(plan: SeatPlan, blocked: Collection[int], overrides: Mapping[str, Any]) -> LayoutChoice:
    """The event's present choice, with these seats blocked."""
    ids, deltas = {zone.number: zone.id for zone in plan.layout.zones}, plan.deltas
    return LayoutChoice(
        plan.layout.layout_id,
        blocked_seats=tuple(plan.layout.names_of(blocked)),
        disabled_zones=tuple(ids[number] for number in deltas.disabled),
        zone_overrides={ids[number]: changed for number, changed in deltas.zones.items()},
        price_zones={ids[number]: price for number, price in deltas.prices.items()},
        seating_overrides=overrides,
    )
