"""Sessions of customers: begun by a proof, bound to the guest session of the same browser, and ended."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import structs
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from shared.ids import uuid7
from sync_server.accounts.sign_in.passwords import new_token, token_hash
from sync_server.audit.service import AuditLine, record
from sync_server.customers import rules
from sync_server.customers.models import CustomerRow, CustomerSessionRow
from sync_server.customers.signals import CustomerSignedIn
from sync_server.plumbing.database import Database
from sync_server.plumbing.due import organisations_due
from sync_server.plumbing.requests.principals import ActionContext, Actor, Principal
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.signals import send

_PURPOSE = "csrf of a customer's session"


@dataclass(frozen=True, slots=True)
class Opened:
    """A new session; its token goes into the cookie and is not stored."""

    token: str
    session_id: str
    customer_id: str
    login: str
    ends_at: Millis


def csrf_of(sealer: Sealer, token: str) -> str:
    """What unsafe requests of a session must carry; made from its token, so that nobody needs to look it up."""
    return sealer.keyed_hash(token, _PURPOSE)


def is_csrf_of(sealer: Sealer, token: str, csrf: str) -> bool:
    """Whether this is the CSRF token of the session with that token."""
    return hmac.compare_digest(csrf_of(sealer, token).encode(), csrf.encode())


def open_session(
    session: Session, customer: CustomerRow, guest_id: str | None, context: ActionContext, *, by_link: bool
) -> Opened:
    """Sign a customer in who has proved it; what the guest session has made becomes the customer's."""
    token, ends_at = new_token(context.entropy), context.now + rules.SESSION_MS
    row = CustomerSessionRow(
        organisation_id=customer.organisation_id,
        id=uuid7(context.now, context.entropy),
        token_hash=token_hash(token),
        customer_id=customer.id,
        guest_id=guest_id,
        by_link=by_link,
        browser=context.actor.user_agent,
        created_at=context.now,
        seen_at=context.now,
        ends_at=ends_at,
    )
    _leave_to_last(session, customer.organisation_id, guest_id)
    session.add(row)
    session.flush()
    acting = by_customer(context, customer.id)
    record(session, _line(acting, "customer.signed_in", customer.organisation_id, customer.id))
    email = customer.email or ""
    send(session, CustomerSignedIn(customer.organisation_id, customer.id, guest_id, email, acting))
    return Opened(token, row.id, customer.id, rules.login_name(customer.organisation_id, email), ends_at)


def by_customer(context: ActionContext, customer_id: str) -> ActionContext:
    """What this customer does in the request of the context."""
    actor = context.actor
    return structs.replace(context, actor=Actor("customer", customer_id, actor.ip, actor.user_agent, actor.request_id))


def _leave_to_last(session: Session, organisation_id: str, guest_id: str | None) -> None:
    """A guest session belongs to one session of a customer: to the last that was begun with it."""
    row = CustomerSessionRow
    here = row.organisation_id == organisation_id, row.guest_id == guest_id
    if guest_id is not None:
        session.execute(update(row).where(*here).values(guest_id=None))


def _line(context: ActionContext, action: str, organisation_id: str, customer_id: str) -> AuditLine:
    return AuditLine(context, action, "customer", customer_id, organisation_id)


def authenticate(database: Database, organisation_id: str, token: str, now: Millis) -> Principal | None:
    """The customer of a session token at this organisation's shop, or None."""
    row = CustomerSessionRow
    wanted = row.organisation_id == organisation_id, row.token_hash == token_hash(token), row.ends_at > now
    with database.reading() as session:
        found = session.execute(select(row).where(*wanted)).scalar_one_or_none()
    if found is None:
        return None
    if now - found.seen_at > rules.LAST_SEEN_INTERVAL_MS:
        with database.writing() as session:
            this = row.organisation_id == organisation_id, row.id == found.id, row.seen_at == found.seen_at
            session.execute(update(row).where(*this).values(seen_at=now))
    return Principal("customer", found.customer_id, organisation_id, session_id=found.id)


def bind_guest(session: Session, organisation_id: str, session_id: str, guest_id: str) -> None:
    """Let the browser's new guest session be this customer's."""
    _leave_to_last(session, organisation_id, guest_id)
    this = CustomerSessionRow.organisation_id == organisation_id, CustomerSessionRow.id == session_id
    session.execute(update(CustomerSessionRow).where(*this).values(guest_id=guest_id))


def forget_guests(session: Session, organisation_id: str, guests: Sequence[str]) -> None:
    """Forget guest sessions that are deleted."""
    row = CustomerSessionRow
    here = row.organisation_id == organisation_id, row.guest_id.in_(guests)
    session.execute(update(row).where(*here).values(guest_id=None))


def sessions(session: Session, organisation_id: str, customer_id: str, now: Millis) -> Sequence[CustomerSessionRow]:
    """A customer's sessions, the latest first."""
    row = CustomerSessionRow
    here = row.organisation_id == organisation_id, row.customer_id == customer_id, row.ends_at > now
    return session.scalars(select(row).where(*here).order_by(row.seen_at.desc(), row.id.desc())).all()


def end(session: Session, by: Principal, session_id: str, context: ActionContext) -> str | None:
    """End one session of the caller: NotFound if there is none. Returns its guest session."""
    row = CustomerSessionRow
    this = row.organisation_id == by.organisation_id, row.customer_id == by.id, row.id == session_id
    ended = session.execute(delete(row).where(*this).returning(row.guest_id)).one_or_none()
    if ended is None:
        raise NotFound("You are not signed in there any more.", code="session_not_found")
    action = "customer.signed_out" if session_id == by.session_id else "customer.session_ended"
    record(session, _line(context, action, by.organisation_id, by.id))
    guest: str | None = ended.guest_id
    return guest


def end_all(session: Session, organisation_id: str, customer_id: str, *, but: str = "") -> None:
    """End a customer's sessions, except one."""
    row = CustomerSessionRow
    theirs = row.organisation_id == organisation_id, row.customer_id == customer_id
    session.execute(delete(row).where(*theirs, *((row.id != but,) if but else ())))


def delete_expired(session: Session, now: Millis) -> None:
    """Delete sessions that have ended."""
    owner, ended = CustomerSessionRow.organisation_id, CustomerSessionRow.ends_at <= now
    for organisation_id in organisations_due(session, owner, ended):
        session.execute(delete(CustomerSessionRow).where(owner == organisation_id, ended))
