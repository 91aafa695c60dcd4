"""What is stored about a customer: changed, linked to a membership after a proof, and erased."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete
from sqlalchemy.orm import Session

from sync_server.audit.service import AuditLine, record
from sync_server.customers import queries
from sync_server.customers.logins import sessions
from sync_server.customers.models import CustomerLinkRow, CustomerPasskeyRow, CustomerRow
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sql import writes


def change(session: Session, row: CustomerRow, changes: Mapping[str, Any], context: ActionContext) -> None:
    """Change a customer, who is locked. The audit log says which fields, not what they say."""
    for name, value in changes.items():
        setattr(row, name, value or "")
    row.updated_at = context.now
    after = {"fields": sorted(changes)}
    record(session, AuditLine(context, "customer.changed", "customer", row.id, row.organisation_id, after=after))


def link_membership(session: Session, organisation_id: str, customer_id: str, id: str, context: ActionContext) -> None:
    """Link a membership that the customer has proved to hold; "" unlinks it."""
    row = queries.customer(session, organisation_id, customer_id, lock=True)
    before, row.membership_id, row.updated_at = row.membership_id, id, context.now
    message = "This membership belongs to another login. Ask the organiser."
    writes.flush_or_conflict(session, message, "membership_linked")
    told = {"membership": before}, {"membership": id}
    line = AuditLine(context, "customer.membership_linked", "customer", customer_id, organisation_id, *told)
    record(session, line)


def forget(session: Session, organisation_id: str, email: str, context: ActionContext) -> int:
    """Erase the customer with this address: sessions, links and passkeys go; the id stays, for orders."""
    links = CustomerLinkRow.organisation_id == organisation_id, CustomerLinkRow.email == email
    session.execute(delete(CustomerLinkRow).where(*links))
    row = queries.customer_by_email(session, organisation_id, email)
    if row is None:
        return 0
    sessions.end_all(session, organisation_id, row.id)
    keys = CustomerPasskeyRow.organisation_id == organisation_id, CustomerPasskeyRow.customer_id == row.id
    session.execute(delete(CustomerPasskeyRow).where(*keys))
    row.email, row.name, row.locale, row.password_hash, row.membership_id = None, "", "", "", ""
    row.updated_at = context.now
    return 1
