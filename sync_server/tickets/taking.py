"""Takes the seats and places of tickets from the house, and gives them back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.holds import inventory
from sync_server.plumbing.principals import Deed
from sync_server.tickets.house import House, house
from sync_server.tickets.models import TicketRecord


def take(session: Session, here: House, made: Sequence[TicketRecord], deed: Deed, holds: Sequence[str] = ()) -> None:
    """Let these tickets have their seats, or their places in one zone; all of them or none.

    From these holds, which are converted, or from what is free; Conflict names the seats that are gone.
    """
    seats = {row.seat: row.id for row in made if row.seat}
    if seats:
        inventory.sell(session, here.organisation_id, here.event_id, seats, deed, holds=holds)
    places = Counter(here.places_zone(row.zone) for row in made if not row.seat)
    for zone, count in sorted((zone, count) for zone, count in places.items() if zone is not None):
        inventory.sell_places(session, here.organisation_id, here.event_id, zone, count, deed, holds=holds)


def free(session: Session, row: TicketRecord, now: Millis) -> None:
    """The seat or place of a ticket that is good no more may be sold again."""
    if row.seat:
        inventory.free(session, row.event_id, [row.id], now)
        return
    here = house(session, row.organisation_id, row.event_id, now)
    zone = here.places_zone(row.zone) if here else None
    if zone is not None:
        inventory.free_places(session, row.event_id, zone, 1, now)
