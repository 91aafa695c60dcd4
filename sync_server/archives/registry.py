"""Says of every table which of its rows are an event's, and whether they leave with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class EventRows:
    """How the rows of a table are an event's, and whether they leave the table when the event is put away."""

    leaves: bool = True
    parent: str = ""  # of rows that name no event: the table and the column that they name instead
    by: str = "event_id"
    first: bool = False  # leaves before all others


_LEAVES: Final = EventRows()
_STAYS: Final = EventRows(leaves=False)
"""In the file, so that it is complete, and in the table: a plan is small, and the next event is copied from it."""

EVENT_ROWS: Final[Mapping[str, EventRows]] = {
    "events": EventRows(leaves=False, by="id"),
    "event_zones": _STAYS,
    "event_gate_zones": _STAYS,
    "event_layouts": _STAYS,
    "event_queues": _STAYS,
    "ticket_types": _STAYS,
    # Books are kept longer than evenings: what was paid, and what is owed, stays at hand.
    "money_movements": EventRows(leaves=False, parent="orders", by="order_id"),
    "checkout_limits": _STAYS,
    "cancellations": _STAYS,
    "date_answers": EventRows(leaves=False),
    "payouts": EventRows(leaves=False, parent="orders", by="order_id"),
    "disputes": EventRows(leaves=False, parent="orders", by="order_id"),
    "stripe_payments": EventRows(leaves=False, parent="orders", by="order_id"),
    "code_batches": _STAYS,
    "code_uses": _STAYS,
    "order_counters": _STAYS,
    "order_lines": EventRows(leaves=False, parent="orders", by="order_id"),
    "order_sums": _STAYS,
    "orders": _STAYS,
    "sale_sums": _STAYS,
    # Gates stop asking for the event before the rows go that they would ask for.
    "device_assignments": EventRows(first=True),
    "checkout_sessions": _LEAVES,
    "companion_releases": _LEAVES,
    "event_heads": _LEAVES,
    "event_day_counts": _LEAVES,
    "event_places": _LEAVES,
    "event_revisions": _LEAVES,
    "event_seats": _LEAVES,
    "hold_outcomes": _LEAVES,
    "holds": _LEAVES,
    "queue_entries": _LEAVES,
    "reseating_steps": EventRows(parent="reseatings", by="reseating_id"),
    "reseatings": _LEAVES,
    "sale_locks": _LEAVES,
    "scan_bases": _LEAVES,
    "scan_conflicts": _LEAVES,
    "scan_counts": _LEAVES,
    "scan_days": _LEAVES,
    "scan_entries": _LEAVES,
    "scan_flows": _LEAVES,
    "scan_inside": _LEAVES,
    "scan_movements": _LEAVES,
    "scan_presence": _LEAVES,
    "seat_map_changes": _LEAVES,
    "seat_map_heads": _LEAVES,
    "snapshot_history": _LEAVES,
    "snapshot_rows": _LEAVES,
    "ticket_counts": _LEAVES,
    "ticket_issues": EventRows(parent="tickets", by="ticket_id"),
    "tickets": _LEAVES,
    "waiting_offers": _LEAVES,
    "waiting_parties": _LEAVES,
    "waiting_lists": _LEAVES,
    "ticket_transfers": _LEAVES,
    "zone_guests": _LEAVES,
}
"""Every table with rows of an event, but those below."""

LEFT_OUT: Final[Mapping[str, frozenset[str]]] = {
    "holds": frozenset({"notes"}),
    "order_lines": frozenset({"holder_name"}),
    "orders": frozenset({"buyer_email", "buyer_name", "search_text"}),
    "ticket_transfers": frozenset({"recipient_email", "recipient_name"}),
    "tickets": frozenset({"holder_name", "notes"}),
    "waiting_parties": frozenset({"email"}),
}
"""Personal columns: empty in the file, so that an erasure in the database is an erasure everywhere.

Those of rows that leave stand in `put_away_people` until the event is back.
"""

PACKED: Final[Mapping[str, str]] = {"snapshot_history": "body", "snapshot_rows": "body"}
"""Columns with packed rows of gates: in the file those of tickets have no name and no note, which stand there, too."""

NOT_PUT_AWAY: Final[Mapping[str, str]] = {
    "active_alerts": "the worker removes an alert that is over",
    "ending_tickets": "must be empty before an event is put away",
    "event_archives": "says where the rest is",
    "event_news": "what buyers were told is deleted after two months",
    "event_interest": "of the ranking; deleted by the hour",
    "imports": "ends by itself, and is forgotten after a month",
    "joined_elsewhere": "one number, that other services count on",
    "listings": "the directory drops an event that is over",
    "put_away_people": "what the rows of a put-away event say of people: it stays at hand, to be erased",
    "wall_links": "the address of a screen, which shows what the event still tells",
    "ticket_batches": "a PDF of tickets is deleted after a day",
    "seating_figures": "the worker removes figures of an event that is over",
}
"""Tables that name events and keep their own rules, each with its reason."""
