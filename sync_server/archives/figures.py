"""The figures of an event that stay when its rows leave: tickets issued, admitted, no-shows; by type and by day."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sqlalchemy import ColumnElement, Table, and_, func, select
from sqlalchemy.orm import Session

from shared.wire.snapshot import MovementKind, TicketState
from sync_server.events.queries import Event
from sync_server.events.snapshot_rows import days
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.tables import Base

_STATES = {int(state): state.name.lower() for state in TicketState}


def figures_of(session: Session, event: Event) -> dict[str, Any]:
    """The figures, as the archive and the event's page show them."""
    by_type = _issued_by_type(session, event.key)
    admitted = _admitted_by_type(session, event.key)
    types = [_of_type(row, by_type, admitted) for row in _types(session, event.key)]
    return {
        "tickets": sum(one["tickets"] for one in types),
        "valid": sum(one["valid"] for one in types),
        "admitted": sum(one["admitted"] for one in types),
        "no_shows": sum(one["no_shows"] for one in types),
        "types": types,
        "days": [
            {"date": day.date, "admitted": _admitted_between(session, event.key, day.start, day.until)}
            for day in days(event)
        ],
        "answers": _answers(session, event.key),
    }


def _of_type(row: Any, by_type: Counter[tuple[int, int]], admitted: dict[int, int]) -> dict[str, Any]:
    states = {name: by_type[row.number, state] for state, name in _STATES.items()}
    came = admitted.get(row.number, 0)
    return {
        "number": row.number,
        "name": row.name,
        "tickets": sum(states.values()),
        **states,
        "admitted": came,
        "no_shows": max(0, states["valid"] - came),
    }


def _types(session: Session, event: EventKey) -> list[Any]:
    table = _table("ticket_types")
    wanted = select(table.c.number, table.c.name).where(_of(table, event)).order_by(table.c.number)
    return list(session.execute(wanted))


def _issued_by_type(session: Session, event: EventKey) -> Counter[tuple[int, int]]:
    table = _table("tickets")
    key = table.c.ticket_type, table.c.state
    rows = session.execute(select(*key, func.count()).where(_of(table, event)).group_by(*key))
    return Counter({(number, state): count for number, state, count in rows})


def _admitted_by_type(session: Session, event: EventKey) -> dict[int, int]:
    """How many tickets of each type were admitted at least once, as far as the server has heard."""
    moved, tickets = _table("scan_movements"), _table("tickets")
    same = and_(tickets.c.organisation_id == moved.c.organisation_id, tickets.c.id == moved.c.ticket)
    counted = select(tickets.c.ticket_type, func.count(moved.c.ticket.distinct())).select_from(
        moved.join(tickets, same)
    )
    here = _entered(moved, event), _of(tickets, event)
    return dict(session.execute(counted.where(*here).group_by(tickets.c.ticket_type)).all())


def _admitted_between(session: Session, event: EventKey, start: int, until: int) -> int:
    moved = _table("scan_movements")
    within = moved.c.at >= start, moved.c.at < until
    return session.execute(
        select(func.count(moved.c.ticket.distinct())).where(_entered(moved, event), *within)
    ).scalar_one()


def _entered(moved: Table, event: EventKey) -> ColumnElement[bool]:
    """Entries that nobody has taken back."""
    back = moved.alias()
    annulled = select(back.c.arrival).where(
        _of(back, event),
        back.c.kind == int(MovementKind.ANNULMENT),
        back.c.annuls_device == moved.c.device,
        back.c.annuls_branch == moved.c.branch,
        back.c.annuls_seq == moved.c.seq,
    )
    return and_(_of(moved, event), moved.c.kind == int(MovementKind.ENTRY), ~annulled.exists())


def _answers(session: Session, event: EventKey) -> dict[str, int]:
    """How often gates gave each answer."""
    table = _table("scan_counts")
    counted = select(table.c.reason, func.sum(table.c.n)).where(_of(table, event)).group_by(table.c.reason)
    return {reason: int(count) for reason, count in session.execute(counted.order_by(table.c.reason))}


def _table(name: str) -> Table:
    return Base.metadata.tables[name]


def _of(table: Any, event: EventKey) -> ColumnElement[bool]:
    return and_(table.c.organisation_id == event.organisation_id, table.c.event_id == event.event_id)
