"""What may be told of events to anybody: of all organisations, and never a field that is only for organisers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.lifecycle import ALLOWS, EventStatus
from sync_server.events.models import EventRecord
from sync_server.events.rules import Selling, bound, sale_status
from sync_server.plumbing.database import of
from sync_server.plumbing.prepared import Prepared, among, place

VISIBLE: Final = tuple(status.value for status in EventStatus if ALLOWS[status].show)

_OF_CARDS: Final = (
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
    EventRecord.venue_capacity,
    EventRecord.layout_room,
    EventRecord.cover_images,
    EventRecord.cover_alts,
    EventRecord.participants_elsewhere,
)
_OF_PAGES: Final = (*_OF_CARDS, EventRecord.description, EventRecord.address, EventRecord.replaced_by_event_id)
_SEEN: Final = EventRecord.status.in_(VISIBLE)
_PAGE: Final = Prepared(select(*_OF_PAGES).where(EventRecord.id == place("id"), _SEEN))

Card = Any
"""Columns of an event by their names, as the driver gives them."""


@cache
def _cards(*, embedded: bool) -> Prepared:
    return Prepared(select(*_OF_CARDS).where(among(EventRecord.number, "numbers", embedded=embedded)))


@dataclass(frozen=True, slots=True)
class ListedFacts:
    """What decides whether and where an event is listed."""

    number: int
    event_id: str
    organisation_id: str
    status: EventStatus
    start_at: Millis
    end_at: Millis
    rescheduled_at: Millis | None
    end_at_auto: Millis | None
    city: str
    city_norm: str
    category: str
    search_text: str


def listed_facts(session: Session, event_id: str) -> ListedFacts | None:
    """The same of one event of any organisation and any status."""
    row = session.get(EventRecord, event_id)
    if row is None:
        return None
    return ListedFacts(
        row.number,
        row.id,
        row.organisation_id,
        EventStatus(row.status),
        row.start_at,
        row.end_at,
        row.rescheduled_at,
        row.end_at_auto,
        row.city,
        row.city_norm,
        row.category,
        row.search_text,
    )


def cards(session: Session, numbers: Sequence[int]) -> list[Card]:
    """What lists show of these events, in this order; those that visitors may not see are left out."""
    if not numbers:
        return []
    found = _cards(embedded=of(session).embedded).rows(session, numbers=[*numbers])
    # Not asked of the database: SQLite, which nobody tells how many events are published, would read them all for it.
    known = {row.number: row for row in found if row.status in VISIBLE}
    return [known[number] for number in numbers if number in known]


def page(session: Session, event_id: str) -> Card | None:
    """What its own page shows of an event that visitors may see."""
    return next(iter(_PAGE.rows(session, id=event_id)), None)


def ids_of_slug(session: Session, slug: str, organisation_id: str | None) -> Sequence[str]:
    """Ids, two at most, of visible events by their slug, which is unique within an organisation only."""
    wanted = select(EventRecord.id).where(EventRecord.slug == slug, EventRecord.status.in_(VISIBLE))
    if organisation_id is not None:
        wanted = wanted.where(EventRecord.organisation_id == organisation_id)
    return session.execute(wanted.limit(2)).scalars().all()


def sale_status_of(card: Card, now: Millis) -> str:
    """upcoming, on_sale, sold_out or closed."""
    selling = Selling(
        EventStatus(card.status),
        card.rescheduled_at,
        card.sale_start_at,
        card.sale_end_at,
        bound(card.capacity, card.venue_capacity, card.layout_room),
        card.tickets_issued,
    )
    return sale_status(selling, now)
