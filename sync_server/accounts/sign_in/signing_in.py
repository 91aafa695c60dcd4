"""Signing in and out, and browser sessions."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass

from msgspec import structs
from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Forbidden, NotFound, NotSignedIn
from shared.ids import uuid7
from sync_server.accounts import queries, rules
from sync_server.accounts.models import OrganisationRow, SessionRow, UserRow
from sync_server.accounts.sign_in import second_factors, throttling
from sync_server.accounts.sign_in.passwords import decoy_verifier, matches, new_token, token_hash
from sync_server.accounts.sign_in.throttling import Tried
from sync_server.audit.service import AuditLine, record
from sync_server.plumbing.database import Database
from sync_server.plumbing.requests.addresses import network_of
from sync_server.plumbing.requests.principals import ActionContext, Actor, Principal
from sync_server.plumbing.sealing import Sealer


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A new browser session; its token goes into the cookie and is not stored."""

    token: str
    csrf: str
    login: str
    session_id: str
    user_id: str
    organisation_id: str
    ends_at: Millis


Known = Callable[[str], str | None]
"""The id of this browser if somebody has signed in to that login with it before."""


@dataclass(frozen=True, slots=True)
class SignInSettings:
    """How somebody is let in here."""

    hours: int  # that a session lasts
    sealer: Sealer
    known: Known


def sign_in(
    database: Database, email: str, password: str, code: str, *, settings: SignInSettings, context: ActionContext
) -> SignedIn:
    """Start a session; NotSignedIn if the credentials are wrong, TooMany while whoever guesses has to wait.

    `code` is of the second factor, where the login has one.

    Takes the database instead of a session, because failures must be committed although the sign-in fails.
    """
    login = email.strip().casefold()
    tried = _tried(login, settings.known(login), network_of(context.actor.ip))
    throttling.check(database, tried, context.now, TOO_MANY)
    with database.reading() as session:
        user = queries.user_by_email(session, login)
        own = user.password_hash if user is not None and user.active else ""
    if not matches(own or decoy_verifier(), password) or user is None or not own:
        with database.writing() as session:
            record(session, AuditLine(context, "user.sign_in_failed", "user", user.id if user else "", None))
        raise NotSignedIn("The e-mail address or password is wrong.", code="bad_credentials")
    try:
        with database.writing() as session:
            second_factors.prove(session, user.id, code, settings.sealer, context.now)
            throttling.forget(session, tried[:1])
            for address in tried[1:]:
                throttling.take_back(session, address)
            return open_session(session, user, settings.hours, context)
    except NotSignedIn:
        with database.writing() as session:
            record(session, AuditLine(context, "user.sign_in_failed", "user", user.id, None))
        raise


TOO_MANY = (
    "Too many wrong passwords from here. Wait {seconds} seconds and try again. A browser in which you have signed in "
    "before does not have to wait for the mistakes of others."
)


def _tried(login: str, browser: str | None, address: str) -> list[Tried]:
    """Whose attempt this counts as: the known browser's, or else the address's, for this login and for all."""
    if browser is not None:
        return [Tried(rules.GUESSES_OF_BROWSER, browser)]
    return [Tried(rules.GUESSES_OF_LOGIN, f"{login}\0{address}"), Tried(rules.GUESSES, address)]


def open_session(session: Session, user: UserRow, hours: int, context: ActionContext) -> SignedIn:
    """Start a session of a user who has proved to be the owner of this login."""
    actor, now, entropy = context.actor, context.now, context.entropy
    token, csrf, ends_at = new_token(entropy), entropy(24).hex(), now + hours * 3_600_000
    memberships = queries.organisations_of(session, user.id)
    organisation_id = memberships[0][0].id if memberships else ""
    session_id = uuid7(now, entropy)
    session.add(
        SessionRow(
            id=session_id,
            token_hash=token_hash(token),
            user_id=user.id,
            organisation_id=organisation_id or None,
            csrf=csrf,
            browser=actor.user_agent,
            created_at=now,
            seen_at=now,
            ends_at=ends_at,
        )
    )
    acting = structs.replace(context, actor=Actor("user", user.id, actor.ip, actor.user_agent, actor.request_id))
    record(session, AuditLine(acting, "user.signed_in", "user", user.id, organisation_id or None))
    return SignedIn(token, csrf, user.email, session_id, user.id, organisation_id, ends_at)


def sign_out(session: Session, principal: Principal, context: ActionContext) -> None:
    """End this browser's session."""
    session.execute(delete(SessionRow).where(SessionRow.id == principal.session_id))
    record(session, AuditLine(context, "user.signed_out", "user", principal.id, principal.organisation_id or None))


def choose_organisation(session: Session, principal: Principal, organisation_id: str, context: ActionContext) -> None:
    """Switch the session to another organisation; NotFound unless the user may act for it."""
    exists = session.get(OrganisationRow, organisation_id) is not None
    if not exists or not (principal.platform_role or queries.role_in(session, organisation_id, principal.id)):
        raise NotFound
    enter_organisation(session, principal.session_id, organisation_id)
    record(session, AuditLine(context, "user.chose_organisation", "user", principal.id, organisation_id))


def enter_organisation(session: Session, session_id: str, organisation_id: str) -> None:
    """Let a session act for this organisation from now on."""
    session.execute(update(SessionRow).where(SessionRow.id == session_id).values(organisation_id=organisation_id))


def authenticate_session(database: Database, token: str, now: Millis) -> Principal | None:
    """The principal of a session token, or None if it is not valid."""
    with database.reading() as session:
        found = queries.session_principal(session, token_hash(token), now)
    if found is None:
        return None
    principal, seen_at = found
    if now - seen_at > rules.LAST_SEEN_INTERVAL_MS:
        with database.writing() as session:
            its_row = SessionRow.id == principal.session_id, SessionRow.seen_at == seen_at
            session.execute(update(SessionRow).where(*its_row).values(seen_at=now))
    return principal


def check_csrf(principal: Principal, token: str) -> None:
    """Forbidden unless this is the CSRF token of the session."""
    if not hmac.compare_digest(principal.csrf.encode(), token.encode()):
        raise Forbidden(
            "This form has expired or came from another site. Reload the page and try again.", code="bad_csrf"
        )


def delete_expired(session: Session, now: Millis) -> None:
    """Delete expired sessions."""
    session.execute(delete(SessionRow).where(SessionRow.ends_at <= now))
