"""Marks the seats and places of tickets as sold, and releases those of cancelled tickets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.holds.selling import inventory
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.tickets.issuance.issue_request import IssueRequest
from sync_server.tickets.issuance.layout import IssuingLayout, issuing_layout
from sync_server.tickets.models import TicketRecord


def sell_inventory(
    session: Session,
    layout: IssuingLayout,
    tickets: Sequence[TicketRecord],
    request: IssueRequest,
    context: ActionContext,
) -> None:
    """Sell the seats or places of these tickets, all of them or none.

    They come from the holds of the request, which are converted, or from free inventory; Conflict names unavailable
    seats.
    """
    where, holds = (layout.organisation_id, layout.event_id), request.holds
    seats = {row.seat: row.id for row in tickets if row.seat}
    if seats:
        days = {row.seat: row.valid_days for row in tickets if row.seat}
        inventory.sell(
            session,
            *where,
            seats,
            context,
            holds=holds,
            held=request.held,
            for_order=request.for_order,
            days=days,
        )
    places = Counter((layout.places_zone(row.zone), row.valid_days) for row in tickets if not row.seat)
    for zone, bits, count in sorted((zone, bits, n) for (zone, bits), n in places.items() if zone is not None):
        inventory.sell_places(
            session,
            *where,
            zone,
            count,
            context,
            holds=holds,
            held=request.held,
            days=bits,
            for_order=request.for_order,
        )


def release_inventory(session: Session, row: TicketRecord, now: Millis) -> None:
    """Release the seat or place of a cancelled ticket."""
    if row.seat:
        inventory.free(session, row.organisation_id, row.event_id, [row.id])
        return
    layout = issuing_layout(session, row.organisation_id, row.event_id, now)
    zone = layout.places_zone(row.zone) if layout else None
    if zone is not None:
        inventory.free_places(session, row.organisation_id, row.event_id, zone, 1, row.valid_days)
