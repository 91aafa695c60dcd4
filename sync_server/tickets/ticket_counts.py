"""Counts of tickets by event, key and state: kept with every change of a ticket, so that no page counts tickets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from sqlalchemy import Select, func, select, tuple_
from sqlalchemy.orm import Session

from shared.wire.snapshot import TicketState
from sync_server.plumbing import sums
from sync_server.plumbing.event_key import EventKey
from sync_server.tickets.models import TicketCountRecord, TicketRecord


def count_new(session: Session, tickets: Iterable[TicketRecord]) -> None:
    """Count tickets that are issued with this transaction."""
    for row in tickets:
        _add(session, row, row.key_id, row.state, 1)


def count_state(session: Session, row: TicketRecord, before: TicketState) -> None:
    """Count a ticket that was in another state."""
    _add(session, row, row.key_id, int(before), -1)
    _add(session, row, row.key_id, row.state, 1)


def count_key(session: Session, row: TicketRecord, before: int) -> None:
    """Count a ticket that another key had signed."""
    _add(session, row, before, row.state, -1)
    _add(session, row, row.key_id, row.state, 1)


def counts(session: Session, event: EventKey) -> dict[str, int]:
    """The number of an event's tickets by state."""
    row = TicketCountRecord
    counted = select(row.state, func.sum(row.n)).where(event.of(row)).group_by(row.state).order_by(row.state)
    return {TicketState(state).name.lower(): int(n) for state, n in session.execute(counted) if n}


def active_ticket_counts(session: Session, events: Collection[EventKey]) -> dict[str, int]:
    """The number of tickets per event that are not cancelled; events without any are left out."""
    if not events:
        return {}  # SQLite would read every count to find that none is of no event
    row = TicketCountRecord
    these = tuple_(row.organisation_id, row.event_id).in_(events), row.state != TicketState.CANCELLED
    counted = select(row.event_id, func.sum(row.n)).where(*these).group_by(row.event_id)
    return {event_id: int(n) for event_id, n in session.execute(counted) if n}


def signed_by_keys(session: Session, organisation_id: str) -> Mapping[int, int]:
    """How many tickets signed by each key are not cancelled; keys without any may be left out."""
    row = TicketCountRecord
    alive = row.organisation_id == organisation_id, row.state != TicketState.CANCELLED
    return {
        key: int(n)
        for key, n in session.execute(select(row.key_id, func.sum(row.n)).where(*alive).group_by(row.key_id))
    }


def signed_by(session: Session, organisation_id: str, key_id: int) -> int:
    """How many tickets signed by one key are not cancelled."""
    row = TicketCountRecord
    alive = row.organisation_id == organisation_id, row.key_id == key_id, row.state != TicketState.CANCELLED
    return int(session.execute(select(func.sum(row.n)).where(*alive)).scalar_one() or 0)


def _counted(event: EventKey) -> Select[int, int, int]:
    """Counts the tickets of an event themselves, for the check of the sums."""
    row = TicketRecord
    return select(row.key_id, row.state, func.count()).where(event.of(row)).group_by(row.key_id, row.state)


def _add(session: Session, row: TicketRecord, key_id: int, state: int, more: int) -> None:
    sums.add(session, TicketCountRecord, (row.organisation_id, row.event_id, key_id, int(state)), more)


SUMS: Final = sums.Summed(TicketCountRecord, sums.selected(_counted))
