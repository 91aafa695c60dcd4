"""Passwords of customers, for whoever wants one: chosen after a link, and slowed down where they are guessed."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Forbidden, NotSignedIn
from sync_server.accounts import rules as account_rules
from sync_server.accounts.sign_in import throttling
from sync_server.accounts.sign_in.passwords import decoy_verifier, hash_secret, matches
from sync_server.accounts.sign_in.throttling import Tried
from sync_server.audit.service import AuditLine, record
from sync_server.customers import queries, rules
from sync_server.customers.logins import sessions
from sync_server.customers.logins.sessions import Opened
from sync_server.plumbing.database import Database
from sync_server.plumbing.requests.addresses import network_of
from sync_server.plumbing.requests.principals import ActionContext, Principal

Known = Callable[[str], str | None]
"""The id of this browser if somebody has signed in to that login with it before."""
TOO_MANY = (
    "Too many wrong passwords from here. Wait {seconds} seconds, or ask for a link by mail. A browser in which you "
    "have signed in before does not have to wait for the mistakes of others."
)


def sign_in(
    database: Database,
    organisation_id: str,
    credentials: tuple[str, str],
    guest_id: str | None,
    *,
    known: Known,
    context: ActionContext,
) -> Opened:
    """Start a session; NotSignedIn if address or password are wrong, TooMany while whoever guesses has to wait."""
    email, password = credentials[0].strip().casefold(), credentials[1]
    tried = _tried(rules.login_name(organisation_id, email), known, network_of(context.actor.ip))
    throttling.check(database, tried, context.now, TOO_MANY)
    with database.reading() as session:
        customer = queries.customer_by_email(session, organisation_id, email)
        verifier = customer.password_hash if customer is not None else ""
    if not matches(verifier or decoy_verifier(), password) or customer is None or not verifier:
        with database.writing() as session:
            id = customer.id if customer is not None else ""
            record(session, AuditLine(context, "customer.sign_in_failed", "customer", id, organisation_id))
        raise NotSignedIn("The e-mail address or password is wrong.", code="bad_credentials")
    with database.writing() as session:
        throttling.forget(session, tried[:1])
        for address in tried[1:]:
            throttling.take_back(session, address)
        return sessions.open_session(session, customer, guest_id, context, by_link=False)


def _tried(login: str, known: Known, address: str) -> list[Tried]:
    """Whose attempt this counts as: the known browser's, or else the address's, for this login and for all."""
    browser = known(login)
    if browser is not None:
        return [Tried(rules.GUESSES_OF_BROWSER, browser)]
    return [Tried(rules.GUESSES_OF_LOGIN, f"{login}\0{address}"), Tried(rules.GUESSES, address)]


def has_just_signed_in(session: Session, by: Principal, now: Millis) -> bool:
    """Whether the session has just begun by a link, so that no password is asked for."""
    row = queries.customer_session(session, by.organisation_id, by.session_id)
    return row.by_link and now - row.created_at < rules.FRESH_MS


def prove(database: Database, by: Principal, password: str, context: ActionContext) -> None:
    """Forbidden unless the session has just begun by a link, or this is the customer's password."""
    with database.reading() as session:
        proved = has_just_signed_in(session, by, context.now)
        verifier = queries.customer(session, by.organisation_id, by.id).password_hash
    if proved:
        return
    tried = [Tried(rules.OWN_PASSWORD, by.session_id)]
    throttling.check(database, tried, context.now, "Too many wrong passwords. Wait {seconds} seconds and try again.")
    if not matches(verifier or decoy_verifier(), password) or not verifier:
        raise Forbidden(
            "This is not your password. Or ask for a link by mail and sign in with it.", code="bad_password"
        )
    with database.writing() as session:
        throttling.forget(session, tried)


def choose(session: Session, by: Principal, password: str, context: ActionContext) -> None:
    """Choose a password, or none ("") to sign in by link only: ends all other sessions."""
    if password:
        account_rules.check_password(password)
    row = queries.customer(session, by.organisation_id, by.id, lock=True)
    row.password_hash, row.updated_at = hash_secret(password, context.entropy) if password else "", context.now
    sessions.end_all(session, by.organisation_id, by.id, but=by.session_id)
    record(session, AuditLine(context, "customer.password_chosen", "customer", by.id, by.organisation_id))
