"""The times of ticket types and tickets once their event takes place at another time."""

from __future__ import annotations

from collections.abc import Mapping

from shared.clock import Millis
from sync_server.events.time_shift import TimeShift
from sync_server.tickets.models import TicketRecord, TicketTypeRecord


def moved_validity(row: TicketTypeRecord | TicketRecord, shift: TimeShift) -> Mapping[str, int]:
    """From when until when a ticket admits, in seconds; 0 is no limit."""
    limits = {"not_before": row.not_before, "not_after": row.not_after}
    return {name: shift.moved(at * 1000) // 1000 if at else 0 for name, at in limits.items()}


def moved_sale(row: TicketTypeRecord, shift: TimeShift) -> Mapping[str, Millis]:
    """The sale window of a ticket type, as far as it has one; a sale that has opened stays open."""
    return shift.times({"sale_start_at": row.sale_start_at, "sale_end_at": row.sale_end_at})
