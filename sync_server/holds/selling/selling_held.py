"""What selling held seats and places asks, for whoever sends it together with other statements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy.orm import Session

from sync_server.holds.endings import ending
from sync_server.holds.models import WHOLE_EVENT
from sync_server.holds.selling.inventory import Held
from sync_server.holds.taking import places, seats
from sync_server.holds.taking.places import FIRST_DAY
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sql.asked_together import Question


def asks_to_sell_places(
    session: Session, event: EventKey, hold: Held, context: ActionContext, for_order: str
) -> Iterable[Question]:
    """What `inventory.sell_places` asks for all places that one hold has at an event of one day."""
    if hold.seat is None and hold.zone != WHOLE_EVENT:
        yield places.asks_to_sell_held(event, hold.zone, hold.quantity)
        yield ending.asks_to_convert(session, [hold], context, for_order)


def asks_to_sell_held(  # noqa: PLR0917 - seats, their holds, and whose they are to be
    session: Session,
    event: EventKey,
    tickets: Mapping[int, int],
    held: Sequence[Held],
    context: ActionContext,
    for_order: str,
) -> Iterable[Question]:
    """What `inventory.sell` asks for the seats of an event of one day that these holds have, in this order."""
    wanted, ids = {(seat, FIRST_DAY): ticket for seat, ticket in tickets.items()}, [hold.id for hold in held]
    yield seats.asks_to_sell(session, event, wanted, now=context.now, mine=ids)
    yield ending.asks_to_convert(session, held, context, for_order)
