"""Events as visitors get them, field by field: a new column stays private until it is named here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.accounts import queries as accounts
from sync_server.events import public_queries as events
from sync_server.events.public_queries import Card
from sync_server.events.rules import mark, sale_status
from sync_server.events.snapshot_rows import days
from sync_server.outbox import queries as outbox
from sync_server.plumbing.api.schemas import iso, iso_or_none
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.prepared import from_json
from sync_server.tickets.types import in_lists
from sync_server.tickets.types.in_lists import InList, Offered


@dataclass(frozen=True, slots=True)
class Related:
    """What other packages know about the events."""

    organisers: Mapping[str, tuple[str, str]]  # slug and name
    joined: Mapping[str, int]
    tickets: Mapping[EventKey, InList]  # events without any are left out
    now: Millis


def card_payloads(session: Session, cards: Sequence[Card], now: Millis) -> list[dict[str, Any]]:
    """The events as lists show them, in the given order."""
    if not cards:
        return []
    joinable = [card.id for card in cards if card.participants_elsewhere]
    organisers = accounts.names(session, {card.organisation_id for card in cards})
    joined = outbox.joined_elsewhere(session, joinable) if joinable else {}
    several_days = {_key(card): len(days(card)) > 1 for card in cards}
    related = Related(organisers, joined, in_lists.in_lists(session, several_days, now), now)
    return [_item(card, related) for card in cards]


def page_payload(session: Session, card: Card, now: Millis) -> dict[str, Any]:
    """The event as its own page shows it."""
    (item,) = card_payloads(session, [card], now)
    replacement_id = card.replaced_by_event_id
    replacement = events.page(session, replacement_id) if replacement_id else None
    return item | {
        "description": card.description,
        "address": card.address,
        "days": [day.date for day in days(card)],
        "replaced_by": {"id": replacement.id, "slug": replacement.slug} if replacement else None,
    }


def _item(card: Card, related: Related) -> dict[str, Any]:
    slug, name = related.organisers[card.organisation_id]
    tickets = related.tickets.get(_key(card))
    return {
        "id": card.id,
        "slug": card.slug,
        "name": card.name,
        "category": card.category,
        "organisation": {"slug": slug, "name": name},
        "status": card.status,
        "sale_status": sale_status(card, None if tickets is None else tickets.for_sale, related.now),
        "offer": None if tickets is None or tickets.offered is None else _offer(tickets.offered),
        "mark": mark(card),
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
        "participants": _participants(card, related.joined),
    }


def _key(card: Card) -> EventKey:
    return EventKey(card.organisation_id, card.id)


def _offer(offered: Offered) -> dict[str, Any]:
    return asdict(offered) | {"begins_at": iso_or_none(offered.begins_at)}


def _covers(card: Card) -> list[dict[str, str]]:
    images, alts = from_json(card.cover_images), from_json(card.cover_alts)
    return [{"id": id, "alt": alts.get(id, "")} for id in images]


def _participants(card: Card, joined: Mapping[str, int]) -> int:
    """Tickets issued here, or joins elsewhere if that is where people join."""
    return joined.get(card.id, 0) if card.participants_elsewhere else int(card.tickets_issued)
