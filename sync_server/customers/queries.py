"""Queries for guests and customers."""

from __future__ import annotations

from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.customers.models import CustomerRow, CustomerSessionRow, GuestRow
from sync_server.plumbing.sql.asked_together import Question
from sync_server.plumbing.sql.prepared import Prepared, placeholder


def guests_from_address(session: Session, origin: str, since: Millis) -> int:
    """How many guests have come from one client address since then."""
    query = select(func.count()).where(GuestRow.origin == origin, GuestRow.created_at > since)
    return session.execute(query).scalar_one()


def guests_and_addresses(session: Session, since: Millis) -> tuple[int, int]:
    """How many guests have come since then, of those whose address is still known, and from how many addresses."""
    query = select(func.count(GuestRow.origin), func.count(GuestRow.origin.distinct())).where(
        GuestRow.created_at > since
    )
    guests, addresses = session.execute(query).one()
    return guests, addresses


def is_active(session: Session, organisation_id: str, guest_id: str, now: Millis) -> bool:
    """Whether a guest's session is still open; the cookie alone does not show whether the guest ended it."""
    here = GuestRow.organisation_id == organisation_id, GuestRow.id == guest_id, GuestRow.ends_at > now
    return session.scalar(select(GuestRow.ends_at).where(*here)) is not None


def no_such_customer() -> NotFound:
    """What to say about a customer that does not exist, or is another organisation's."""
    return NotFound("There is no such customer.", code="customer_not_found")


def customer(session: Session, organisation_id: str, customer_id: str, *, lock: bool = False) -> CustomerRow:
    """A customer of this organisation, or NotFound."""
    wanted = select(CustomerRow).where(CustomerRow.organisation_id == organisation_id, CustomerRow.id == customer_id)
    if lock:
        wanted = wanted.with_for_update().execution_options(populate_existing=True)
    row = session.execute(wanted).scalar_one_or_none()
    if row is None:
        raise no_such_customer()
    return row


def customer_by_email(session: Session, organisation_id: str, email: str) -> CustomerRow | None:
    """The customer with this address."""
    here = CustomerRow.organisation_id == organisation_id, CustomerRow.email == email
    return session.execute(select(CustomerRow).where(*here)).scalar_one_or_none()


def id_by_email(session: Session, organisation_id: str, email: str) -> str:
    """The id of the customer with this address, who is known to exist."""
    here = CustomerRow.organisation_id == organisation_id, CustomerRow.email == email
    return session.execute(select(CustomerRow.id).where(*here)).scalar_one()


def customer_session(session: Session, organisation_id: str, session_id: str) -> CustomerSessionRow:
    """A session that was authenticated in this request; NotFound if it has just ended."""
    row = session.get(CustomerSessionRow, (organisation_id, session_id))
    if row is None:
        raise NotFound("This session has ended. Sign in again.", code="session_not_found")
    return row


_OF_GUEST: Final = Prepared(
    select(CustomerSessionRow.customer_id).where(
        CustomerSessionRow.organisation_id == placeholder("organisation"),
        CustomerSessionRow.guest_id == placeholder("guest"),
        CustomerSessionRow.ends_at > placeholder("now"),
    )
)


def asks_customer(organisation_id: str, guest_id: str, now: Millis) -> Question:
    """What `customer_of_guest` asks."""
    return _OF_GUEST, {"organisation": organisation_id, "guest": guest_id, "now": now}


def customer_of_guest(session: Session, organisation_id: str, guest_id: str, now: Millis) -> str | None:
    """The customer who is signed in in the browser of a guest session."""
    statement, values = asks_customer(organisation_id, guest_id, now)
    found = statement.rows(session, **values)
    return str(found[0].customer_id) if found else None


def membership_of_guest(session: Session, organisation_id: str, guest_id: str, now: Millis) -> str:
    """The membership that is linked to the customer who is signed in in the browser of a guest session; or ""."""
    id = customer_of_guest(session, organisation_id, guest_id, now)
    return customer(session, organisation_id, id).membership_id if id is not None else ""


def others_with_membership(session: Session, organisation_id: str, membership_id: str, customer_id: str) -> bool:
    """Whether another customer has linked this membership."""
    row = CustomerRow
    here = row.organisation_id == organisation_id, row.membership_id == membership_id, row.id != customer_id
    return session.execute(select(row.id).where(*here).limit(1)).first() is not None
