"""Checks that all tables that count an event's seats and places agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from sync_server.events.days.chosen_days import dates_of, numbers
from sync_server.events.models import EventRecord

_VALID: Final = "tickets.state <> 1"  # not cancelled
_OPEN: Final = "status IN ('active', 'suspended')"

_PAIRS: Final[dict[str, str]] = {
    "tickets and the event's own count": f"""
        SELECT tickets_issued, (SELECT COUNT(*) FROM tickets WHERE event_id = events.id AND {_VALID}) FROM events
        WHERE id = :event
    """,
    "tickets and their type's count": f"""
        SELECT issued - reserved, (SELECT COUNT(*) FROM tickets WHERE event_id = ticket_types.event_id
        AND ticket_type = ticket_types.number AND {_VALID}) FROM ticket_types WHERE event_id = :event
    """,
    "sold seats and their tickets": f"""
        SELECT COUNT(*), (SELECT COUNT(*) FROM event_seats AS there JOIN tickets ON tickets.id = there.ticket_id
        AND tickets.event_id = there.event_id AND tickets.seat = there.seat
        WHERE there.event_id = :event AND there.state = 2 AND {_VALID})
        FROM event_seats WHERE event_id = :event AND state = 2
    """,
    "held seats and their holds": f"""
        SELECT COUNT(*), (SELECT COUNT(*) FROM event_seats AS there JOIN holds ON holds.id = there.hold_id
        AND holds.seat = there.seat AND holds.event_id = there.event_id
        WHERE there.event_id = :event AND there.state = 1 AND holds.{_OPEN})
        FROM event_seats WHERE event_id = :event AND state = 1
    """,
}

_ON_A_DAY: Final[dict[str, tuple[str, str, str]]] = {
    "tickets on seats and sold seats": (
        f"SELECT valid_days, 0, 1 FROM tickets WHERE event_id = :event AND seat > 0 AND {_VALID}",
        "SELECT day, 0, COUNT(*) FROM event_seats WHERE event_id = :event AND state = 2 GROUP BY day",
        "",
    ),
    "held seats and open holds": (
        f"SELECT days, 0, 1 FROM holds WHERE event_id = :event AND seat IS NOT NULL AND {_OPEN}",
        "SELECT day, 0, COUNT(*) FROM event_seats WHERE event_id = :event AND state = 1 GROUP BY day",
        "",
    ),
    "held places and open holds": (
        f"SELECT days, zone, quantity FROM holds WHERE event_id = :event AND seat IS NULL AND {_OPEN}",
        "SELECT day, zone, held FROM event_places WHERE event_id = :event",
        "",
    ),
    "sold places and tickets without a seat": (
        f"SELECT valid_days, zone, 1 FROM tickets WHERE event_id = :event AND seat = 0 AND {_VALID}",
        "SELECT day, zone, sold FROM event_places WHERE event_id = :event AND zone > 0",
        "SELECT zone FROM event_places WHERE event_id = :event AND zone > 0",
    ),
    "tickets of a type and the counts of days": (
        f"SELECT valid_days, ticket_type, 1 FROM tickets WHERE event_id = :event AND {_VALID}",
        "SELECT day, ticket_type, issued FROM event_day_counts WHERE event_id = :event AND ticket_type > 0",
        "SELECT ticket_type FROM event_day_counts WHERE event_id = :event AND ticket_type > 0",
    ),
    "tickets of all types and the counts of days": (
        f"SELECT valid_days, 0, 1 FROM tickets WHERE event_id = :event AND {_VALID}",
        "SELECT day, ticket_type, issued FROM event_day_counts WHERE event_id = :event AND ticket_type = 0",
        "SELECT ticket_type FROM event_day_counts WHERE event_id = :event AND ticket_type = 0",
    ),
}
"""What is for certain days (a bitmap, its kind, how many), what counts it day by day, and which kinds are counted."""

_EXCESSES: Final[dict[str, str]] = {
    "more tickets of a type than its quantity": """
        SELECT number, issued, quantity FROM ticket_types WHERE event_id = :event AND quantity > 0 AND issued > quantity
        AND NOT EXISTS (SELECT 1 FROM event_day_counts WHERE event_id = :event)
    """,
    "more tickets of a type for a day than its quantity": """
        SELECT number, counts.issued, quantity FROM ticket_types JOIN event_day_counts AS counts
        ON counts.event_id = ticket_types.event_id AND counts.ticket_type = number
        WHERE ticket_types.event_id = :event AND quantity > 0 AND counts.issued > quantity
    """,
    "more tickets than the event's capacity": """
        SELECT least_issued, capacity FROM events WHERE id = :event AND capacity > 0 AND least_issued > capacity
    """,
    "more tickets for a day than the event's capacity": """
        SELECT day, issued, capacity FROM events JOIN event_day_counts ON event_id = id AND ticket_type = 0
        WHERE id = :event AND capacity > 0 AND issued > capacity
    """,
}


def disagreements(session: Session, event_id: str) -> list[str]:
    """Every pair of counts of this event that differ, and everything sold twice or beyond a limit, on any day."""
    found = []
    for name, query in _PAIRS.items():
        rows: list[Any] = list(session.execute(text(query), {"event": event_id}))
        found += [f"{name}: {one} and {other}" for one, other in rows if int(one) != int(other)]
    for name, query in _EXCESSES.items():
        found += [f"{name}: {tuple(row)}" for row in session.execute(text(query), {"event": event_id})]
    row = session.execute(select(EventRecord).where(EventRecord.id == event_id)).scalar_one()
    return found + list(_days_that_differ(session, event_id, len(dates_of(row))))


def _days_that_differ(session: Session, event_id: str, days: int) -> Iterator[str]:
    for name, (having, counting, kinds) in _ON_A_DAY.items():
        expected: Counter[tuple[int, int]] = Counter()
        for bits, kind, count in session.execute(text(having), {"event": event_id}):
            expected.update({(day, kind): count for day in numbers(int(bits, 16), days)})
        counted = {(day, kind): int(n) for day, kind, n in session.execute(text(counting), {"event": event_id}) if n}
        if kinds:
            counted_kinds = set(session.execute(text(kinds), {"event": event_id}).scalars())
            expected = Counter({key: count for key, count in expected.items() if key[1] in counted_kinds})
        if +expected != Counter(counted):
            yield f"{name}: {dict(expected)} and {counted}"
    doubled = f"SELECT seat, valid_days FROM tickets WHERE event_id = :event AND seat > 0 AND {_VALID}"
    seats = Counter(
        (seat, day)
        for seat, bits in session.execute(text(doubled), {"event": event_id})
        for day in numbers(int(bits, 16), days)
    )
    for (seat, day), count in seats.items():
        if count > 1:
            yield f"{count} tickets on seat {seat} on day {day}"
