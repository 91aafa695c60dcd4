"""Checks that all tables that count an event's seats and places agree."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import text
from sqlalchemy.orm import Session

_VALID: Final = "tickets.state <> 1"  # not cancelled

_PAIRS: Final[dict[str, str]] = {
    "tickets and the event's own count": f"""
        SELECT tickets_issued, (SELECT COUNT(*) FROM tickets WHERE event_id = events.id AND {_VALID}) FROM events
        WHERE id = :event
    """,
    "tickets and their type's count": f"""
        SELECT issued, (SELECT COUNT(*) FROM tickets WHERE event_id = ticket_types.event_id
        AND ticket_type = ticket_types.number AND {_VALID}) FROM ticket_types WHERE event_id = :event
    """,
    "tickets on seats and sold seats": f"""
        SELECT (SELECT COUNT(*) FROM tickets WHERE event_id = :event AND seat > 0 AND {_VALID}),
        (SELECT COUNT(*) FROM event_seats WHERE event_id = :event AND state = 2)
    """,
    "sold seats and their tickets": f"""
        SELECT COUNT(*), (SELECT COUNT(*) FROM event_seats AS there JOIN tickets ON tickets.id = there.ticket_id
        AND tickets.event_id = there.event_id AND tickets.seat = there.seat
        WHERE there.event_id = :event AND there.state = 2 AND {_VALID})
        FROM event_seats WHERE event_id = :event AND state = 2
    """,
    "held seats and open holds": """
        SELECT (SELECT COUNT(*) FROM event_seats WHERE event_id = :event AND state = 1),
        (SELECT COUNT(*) FROM holds WHERE event_id = :event AND seat IS NOT NULL AND status IN ('active', 'suspended'))
    """,
    "held seats and their holds": """
        SELECT COUNT(*), (SELECT COUNT(*) FROM event_seats AS there JOIN holds ON holds.id = there.hold_id
        AND holds.seat = there.seat AND holds.event_id = there.event_id
        WHERE there.event_id = :event AND there.state = 1 AND holds.status IN ('active', 'suspended'))
        FROM event_seats WHERE event_id = :event AND state = 1
    """,
    "held places and open holds": """
        SELECT COALESCE((SELECT SUM(held) FROM event_places WHERE event_id = :event), 0),
        COALESCE((SELECT SUM(quantity) FROM holds WHERE event_id = :event AND seat IS NULL
        AND status IN ('active', 'suspended')), 0)
    """,
    "sold places and tickets without a seat": f"""
        SELECT sold, (SELECT COUNT(*) FROM tickets WHERE event_id = :event AND seat = 0
        AND zone = event_places.zone AND {_VALID}) FROM event_places WHERE event_id = :event AND zone > 0
    """,
}

_EXCESSES: Final[dict[str, str]] = {
    "more tickets of a type than its quantity": """
        SELECT number, issued, quantity FROM ticket_types WHERE event_id = :event AND quantity > 0 AND issued > quantity
    """,
    "more tickets than the event's capacity": """
        SELECT tickets_issued, capacity FROM events WHERE id = :event AND capacity > 0 AND tickets_issued > capacity
    """,
    "two tickets on one seat": f"""
        SELECT seat, COUNT(*) FROM tickets WHERE event_id = :event AND seat > 0 AND {_VALID}
        GROUP BY seat HAVING COUNT(*) > 1
    """,
}


def disagreements(session: Session, event_id: str) -> list[str]:
    """Every pair of counts of this event that differ, and everything sold twice or beyond a limit."""
    found = []
    for name, query in _PAIRS.items():
        rows: list[Any] = list(session.execute(text(query), {"event": event_id}))
        found += [f"{name}: {one} and {other}" for one, other in rows if int(one) != int(other)]
    for name, query in _EXCESSES.items():
        found += [f"{name}: {tuple(row)}" for row in session.execute(text(query), {"event": event_id})]
    return found
