"""Events as organisers see them: their rows, and what other packages know of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events import schemas
from sync_server.events.dependents import EventPorts
from sync_server.events.models import EventRecord
from sync_server.events.schemas import EventView
from sync_server.events.snapshot_rows import days
from sync_server.plumbing.ports import ports_of


def event_views(
    session: Session, rows: Sequence[EventRecord], now: Millis, joined: Mapping[str, int] | None = None
) -> list[EventView]:
    """Events as organisers see them, in the given order; `joined` counts who joined elsewhere, by event."""
    several_days = {row.key: len(days(row)) > 1 for row in rows}
    for_sale = ports_of(session, EventPorts).for_sale(session, several_days, now)
    return [schemas.event_view(row, for_sale.get(row.key), now, joined) for row in rows]


def event_view(session: Session, row: EventRecord, now: Millis, joined: Mapping[str, int] | None = None) -> EventView:
    """An event as organisers see it."""
    (view,) = event_views(session, [row], now, joined)
    return view
