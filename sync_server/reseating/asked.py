"""What a report was made of, as a fingerprint: the same if, and only if, the same was asked of the same house."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass

import orjson
from sqlalchemy.orm import Session

from sync_server.seating import queries, rules
from sync_server.seating.event_layouts import Chosen
from sync_server.tickets import queries as tickets
from sync_server.tickets.queries import SeatedTicket


@dataclass(frozen=True, slots=True)
class Asked:
    """A move of an event's guests, with all that came along from the old layout."""

    organisation_id: str
    event_id: str
    chosen: Chosen
    any_price: bool


def fingerprint(session: Session, asked: Asked, guests: Iterable[SeatedTicket]) -> str:
    """Of everything from which a plan follows: whoever finds the same again would plan the same."""
    present = queries.event_layout(session, asked.organisation_id, asked.event_id)
    policy = rules.effective(queries.policy(session, asked.organisation_id), asked.chosen.seating_overrides)
    types = [(kind.number, kind.flags) for kind in tickets.ticket_types(session, asked.event_id)]
    of_all = [
        present.revision,
        present.layout_id,
        asdict(asked.chosen),
        asked.any_price,
        asdict(policy.care()),
        types,
        sorted(tickets.seatless(session, asked.event_id).items()),
    ]
    mark = hashlib.sha256(orjson.dumps(of_all, option=orjson.OPT_SORT_KEYS))
    for each in guests:
        mark.update(orjson.dumps(each))  # a dataclass, with all of its fields
    return mark.hexdigest()
