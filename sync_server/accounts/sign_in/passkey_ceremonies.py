"""What WebAuthn asks of both sides: options for the browser, and the checks of what it answers.

Whose passkeys they are, staff's or customers', is the caller's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from sqlalchemy.orm import Session
from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.authentication.verify_authentication_response import VerifiedAuthentication
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
from webauthn.registration.verify_registration_response import VerifiedRegistration

from shared.errors import Conflict, InvalidRequest, NotSignedIn
from sync_server.accounts.sign_in import challenges
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer

MOST: Final = 20
MISFIT: Final = (WebAuthnException, ValueError, KeyError, TypeError)
"""What an answer may raise that does not fit."""
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


@dataclass(frozen=True, slots=True)
class Owner:
    """For whom a passkey is made."""

    id: str
    email: str
    name: str
    party: str  # who asks for it, as the browser shows it


def registration_options(owner: Owner, known: Iterable[bytes], site: Site, context: ActionContext) -> dict[str, Any]:
    """What the browser needs to make a passkey; `known` are the owner's credentials."""
    existing = [PublicKeyCredentialDescriptor(id=each) for each in known]
    if len(existing) >= MOST:
        raise Conflict(f"A login can have at most {MOST} passkeys. Delete one first.", code="too_many_passkeys")
    options = generate_registration_options(
        rp_id=site.host,
        rp_name=owner.party,
        user_name=owner.email,
        user_display_name=owner.name,
        user_id=owner.id.encode(),
        challenge=challenges.make(site.sealer, owner.id, context),
        exclude_credentials=existing,
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED, user_verification=UserVerificationRequirement.REQUIRED
        ),
    )
    return options_to_json_dict(options)


def verify_registration(
    session: Session, owner_id: str, credential: Json, site: Site, context: ActionContext
) -> VerifiedRegistration:
    """The passkey that a browser has made; InvalidRequest if its answer does not fit."""
    try:
        answer = parse_registration_credential_json(dict(credential))
        return verify_registration_response(
            credential=answer,
            expected_challenge=_challenge(session, answer, site, owner_id, context),
            expected_rp_id=site.host,
            expected_origin=site.origin,
            require_user_verification=True,
        )
    except MISFIT:
        raise InvalidRequest(
            "The browser's answer is not valid here. Start again at this server's own address.", code="bad_passkey"
        ) from None


def passkey_known() -> Conflict:
    """What to say about a passkey that is registered twice."""
    return Conflict("This passkey is already registered.", code="passkey_known")


def sign_in_options(site: Site, purpose: str, context: ActionContext) -> dict[str, Any]:
    """What the browser needs to sign in with any passkey of this server: the same for everybody."""
    options = generate_authentication_options(
        rp_id=site.host,
        challenge=challenges.make(site.sealer, purpose, context),
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    return options_to_json_dict(options)


@dataclass(frozen=True, slots=True)
class Proof:
    """A browser's answer to a challenge to sign in, which was ours, for this purpose, and new."""

    answer: AuthenticationCredential
    challenge: bytes
    site: Site

    @property
    def credential_id(self) -> bytes:
        """The passkey that has signed it."""
        return self.answer.raw_id

    def verify(self, public_key: bytes, sign_count: int) -> VerifiedAuthentication:
        """Check the signature; one of `MISFIT` where it is not of this key."""
        return verify_authentication_response(
            credential=self.answer,
            expected_challenge=self.challenge,
            expected_rp_id=self.site.host,
            expected_origin=self.site.origin,
            credential_public_key=public_key,
            credential_current_sign_count=sign_count,
            require_user_verification=True,
        )


def read_proof(session: Session, credential: Json, site: Site, purpose: str, context: ActionContext) -> Proof:
    """Read an answer to `sign_in_options`; one of `MISFIT` where it answers nothing that was asked."""
    answer = parse_authentication_credential_json(dict(credential))
    return Proof(answer, _challenge(session, answer, site, purpose, context), site)


def unknown_passkey() -> NotSignedIn:
    """What to say about an answer that is not of a passkey of an open login."""
    return NotSignedIn(
        "This passkey is not known here, or its answer came too late. Try again, or use your password.",
        code="bad_passkey",
    )


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
