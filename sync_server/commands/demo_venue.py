"""The seating of the demo venue: a standing floor, and stalls with a wheelchair place."""

from __future__ import annotations

from typing import Final

from sqlalchemy.orm import Session

from sync_server.plumbing.requests.principals import ActionContext
from sync_server.seating import event_layouts
from sync_server.seating import service as seating
from sync_server.seating.event_layouts import LayoutChoice
from sync_server.seating.layouts.plan import Category, LayoutPlan, PlannedSeat, ZonePlan, ZoneType

ROWS: Final = "ABCDE"
WIDTH: Final = 20
BEST_SEATS: Final = ("A-10", "A-11")


def set_up_seating(
    session: Session, organisation_id: str, venue_id: str, event_id: str, context: ActionContext
) -> None:
    """Create the layout and use it for the event: the floor is zone 1, the stalls are zone 2."""
    layout = seating.create_layout(session, organisation_id, venue_id, seating.prepare(plan()), context)
    seating.activate(session, organisation_id, venue_id, layout.id, context)
    event_layouts.choose(session, organisation_id, event_id, LayoutChoice(layout.id), context)


def plan() -> LayoutPlan:
    """Standing room for 2,000, and a hundred seats."""
    seats = tuple(_seat(depth, row, number) for depth, row in enumerate(ROWS) for number in range(1, WIDTH + 1))
    floor = ZonePlan("Floor", ZoneType.GA_STANDING, 2_000)
    stalls = ZonePlan("Stalls", ZoneType.RESERVED_SEATING, len(seats), focus=(WIDTH / 2, -4.0), seats=seats)
    return LayoutPlan("Harbour Hall", (floor, stalls))


def _seat(depth: int, row: str, number: int) -> PlannedSeat:
    """A seat; the first two of the last row are a wheelchair place and its companion seat."""
    pair = {1: (Category.WHEELCHAIR, 2), 2: (Category.COMPANION, 1)} if depth == len(ROWS) - 1 else {}
    category, other = pair.get(number, (Category.STANDARD, 0))
    companion = f"{row}-{other}" if other else None
    return PlannedSeat(f"{row}-{number}", row, str(number), float(number), float(depth), category, companion)
