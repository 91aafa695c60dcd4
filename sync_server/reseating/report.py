"""The report of a move: its counts, and a step for each ticket that changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import count
from typing import Any

from sync_server.plumbing.sql.bulk import Row
from sync_server.reseating.proposal import Proposal
from sync_server.tickets.queries import SeatedTicket


def report(proposal: Proposal, *, holds: int) -> dict[str, Any]:
    """The report as stored, without its steps."""
    plan = proposal.plan
    return {
        "from_version": proposal.before.version,
        "to_version": proposal.after.version,
        "counts": {
            "seated": len(proposal.guests),
            "stay": len(plan.stays),
            "move": len(plan.moves),
            "unplaced": len(plan.unplaced) + sum(zone.sold for zone in proposal.places if not zone.fits),
            "new_codes": sum(proposal.new_code(guest) for guest in proposal.guests),
            "other_price_category": _other_price(proposal),
            "holds": holds,
        },
        "zones": [
            {"zone": zone.name, "sold": zone.sold, "capacity": zone.capacity, "fits": zone.fits}
            for zone in proposal.places
        ],
        "came_along": dict(proposal.carried.counts),
        "left_behind": [asdict(item) for item in proposal.carried.lost],
    }


def steps(proposal: Proposal, reseating_id: str) -> Iterator[Row]:
    """A row for each ticket that changes; it holds ids only, no personal details."""
    place = count(1)
    for guest in proposal.guests:
        why = proposal.plan.unplaced.get(guest.id, "")
        seat = None if why else proposal.plan.seat(guest.id)
        if seat is None or _changes(proposal, guest, seat):
            yield {
                "organisation_id": proposal.organisation_id,
                "reseating_id": reseating_id,
                "place": next(place),
                "ticket_id": guest.id,
                "old_seat": guest.seat,
                "new_seat": seat,
                "moves": guest.id in proposal.plan.moves,
                "new_code": not why and proposal.new_code(guest),
                "flags": proposal.flags.get(guest.id, guest.flags),
                "why": why,
            }


def _changes(proposal: Proposal, guest: SeatedTicket, seat: int) -> bool:
    """Whether the seat details or the code of the ticket change."""
    old, new = proposal.before.layout.seat(guest.seat), proposal.after.layout.seat(seat)
    before = old.number, old.name, old.section, old.row, old.seat_number, proposal.before.zone_of(guest.seat)
    after = new.number, new.name, new.section, new.row, new.seat_number, proposal.after.zone_of(seat)
    return before != after or proposal.new_code(guest)


def _other_price(proposal: Proposal) -> int:
    return sum(
        proposal.after.layout.price_category(proposal.plan.seat(guest.id))
        != proposal.before.layout.price_category(guest.seat)
        for guest in proposal.guests
        if guest.id not in proposal.plan.unplaced
    )
