"""The fingerprint of a move: equal if and only if the same move was planned from the same data."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass

import orjson
from sqlalchemy.orm import Session

from sync_server.seating import queries, rules
from sync_server.seating.event_layouts import LayoutChoice
from sync_server.tickets import queries as tickets
from sync_server.tickets.queries import SeatedTicket


@dataclass(frozen=True, slots=True)
class ResolvedMove:
    """A move of an event's guests, including what is carried over from the old layout."""

    organisation_id: str
    event_id: str
    chosen: LayoutChoice
    any_price: bool


def fingerprint(session: Session, move: ResolvedMove, guests: Iterable[SeatedTicket]) -> str:
    """A hash of everything that the plan depends on: the same fingerprint means the same plan."""
    current = queries.event_layout(session, move.organisation_id, move.event_id)
    policy = rules.effective(queries.policy(session, move.organisation_id), move.chosen.seating_overrides)
    types = [(kind.number, kind.flags) for kind in tickets.ticket_types(session, move.organisation_id, move.event_id)]
    inputs = [
        current.revision,
        current.layout_id,
        asdict(move.chosen),
        move.any_price,
        asdict(policy.accessibility()),
        types,
        sorted(tickets.count_seatless(session, move.organisation_id, move.event_id).items()),
    ]
    digest = hashlib.sha256(orjson.dumps(inputs, option=orjson.OPT_SORT_KEYS))
    for guest in guests:
        digest.update(orjson.dumps(guest))  # a dataclass, with all of its fields
    return digest.hexdigest()
