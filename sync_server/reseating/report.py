"""The report of a move: who stays, who sits where from now on, who finds no seat; its figures, and a step a ticket."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import count
from typing import Any

from sync_server.plumbing.many import Row
from sync_server.reseating.proposal import Proposal
from sync_server.tickets.queries import SeatedTicket


def report(found: Proposal, *, holds: int) -> dict[str, Any]:
    """As it is kept, without its steps."""
    plan = found.plan
    return {
        "from_version": found.before.version,
        "to_version": found.after.version,
        "counts": {
            "seated": len(found.guests),
            "stay": len(plan.stays),
            "move": len(plan.moves),
            "unplaced": len(plan.unplaced) + sum(zone.sold for zone in found.places if not zone.fits),
            "new_codes": sum(found.new_code(guest) for guest in found.guests),
            "other_price_category": _other_price(found),
            "holds": holds,
        },
        "zones": [
            {"zone": zone.name, "sold": zone.sold, "capacity": zone.capacity, "fits": zone.fits}
            for zone in found.places
        ],
        "came_along": dict(found.along.kept),
        "left_behind": [asdict(lost) for lost in found.along.lost],
    }


def steps(found: Proposal, reseating_id: str) -> Iterator[Row]:
    """A row for each ticket for which anything changes; tickets by their ids, never by name."""
    place = count(1)
    for guest in found.guests:
        why = found.plan.unplaced.get(guest.id, "")
        seat = None if why else found.plan.seat(guest.id)
        if seat is None or _changes(found, guest, seat):
            yield {
                "reseating_id": reseating_id,
                "place": next(place),
                "ticket_id": guest.id,
                "old_seat": guest.seat,
                "new_seat": seat,
                "moves": guest.id in found.plan.moves,
                "new_code": not why and found.new_code(guest),
                "flags": found.flags.get(guest.id, guest.flags),
                "why": why,
            }


def _changes(found: Proposal, guest: SeatedTicket, seat: int) -> bool:
    """Whether the ticket's row, or its code, says anything else from now on."""
    old, new = found.before.seats[guest.seat], found.after.seats[seat]
    was = old.number, old.seat_id, old.section, old.row, old.seat_number, found.before.zone_of(guest.seat)
    now = new.number, new.seat_id, new.section, new.row, new.seat_number, found.after.zone_of(seat)
    return was != now or found.new_code(guest)


def _other_price(found: Proposal) -> int:
    return sum(
        found.after.seats[found.plan.seat(guest.id)].price_category != found.before.seats[guest.seat].price_category
        for guest in found.guests
        if guest.id not in found.plan.unplaced
    )
