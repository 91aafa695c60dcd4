"""What organisers change on the map: take seats off sale, put them back on sale, and release holds."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.errors import InvalidRequest
from sync_server.events import queries as events
from sync_server.holds import queries as holds
from sync_server.holds import service
from sync_server.plumbing.principals import ActionContext
from sync_server.seating import event_layouts, queries
from sync_server.seating.event_layouts import LayoutChoice


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
    row = queries.event_layout(session, organisation_id, event_id)
    named = change.blocked | change.opened
    if len(queries.seat_names(session, row.layout_id, named)) != len(named):
        raise InvalidRequest("The layout has no seat with that number.", code="unknown_seat")
    before = {*row.blocked_seats}
    wanted = (before | change.blocked) - change.opened
    if wanted != before:
        chosen = _chosen(session, organisation_id, event_id, wanted)
        event_layouts.choose(session, organisation_id, event_id, chosen, context)
    return len(wanted), len(wanted ^ before)


def release_hold(session: Session, organisation_id: str, event_id: str, seat: int, context: ActionContext) -> None:
    """Release the hold on a seat, whoever has it; NotFound if the seat is not held."""
    held = holds.hold_on(session, organisation_id, event_id, seat, context.now)
    service.release(session, organisation_id, held.id, None, context)


def _chosen(session: Session, organisation_id: str, event_id: str, blocked: Collection[int]) -> LayoutChoice:
    """The event's present choice, with these seats blocked."""
    row = queries.event_layout(session, organisation_id, event_id)
    ids = {zone.number: zone.id for zone in queries.zones(session, row.layout_id)}
    return LayoutChoice(
        row.layout_id,
        blocked_seats=tuple(queries.seat_names(session, row.layout_id, blocked)),
        disabled_zones=tuple(ids[number] for number in row.disabled_zones),
        zone_overrides={ids[int(number)]: changed for number, changed in row.zone_overrides.items()},
        price_zones={ids[int(number)]: price for number, price in row.price_zones.items()},
        seating_overrides=row.seating_overrides,
    )
