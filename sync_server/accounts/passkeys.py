"""Passkeys (WebAuthn): signing in with a device that checks its owner, instead of password and second factor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from sqlalchemy import delete, select
from sqlalchemy.orm import Session
from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import (
    options_to_json_dict,
    parse_authentication_credential_json,
    parse_client_data_json,
    parse_registration_credential_json,
)
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticationCredential,
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    RegistrationCredential,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from shared.errors import Conflict, InvalidRequest, NotFound, NotSignedIn
from shared.ids import uuid7
from sync_server.accounts import challenges, signing_in
from sync_server.accounts.models import PasskeyRow, UserRow
from sync_server.accounts.signing_in import SignedIn, SignInSettings
from sync_server.audit.service import AuditLine, record
from sync_server.plumbing.database import Database
from sync_server.plumbing.principals import ActionContext
from sync_server.plumbing.sealing import Sealer

MOST: Final = 20
_SIGN_IN: Final = "to sign in"
Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Site:
    """What passkeys are bound to: none works on a page that only looks like ours."""

    origin: str
    sealer: Sealer

    @property
    def host(self) -> str:
        """The relying party."""
        return urlsplit(self.origin).hostname or ""


def registration_options(session: Session, user: UserRow, site: Site, context: ActionContext) -> dict[str, Any]:
    """What the browser needs to make a passkey."""
    known = [PublicKeyCredentialDescriptor(id=row.credential_id) for row in passkeys(session, user.id)]
    if len(known) >= MOST:
        raise Conflict(f"A login has {MOST} passkeys at most. Delete one first.", code="too_many_passkeys")
    options = generate_registration_options(
        rp_id=site.host,
        rp_name="Gatehouse",
        user_name=user.email,
        user_display_name=user.name,
        user_id=user.id.encode(),
        challenge=challenges.make(site.sealer, user.id, context),
        exclude_credentials=known,
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED, user_verification=UserVerificationRequirement.REQUIRED
        ),
    )
    return options_to_json_dict(options)


def register(
    session: Session, user_id: str, name: str, credential: Json, *, site: Site, context: ActionContext
) -> PasskeyRow:
    """Store the passkey that a browser has made; InvalidRequest if its answer does not fit."""
    try:
        answer = parse_registration_credential_json(dict(credential))
        challenge = _challenge(session, answer, site, user_id, context)
        made = verify_registration_response(
            credential=answer,
            expected_challenge=challenge,
            expected_rp_id=site.host,
            expected_origin=site.origin,
            require_user_verification=True,
        )
    except (WebAuthnException, ValueError, KeyError, TypeError):
        raise InvalidRequest(
            "The browser's answer does not fit. Begin again on the address of this server.", code="bad_passkey"
        ) from None
    if session.scalar(select(PasskeyRow.id).where(PasskeyRow.credential_id == made.credential_id)) is not None:
        raise Conflict("This passkey is registered already.", code="passkey_known")
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
    options = generate_authentication_options(
        rp_id=site.host,
        challenge=challenges.make(site.sealer, _SIGN_IN, context),
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    return options_to_json_dict(options)


def sign_in(
    database: Database, credential: Json, *, site: Site, settings: SignInSettings, context: ActionContext
) -> SignedIn:
    """Start a session; NotSignedIn if the answer is not of a passkey of an open login."""
    with database.writing() as session:
        try:
            answer = parse_authentication_credential_json(dict(credential))
            challenge = _challenge(session, answer, site, _SIGN_IN, context)
            row = session.scalars(
                select(PasskeyRow).where(PasskeyRow.credential_id == answer.raw_id).with_for_update()
            ).one_or_none()
            user = None if row is None else session.get(UserRow, row.user_id)
            if row is None or user is None or not user.active:
                raise ValueError
            proved = verify_authentication_response(
                credential=answer,
                expected_challenge=challenge,
                expected_rp_id=site.host,
                expected_origin=site.origin,
                credential_public_key=row.public_key,
                credential_current_sign_count=row.sign_count,
                require_user_verification=True,
            )
        except (WebAuthnException, ValueError, KeyError, TypeError):
            raise NotSignedIn(
                "This passkey is not known here, or its answer came too late. Try again, or use your password.",
                code="bad_passkey",
            ) from None
        row.sign_count, row.used_at = proved.new_sign_count, context.now
        return signing_in.open_session(session, user, settings.hours, context)


def _challenge(
    session: Session,
    answer: RegistrationCredential | AuthenticationCredential,
    site: Site,
    purpose: str,
    context: ActionContext,
) -> bytes:
    """The challenge that was answered; ValueError unless it is ours, for this purpose, and new."""
    challenge = parse_client_data_json(answer.response.client_data_json).challenge
    if not challenges.use(session, challenge, site.sealer, purpose, context.now):
        raise ValueError
    return challenge


def passkeys(session: Session, user_id: str) -> Sequence[PasskeyRow]:
    """The passkeys of a login, the oldest first."""
    return session.scalars(select(PasskeyRow).where(PasskeyRow.user_id == user_id).order_by(PasskeyRow.id)).all()


def remove(session: Session, user_id: str, passkey_id: str, context: ActionContext) -> None:
    """Delete a passkey of this login: NotFound if there is none."""
    this = PasskeyRow.user_id == user_id, PasskeyRow.id == passkey_id
    if session.execute(delete(PasskeyRow).where(*this).returning(PasskeyRow.id)).first() is None:
        raise NotFound
    record(session, AuditLine(context, "user.passkey_removed", "user", user_id, None))
