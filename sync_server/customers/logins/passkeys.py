"""Passkeys of customers: as those of staff, for one shop each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from shared.errors import NotFound
from shared.ids import uuid7
from sync_server.accounts.sign_in import passkey_ceremonies
from sync_server.accounts.sign_in.passkey_ceremonies import MISFIT, Json, Owner, Site
from sync_server.audit.service import AuditLine, record
from sync_server.customers import queries
from sync_server.customers.logins import sessions
from sync_server.customers.logins.sessions import Opened
from sync_server.customers.models import CustomerPasskeyRow
from sync_server.plumbing.requests.principals import ActionContext, Principal

Row = CustomerPasskeyRow


def passkeys(session: Session, organisation_id: str, customer_id: str) -> Sequence[CustomerPasskeyRow]:
    """The passkeys of a customer, the oldest first."""
    here = Row.organisation_id == organisation_id, Row.customer_id == customer_id
    return session.scalars(select(Row).where(*here).order_by(Row.id)).all()


def registration_options(
    session: Session, by: Principal, party: str, site: Site, context: ActionContext
) -> dict[str, Any]:
    """What the browser needs to make a passkey."""
    customer = queries.customer(session, by.organisation_id, by.id)
    known = [row.credential_id for row in passkeys(session, by.organisation_id, by.id)]
    email = customer.email or ""
    owner = Owner(customer.id, email, customer.name or email, party)
    return passkey_ceremonies.registration_options(owner, known, site, context)


def register(
    session: Session, by: Principal, name: str, credential: Json, *, site: Site, context: ActionContext
) -> CustomerPasskeyRow:
    """Store the passkey that a browser has made; InvalidRequest if its answer does not fit."""
    made = passkey_ceremonies.verify_registration(session, by.id, credential, site, context)
    if _by_credential(session, by.organisation_id, made.credential_id) is not None:
        raise passkey_ceremonies.passkey_known()
    row = CustomerPasskeyRow(
        organisation_id=by.organisation_id,
        id=uuid7(context.now, context.entropy),
        customer_id=by.id,
        name=name,
        credential_id=made.credential_id,
        public_key=made.credential_public_key,
        sign_count=made.sign_count,
        created_at=context.now,
    )
    session.add(row)
    session.flush()
    record(session, AuditLine(context, "customer.passkey_added", "customer", by.id, by.organisation_id))
    return row


def remove(session: Session, by: Principal, passkey_id: str, context: ActionContext) -> None:
    """Delete a passkey of this customer: NotFound if there is none."""
    this = Row.organisation_id == by.organisation_id, Row.customer_id == by.id, Row.id == passkey_id
    if session.execute(delete(Row).where(*this).returning(Row.id)).first() is None:
        raise NotFound("You have no such passkey.", code="passkey_not_found")
    record(session, AuditLine(context, "customer.passkey_removed", "customer", by.id, by.organisation_id))


def sign_in_options(organisation_id: str, site: Site, context: ActionContext) -> dict[str, Any]:
    """What the browser needs to sign in with any passkey of this shop: the same for everybody."""
    return passkey_ceremonies.sign_in_options(site, _purpose(organisation_id), context)


def sign_in(
    session: Session,
    organisation_id: str,
    credential: Json,
    guest_id: str | None,
    *,
    site: Site,
    context: ActionContext,
) -> Opened:
    """Start a session; NotSignedIn if the answer is not of a passkey of this shop."""
    try:
        proof = passkey_ceremonies.read_proof(session, credential, site, _purpose(organisation_id), context)
        row = _by_credential(session, organisation_id, proof.credential_id)
        if row is None:
            raise ValueError
        proved = proof.verify(row.public_key, row.sign_count)
    except MISFIT:
        raise passkey_ceremonies.unknown_passkey() from None
    row.sign_count, row.used_at = proved.new_sign_count, context.now
    customer = queries.customer(session, organisation_id, row.customer_id)
    return sessions.open_session(session, customer, guest_id, context, by_link=False)


def _purpose(organisation_id: str) -> str:
    return f"to sign in at the shop of {organisation_id}"


def _by_credential(session: Session, organisation_id: str, credential_id: bytes) -> CustomerPasskeyRow | None:
    here = Row.organisation_id == organisation_id, Row.credential_id == credential_id
    return session.scalars(select(Row).where(*here).with_for_update()).one_or_none()
