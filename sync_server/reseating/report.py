"""The report of a move: who stays, who sits where from now on, who finds no seat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from sync_server.reseating.proposal import Proposal
from sync_server.tickets.queries import public_id


def report(found: Proposal, *, holds: int) -> dict[str, Any]:
    """As it is kept; tickets by id and number, never by name."""
    plan = found.plan
    return {
        "from_version": found.before.version,
        "to_version": found.after.version,
        "counts": {
            "seated": len(found.guests),
            "stay": len(plan.stays),
            "move": len(plan.moves),
            "unplaced": len(plan.unplaced) + sum(zone.sold for zone in found.places if not zone.fits),
            "new_codes": found.new_codes,
            "other_price_category": _other_price(found),
            "holds": holds,
        },
        "moves": list(_moves(found)),
        "unplaced": list(_unplaced(found)),
        "zones": [
            {"zone": zone.name, "sold": zone.sold, "capacity": zone.capacity, "fits": zone.fits}
            for zone in found.places
        ],
        "came_along": dict(found.along.kept),
        "left_behind": [asdict(lost) for lost in found.along.lost],
    }


def _moves(found: Proposal) -> Iterator[dict[str, Any]]:
    for guest in found.guests:
        to = found.plan.moves.get(guest.id)
        if to is not None:
            seat = found.after.seats[to.number]
            yield {
                "ticket": public_id(guest.id),
                "number": guest.number,
                "from": found.before.seats[guest.seat].seat_id,
                "to": seat.seat_id,
                "zone": found.after.zones[seat.zone].name,
            }


def _unplaced(found: Proposal) -> Iterator[dict[str, Any]]:
    for guest in found.guests:
        why = found.plan.unplaced.get(guest.id)
        if why is not None:
            seat = found.before.seats[guest.seat].seat_id
            yield {"ticket": public_id(guest.id), "number": guest.number, "from": seat, "reason": why}


def _other_price(found: Proposal) -> int:
    seats = found.seats
    return sum(
        found.after.seats[seats[guest.id]].price_category != found.before.seats[guest.seat].price_category
        for guest in found.guests
        if guest.id in seats
    )
