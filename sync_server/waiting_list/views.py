"""Reads all that responses about waiting lists show."""

from __future__ import annotations

from sqlalchemy.orm import Session

from sync_server.events import queries as events
from sync_server.events import rules as event_rules
from sync_server.plumbing.api.schemas import iso
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sealing import Sealer
from sync_server.seating.plans.seat_plans import find_event_plan
from sync_server.tickets import queries as tickets
from sync_server.waiting_list import links, queries
from sync_server.waiting_list.models import WaitingListRow, WaitingOfferRow, WaitingPartyRow
from sync_server.waiting_list.schemas import (
    ListedOffer,
    ListedOffers,
    ListedParties,
    ListedParty,
    OfferOfPlaces,
    PartyView,
    WaitingListView,
)


def list_view(session: Session, event: EventKey, row: WaitingListRow | None) -> WaitingListView:
    """The list of an event; a closed one where it has none."""
    minutes = row.offer_minutes if row is not None else 0
    counts = queries.count_by_state(session, event)
    return WaitingListView(open=row is not None and row.open, offer_minutes=minutes, parties=counts)


def party_view(session: Session, row: WaitingPartyRow, sealer: Sealer) -> PartyView:
    """A party, as its members see it."""
    offer = queries.open_offer(session, row.organisation_id, row.id)
    return PartyView.of(
        row,
        secret=links.secret_of(sealer, row.organisation_id, row.id),
        position=queries.position(session, row),
        event_mark=event_rules.mark(events.event(session, row.organisation_id, row.event_id)),
        offer=None if offer is None else _offer(session, offer),
    )


def _offer(session: Session, row: WaitingOfferRow) -> OfferOfPlaces:
    plan = find_event_plan(session, row.organisation_id, row.event_id)
    kind = tickets.ticket_type(session, row.organisation_id, row.event_id, row.ticket_type)
    zone = plan.zones.get(row.zone) if plan is not None else None
    return OfferOfPlaces(
        id=row.id,
        ticket_type=row.ticket_type,
        ticket_type_name=kind.name,
        zone_name=zone.name if zone is not None else "",
        seats=plan.layout.names_of(row.seats) if plan is not None else [],
        ends_at=iso(row.ends_at),
    )


def listed_parties(session: Session, event: EventKey, *, limit: int, after: str | None) -> ListedParties:
    """A page of the parties of a list, as the organiser sees them."""
    page = queries.parties(session, event, limit=limit, after=after)
    return ListedParties(items=[ListedParty.of(row) for row in page.items], next=page.next)


def listed_offers(session: Session, event: EventKey, *, limit: int, after: str | None) -> ListedOffers:
    """A page of the offers of a list, as the organiser sees them."""
    page = queries.offers(session, event, limit=limit, after=after)
    items = [ListedOffer.of(offer, seq=party.seq, size=party.size) for offer, party in page.items]
    return ListedOffers(items=items, next=page.next)
