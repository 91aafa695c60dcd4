"""Sells the places that some holds have, without looking first: two conditional updates judge."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events import queries as events
from sync_server.holds.endings import ending
from sync_server.holds.endings.gone_holds import hold_expired
from sync_server.holds.models import HoldRow
from sync_server.holds.taking import places
from sync_server.holds.taking.places import ZoneDays
from sync_server.plumbing.requests.principals import ActionContext


def have_places(held: Sequence[HoldRow], where: ZoneDays, count: int, now: Millis) -> bool:
    """Whether these holds have just these places of an event of one day."""
    lasting = all(hold.seat is None and hold.zone == where.zone and hold.held_until > now for hold in held)
    return len(where.days.dates) == 1 and lasting and sum(hold.quantity for hold in held) == count


def sell_held_places(  # noqa: PLR0917 - places, their holds, and whose they are to be
    session: Session,
    event: events.Event,
    where: ZoneDays,
    held: Sequence[HoldRow],
    context: ActionContext,
    for_order: str,
) -> None:
    """Sell all places that these holds have, and convert them; Conflict `hold_expired` where they have ended since."""
    sold = places.sell_held(session, event.key, where.zone, sum(hold.quantity for hold in held))
    if not sold or len(ending.convert(session, held, context, for_order)) < len(held):
        raise hold_expired(session, event.key, [hold.id for hold in held])
    ending.record(session, event.number, held, context, dates=where.days.dates)
