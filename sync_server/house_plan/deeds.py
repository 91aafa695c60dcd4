"""What organisers do on the map itself: take seats out of the sale, put them back, and give up what somebody holds."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.errors import InvalidRequest
from sync_server.events import queries as events
from sync_server.holds import queries as holds
from sync_server.holds import service
from sync_server.plumbing.principals import Deed
from sync_server.seating import event_layouts, queries
from sync_server.seating.event_layouts import Chosen


@dataclass(frozen=True, slots=True)
class Change:
    """Seats by their numbers in the plan."""

    blocked: frozenset[int]
    opened: frozenset[int]


def block(session: Session, organisation_id: str, event_id: str, change: Change, deed: Deed) -> tuple[int, int]:
    """Block and open seats, all or none; how many are blocked then, and for how many that changed.

    Conflict for what is sold or held.
    """
    events.event(session, organisation_id, event_id, lock=True)  # two who block at once would undo each other
    row = queries.event_layout(session, organisation_id, event_id)
    named = change.blocked | change.opened
    if len(queries.seat_names(session, row.layout_id, named)) != len(named):
        raise InvalidRequest("The layout has no seat of such a number.", code="unknown_seat")
    before = {*row.blocked_seats}
    wanted = (before | change.blocked) - change.opened
    if wanted != before:
        chosen = _chosen(session, organisation_id, event_id, wanted)
        event_layouts.choose(session, organisation_id, event_id, chosen, deed)
    return len(wanted), len(wanted ^ before)


def give_up(session: Session, organisation_id: str, event_id: str, seat: int, deed: Deed) -> None:
    """Give up the hold on a seat, whoever's it is; NotFound where nobody holds it."""
    held = holds.hold_on(session, organisation_id, event_id, seat, deed.now)
    service.release(session, organisation_id, held.id, None, deed)


def _chosen(session: Session, organisation_id: str, event_id: str, blocked: Collection[int]) -> Chosen:
    """What the event has chosen already, with these seats blocked."""
    row = queries.event_layout(session, organisation_id, event_id)
    ids = {zone.number: zone.id for zone in queries.zones(session, row.layout_id)}
    return Chosen(
        row.layout_id,
        blocked_seats=tuple(queries.seat_names(session, row.layout_id, blocked)),
        disabled_zones=tuple(ids[number] for number in row.disabled_zones),
        zone_overrides={ids[int(number)]: changed for number, changed in row.zone_overrides.items()},
        price_zones={ids[int(number)]: price for number, price in row.price_zones.items()},
        seating_overrides=row.seating_overrides,
    )
