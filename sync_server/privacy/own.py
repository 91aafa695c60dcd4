"""A customer's own data: exported and erased through the customer's login, without anything about other people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy.orm import Session

from shared.lifecycle import OVER
from shared.wire.snapshot import TicketState
from sync_server.audit import service as audit
from sync_server.checkout import queries as orders
from sync_server.checkout.orders import buyers
from sync_server.customers import queries as customers
from sync_server.events import queries as events
from sync_server.plumbing.api.schemas import iso
from sync_server.plumbing.database import Database
from sync_server.plumbing.requests.principals import ActionContext, Principal
from sync_server.plumbing.sealing import Sealer
from sync_server.privacy import erasing, export, people
from sync_server.privacy.people import Person, Wanted
from sync_server.self_service import owners
from sync_server.tickets import queries as tickets

Rows = dict[str, list[dict[str, Any]]]

KEPT: Final = (
    ("orders", "Numbers, tickets, prices and taxes, without your name: sales must be accounted for by law."),
    ("ledger", "Every payment and refund, without your name, for the same reason and as long."),
    ("tickets", "Their numbers and codes, without your name: gates admit those that are valid, and refuse the others."),
    ("scans", "When a ticket was scanned at which gate: signed by the gates, and without a name."),
    ("audit log", "That things were done, without names and addresses: its chain must stay whole."),
    ("bank and payment service", "What they store about your payments; ask them."),
)
"""What stays when a customer is erased, and why."""
_OF_STAFF: Final = frozenset({"note", "resolved_by"})
"""Columns of conflicts at the gates that name members of staff."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What an erasure would mean for a customer now."""

    email: str
    orders: int
    tickets_to_come: int
    open_orders: Sequence[str]  # their numbers


def export_own(session: Session, by: Principal, sealer: Sealer, context: ActionContext) -> dict[str, Any]:
    """Everything about this customer, by table; that it was asked for is recorded."""
    person = _person(session, by, sealer)
    records = _without_others(export.records_of(session, person), person)
    after = {name: len(rows) for name, rows in records.items()}
    line = audit.AuditLine(context, "person.exported", "person", "customer", by.organisation_id, after=after)
    audit.record(session, line)
    return {"made_at": iso(context.now), "named_by": "customer", "records": records}


def preview(session: Session, by: Principal) -> Preview:
    """What there is to erase, and what stands against it."""
    email = _address(session, by)
    ids = buyers.orders_of(session, by.organisation_id, email, by.id)
    found = orders.orders_by_id(session, by.organisation_id, ids)
    return Preview(email, len(found), _to_come(session, by), erasing.open_orders(session, by.organisation_id, ids))


def _address(session: Session, by: Principal) -> str:
    return customers.customer(session, by.organisation_id, by.id).email or ""


def erase_own(database: Database, by: Principal, sealer: Sealer, context: ActionContext) -> dict[str, int]:
    """Erase the customer; Conflict `orders_open` while an order waits to be paid."""

    def find(session: Session) -> Person:
        return _person(session, by, sealer)

    reason = "asked for by the customer"
    return erasing.erase_person(database, by.organisation_id, "customer", find, sealer, context, reason=reason)


def _person(session: Session, by: Principal, sealer: Sealer) -> Person:
    """The customer, with the tickets that are theirs: what was passed on is about somebody else now."""
    person = people.find(session, by.organisation_id, Wanted(email=_address(session, by)), sealer)
    mine = {key.ticket_id for key in owners.tickets_of(session, by)}
    return replace(person, tickets=tuple(sorted(mine)))


def _to_come(session: Session, by: Principal) -> int:
    mine = {key.ticket_id for key in owners.tickets_of(session, by)}
    rows = tickets.tickets_by_id(session, by.organisation_id, mine).values()
    valid = [row.event_id for row in rows if row.state == TicketState.VALID]
    coming = {id for id in set(valid) if events.event(session, by.organisation_id, id).status not in OVER}
    return sum(id in coming for id in valid)


def _without_others(records: Rows, person: Person) -> Rows:
    """What names other people is left out: givers and recipients of tickets, and staff."""
    mine = set(person.orders)
    kept = {
        **records,
        "order_lines": [_line(row) for row in records.get("order_lines", ()) if row["order_id"] in mine],
        "audit_personal": [row for row in records.get("audit_personal", ()) if row["person_kind"] != "ticket"],
        "ticket_transfers": [
            row for row in records.get("ticket_transfers", ()) if row["recipient_email"] == person.email
        ],
        "scan_conflicts": [
            {name: value for name, value in row.items() if name not in _OF_STAFF}
            for row in records.get("scan_conflicts", ())
        ],
    }
    return {name: rows for name, rows in kept.items() if rows}


def _line(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"holder_name": ""} if row["passed_on"] else row
