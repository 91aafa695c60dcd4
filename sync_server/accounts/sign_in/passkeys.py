"""Passkeys of staff: signing in with a device that checks its owner, instead of password and second factor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from shared.errors import NotFound
from shared.ids import uuid7
from sync_server.accounts.models import PasskeyRow, UserRow
from sync_server.accounts.sign_in import passkey_ceremonies, signing_in
from sync_server.accounts.sign_in.passkey_ceremonies import MISFIT, MOST, Json, Owner, Site
from sync_server.accounts.sign_in.signing_in import SignedIn, SignInSettings
from sync_server.audit.service import AuditLine, record
from sync_server.plumbing.database import Database
from sync_server.plumbing.requests.principals import ActionContext

__all__ = ["MOST", "Site", "passkeys", "register", "registration_options", "remove", "sign_in", "sign_in_options"]

_SIGN_IN: Final = "to sign in"


def registration_options(session: Session, user: UserRow, site: Site, context: ActionContext) -> dict[str, Any]:
    """What the browser needs to make a passkey."""
    known = [row.credential_id for row in passkeys(session, user.id)]
    return passkey_ceremonies.registration_options(
        Owner(user.id, user.email, user.name, "Gatehouse"), known, site, context
    )


def register(
    session: Session, user_id: str, name: str, credential: Json, *, site: Site, context: ActionContext
) -> PasskeyRow:
    """Store the passkey that a browser has made; InvalidRequest if its answer does not fit."""
    made = passkey_ceremonies.verify_registration(session, user_id, credential, site, context)
    if session.scalar(select(PasskeyRow.id).where(PasskeyRow.credential_id == made.credential_id)) is not None:
        raise passkey_ceremonies.passkey_known()
    row = PasskeyRow(
        user_id=user_id,
        id=uuid7(context.now, context.entropy),
        name=name,
        credential_id=made.credential_id,
        public_key=made.credential_public_key,
        sign_count=made.sign_count,
        created_at=context.now,
    )
    session.add(row)
    session.flush()
    record(session, AuditLine(context, "user.passkey_added", "user", user_id, None))
    return row


def sign_in_options(site: Site, context: ActionContext) -> dict[str, Any]:
    """What the browser needs to sign in with any passkey of this server: the same for everybody."""
    return passkey_ceremonies.sign_in_options(site, _SIGN_IN, context)


def sign_in(
    database: Database, credential: Json, *, site: Site, settings: SignInSettings, context: ActionContext
) -> SignedIn:
    """Start a session; NotSignedIn if the answer is not of a passkey of an open login."""
    with database.writing() as session:
        try:
            proof = passkey_ceremonies.read_proof(session, credential, site, _SIGN_IN, context)
            row = session.scalars(
                select(PasskeyRow).where(PasskeyRow.credential_id == proof.credential_id).with_for_update()
            ).one_or_none()
            user = None if row is None else session.get(UserRow, row.user_id)
            if row is None or user is None or not user.active:
                raise ValueError
            proved = proof.verify(row.public_key, row.sign_count)
        except MISFIT:
            raise passkey_ceremonies.unknown_passkey() from None
        row.sign_count, row.used_at = proved.new_sign_count, context.now
        return signing_in.open_session(session, user, settings.hours, context)


def passkeys(session: Session, user_id: str) -> Sequence[PasskeyRow]:
    """The passkeys of a login, the oldest first."""
    return session.scalars(select(PasskeyRow).where(PasskeyRow.user_id == user_id).order_by(PasskeyRow.id)).all()


def remove(session: Session, user_id: str, passkey_id: str, context: ActionContext) -> None:
    """Delete a passkey of this login: NotFound if there is none."""
    this = PasskeyRow.user_id == user_id, PasskeyRow.id == passkey_id
    if session.execute(delete(PasskeyRow).where(*this).returning(PasskeyRow.id)).first() is None:
        raise NotFound
    record(session, AuditLine(context, "user.passkey_removed", "user", user_id, None))
