"""What visitors are shown of an event, field by field: a new column stays inside until somebody names it here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.accounts import queries as accounts
from sync_server.events import public_queries as events
from sync_server.events.public_queries import Card
from sync_server.outbox import queries as outbox
from sync_server.plumbing.prepared import from_json
from sync_server.plumbing.shapes import iso, iso_or_none


@dataclass(frozen=True, slots=True)
class Around:
    """What other rooms know of the events that are shown."""

    owners: Mapping[str, tuple[str, str]]
    elsewhere: Mapping[str, int]
    now: Millis


def items(session: Session, cards: Sequence[Card], now: Millis) -> list[dict[str, Any]]:
    """The events as lists show them, in this order."""
    if not cards:
        return []
    told = [card.id for card in cards if card.participants_elsewhere]
    owners = accounts.names(session, {card.organisation_id for card in cards})
    around = Around(owners, outbox.joined_elsewhere(session, told) if told else {}, now)
    return [_item(card, around) for card in cards]


def whole(session: Session, card: Card, now: Millis) -> dict[str, Any]:
    """The event as its own page shows it."""
    (item,) = items(session, [card], now)
    other = card.replaced_by_event_id
    instead = events.page(session, other) if other else None
    return item | {
        "description": card.description,
        "address": card.address,
        "replaced_by": {"id": instead.id, "slug": instead.slug} if instead else None,
    }


def _item(card: Card, around: Around) -> dict[str, Any]:
    slug, name = around.owners[card.organisation_id]
    return {
        "id": card.id,
        "slug": card.slug,
        "name": card.name,
        "category": card.category,
        "organisation": {"slug": slug, "name": name},
        "status": card.status,
        "sale_status": events.sale_status_of(card, around.now),
        "start_at": iso(card.start_at),
        "end_at": iso(card.end_at),
        "doors_at": iso_or_none(card.doors_at),
        "rescheduled_at": iso_or_none(card.rescheduled_at),
        "sale_start_at": iso_or_none(card.sale_start_at),
        "sale_end_at": iso(card.sale_end_at),
        "timezone": card.timezone,
        "venue_name": card.venue_name,
        "city": card.city,
        "country": card.country,
        "covers": _covers(card),
        "participants": _participants(card, around.elsewhere),
    }


def _covers(card: Card) -> list[dict[str, str]]:
    images, alts = from_json(card.cover_images), from_json(card.cover_alts)
    return [{"id": id, "alt": alts.get(id, "")} for id in images]


def _participants(card: Card, elsewhere: Mapping[str, int]) -> int:
    """Those who bought here, unless joining happens elsewhere."""
    return elsewhere.get(card.id, 0) if card.participants_elsewhere else int(card.tickets_issued)
