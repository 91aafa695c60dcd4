"""Gives a customer who signs in the orders of the browser's guest session, and those with the proved address."""

from __future__ import annotations

from sqlalchemy import or_, update
from sqlalchemy.orm import Session

from sync_server.audit.service import AuditLine, record
from sync_server.checkout.models import OrderRow
from sync_server.customers.signals import CustomerSignedIn


def on_signed_in(session: Session, signed_in: CustomerSignedIn) -> None:
    """Orders that nobody has claimed become the customer's."""
    row = OrderRow
    of_address = (row.buyer_email == signed_in.email) if signed_in.email else None
    of_guest = (row.bearer_kind == "guest") & (row.bearer_id == signed_in.guest_id) if signed_in.guest_id else None
    theirs = [each for each in (of_address, of_guest) if each is not None]
    if not theirs:
        return
    here = row.organisation_id == signed_in.organisation_id, row.customer_id.is_(None), or_(*theirs)
    claimed = update(row).where(*here).values(customer_id=signed_in.customer_id).returning(row.id)
    ids = session.scalars(claimed.execution_options(synchronize_session=False)).all()
    if ids:
        subject = "customer", signed_in.customer_id, signed_in.organisation_id
        record(
            session, AuditLine(signed_in.context, "customer.orders_claimed", *subject, after={"orders": sorted(ids)})
        )
