"""Public reads of events of all organisations; fields for organisers only are left out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from sync_server.events.models import EventRecord
from sync_server.events.queries import VISIBLE_STATUSES
from sync_server.plumbing.database import database_of
from sync_server.plumbing.sql.prepared import Prepared, among, placeholder

_CARD_COLUMNS: Final = (
    EventRecord.number,
    EventRecord.id,
    EventRecord.organisation_id,
    EventRecord.slug,
    EventRecord.name,
    EventRecord.category,
    EventRecord.status,
    EventRecord.start_at,
    EventRecord.end_at,
    EventRecord.doors_at,
    EventRecord.rescheduled_at,
    EventRecord.sale_start_at,
    EventRecord.sale_end_at,
    EventRecord.timezone,
    EventRecord.venue_name,
    EventRecord.city,
    EventRecord.country,
    EventRecord.capacity,
    EventRecord.tickets_issued,
    EventRecord.least_issued,
    EventRecord.venue_capacity,
    EventRecord.layout_capacity,
    EventRecord.cover_images,
    EventRecord.cover_alts,
    EventRecord.participants_elsewhere,
    EventRecord.cutover_hour,
)
_PAGE_COLUMNS: Final = (
    *_CARD_COLUMNS,
    EventRecord.description,
    EventRecord.address,
    EventRecord.replaced_by_event_id,
)
_VISIBLE: Final = EventRecord.status.in_(VISIBLE_STATUSES)
_PAGE: Final = Prepared(select(*_PAGE_COLUMNS).where(EventRecord.id == placeholder("id"), _VISIBLE))

Event = EventRecord
"""An event's row, as other domains may read it within their transaction."""
Card = Any
"""A row with the columns of an event, as the driver returns it."""


@cache
def _cards(*, embedded: bool) -> Prepared:
    return Prepared(select(*_CARD_COLUMNS).where(among(EventRecord.number, "numbers", embedded=embedded)))


def listing_fields(session: Session, event_id: str, organisation_id: str | None = None) -> EventRecord | None:
    """What decides whether and where an event is listed; of any organisation where none is given."""
    statement = select(EventRecord).where(EventRecord.id == event_id)
    if organisation_id is not None:
        statement = statement.where(EventRecord.organisation_id == organisation_id)
    return session.execute(statement).scalar_one_or_none()


def cards(session: Session, numbers: Sequence[int]) -> list[Card]:
    """What lists show of these events, in this order; events that visitors may not see are left out."""
    if not numbers:
        return []
    found = _cards(embedded=database_of(session).embedded).rows(session, numbers=[*numbers])
    # Filtered here: with the status in the query, SQLite, which has no statistics, would read all published events.
    visible = {row.number: row for row in found if row.status in VISIBLE_STATUSES}
    return [visible[number] for number in numbers if number in visible]


def page(session: Session, event_id: str) -> Card | None:
    """What the event's own page shows; None for events that visitors may not see."""
    return next(iter(_PAGE.rows(session, id=event_id)), None)


def ids_of_slug(session: Session, slug: str, organisation_id: str | None) -> Sequence[str]:
    """At most two ids of visible events with this slug, which is unique only within an organisation."""
    statement = select(EventRecord.id).where(EventRecord.slug == slug, EventRecord.status.in_(VISIBLE_STATUSES))
    if organisation_id is not None:
        statement = statement.where(EventRecord.organisation_id == organisation_id)
    return session.execute(statement.limit(2)).scalars().all()
