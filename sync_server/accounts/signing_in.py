"""Signing in and out, and browser sessions."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, replace

from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Forbidden, NotFound, NotSignedIn, TooMany
from shared.ids import uuid7
from sync_server.accounts import queries, rules
from sync_server.accounts.models import LoginFailureRow, OrganisationRow, SessionRow, UserRow
from sync_server.accounts.passwords import decoy_verifier, matches, new_token, throttle_key, token_hash
from sync_server.audit.service import AuditLine, record
from sync_server.plumbing.database import Database
from sync_server.plumbing.principals import ActionContext, Actor, Principal


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A new browser session; its token goes into the cookie and is not stored."""

    token: str
    csrf: str
    session_id: str
    user_id: str
    organisation_id: str
    ends_at: Millis


def sign_in(database: Database, email: str, password: str, *, hours: int, context: ActionContext) -> SignedIn:
    """Start a session; NotSignedIn if the credentials are wrong, TooMany after too many failures.

    Takes the database instead of a session, because failures must be committed although the sign-in fails.
    """
    keys = throttle_key("account", email.strip().casefold()), throttle_key("address", context.actor.ip)
    with database.reading() as session:
        _throttle(session, keys, context.now)
    # Counted before the password is checked; otherwise concurrent guesses would all get past the limit.
    attempts = _count_attempt(database, keys, context)
    with database.reading() as session:
        _throttle(session, keys, context.now, own=1)
        user = queries.user_by_email(session, email)
        own = user.password_hash if user is not None and user.active else ""
    if not matches(own or decoy_verifier(), password) or user is None or not own:
        with database.writing() as session:
            record(session, AuditLine(context, "user.sign_in_failed", "user", user.id if user else "", None))
        raise NotSignedIn("The e-mail address or password is wrong.", code="bad_credentials")
    with database.writing() as session:
        no_failure = (LoginFailureRow.key == keys[0]) | LoginFailureRow.id.in_(attempts)
        session.execute(delete(LoginFailureRow).where(no_failure))
        return open_session(session, user, hours, context)


def _throttle(session: Session, keys: tuple[bytes, bytes], now: Millis, *, own: int = 0) -> None:
    since = now - rules.FAILURE_WINDOW_MS
    account, address = (queries.failures(session, key, since) - own for key in keys)
    if account >= rules.FAILURES_ALLOWED or address >= rules.FAILURES_ALLOWED_PER_ADDRESS:
        raise TooMany("Too many failed sign-ins. Wait 15 minutes and try again.", retry_after=900)


def _count_attempt(database: Database, keys: tuple[bytes, bytes], context: ActionContext) -> list[str]:
    """Count an attempt as failed until it succeeds; the ids of its rows."""
    now = context.now
    rows = [LoginFailureRow(id=uuid7(now, context.entropy), key=key, at=now) for key in keys]
    with database.writing() as session:
        session.execute(delete(LoginFailureRow).where(LoginFailureRow.at < now - rules.FAILURE_WINDOW_MS))
        session.add_all(rows)
    return [row.id for row in rows]


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
            organisation_id=organisation_id,
            csrf=csrf,
            created_at=now,
            seen_at=now,
            ends_at=ends_at,
        )
    )
    acting = replace(context, actor=Actor("user", user.id, actor.ip, actor.user_agent, actor.request_id))
    record(session, AuditLine(acting, "user.signed_in", "user", user.id, organisation_id or None))
    return SignedIn(token, csrf, session_id, user.id, organisation_id, ends_at)


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
