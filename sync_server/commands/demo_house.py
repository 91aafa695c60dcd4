"""The demo's house: a floor to stand on, and stalls with a wheelchair place."""

from __future__ import annotations

from typing import Final

from sqlalchemy.orm import Session

from sync_server.plumbing.principals import Deed
from sync_server.seating import event_layouts
from sync_server.seating import service as seating
from sync_server.seating.event_layouts import Chosen
from sync_server.seating.plan import Category, LayoutPlan, SeatPlan, ZonePlan, ZoneType

ROWS: Final = "ABCDE"
WIDTH: Final = 20
BEST: Final = ("A-10", "A-11")


def lay_out(session: Session, organisation_id: str, venue_id: str, event_id: str, act: Deed) -> None:
    """Draw the house and let the event take place in it: the floor is its zone 1, the stalls its zone 2."""
    layout = seating.create_layout(session, organisation_id, venue_id, seating.drawn(plan()), act)
    seating.activate(session, organisation_id, venue_id, layout.id, act)
    event_layouts.choose(session, organisation_id, event_id, Chosen(layout.id), act)


def plan() -> LayoutPlan:
    """Room for 2,000 on the floor, and a hundred seats around them."""
    seats = tuple(_seat(depth, row, number) for depth, row in enumerate(ROWS) for number in range(1, WIDTH + 1))
    floor = ZonePlan("Floor", ZoneType.GA_STANDING, 2_000)
    stalls = ZonePlan("Stalls", ZoneType.RESERVED_SEATING, len(seats), focus=(WIDTH / 2, -4.0), seats=seats)
    return LayoutPlan("Harbour Hall", (floor, stalls))


def _seat(depth: int, row: str, number: int) -> SeatPlan:
    """The first two of the last row are a wheelchair place and the seat beside it."""
    pair = {1: (Category.WHEELCHAIR, 2), 2: (Category.COMPANION, 1)} if depth == len(ROWS) - 1 else {}
    category, other = pair.get(number, (Category.STANDARD, 0))
    beside = f"{row}-{other}" if other else None
    return SeatPlan(f"{row}-{number}", row, str(number), float(number), float(depth), category, beside)
