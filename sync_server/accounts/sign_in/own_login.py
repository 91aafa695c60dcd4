"""What the owner of a login does with it while signed in: the password, sessions, and the second factor."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from shared.errors import Forbidden, NotFound
from sync_server.accounts import rules
from sync_server.accounts.models import SessionRow, UserRow
from sync_server.accounts.sign_in import logins, signing_in, throttling
from sync_server.accounts.sign_in.passwords import matches
from sync_server.accounts.sign_in.signing_in import SignedIn
from sync_server.accounts.sign_in.throttling import Tried
from sync_server.audit.service import AuditLine, record
from sync_server.plumbing.database import Database
from sync_server.plumbing.requests.principals import ActionContext, Principal


def require_user(by: Principal) -> Principal:
    """Forbidden for tokens: they have no login."""
    if by.kind != "user":
        raise Forbidden("Only somebody who is signed in has a login; an API token has none.", code="no_login")
    return by


def require_password(database: Database, by: Principal, password: str, context: ActionContext) -> None:
    """Forbidden unless this is the caller's own password; who guesses has to wait."""
    tried = [Tried(rules.OWN_PASSWORD, require_user(by).session_id)]
    throttling.check(database, tried, context.now, "Too many wrong passwords. Wait {seconds} seconds and try again.")
    with database.reading() as session:
        verifier = session.get_one(UserRow, by.id).password_hash
    if not matches(verifier, password):
        raise Forbidden("This is not your password.", code="bad_password")
    with database.writing() as session:
        throttling.forget(session, tried)


def change_password(
    database: Database, by: Principal, current: str, new: str, *, hours: int, context: ActionContext
) -> SignedIn:
    """Choose another password: ends all sessions, and starts a new one in this browser."""
    rules.check_password(new)
    require_password(database, by, current, context)
    with database.writing() as session:
        user = session.get_one(UserRow, by.id)
        logins.choose_password(session, user, new, context)
        signed_in = signing_in.open_session(session, user, hours, context)
        signing_in.enter_organisation(session, signed_in.session_id, by.organisation_id)
    return signed_in


def sessions(session: Session, by: Principal, now: int) -> Sequence[SessionRow]:
    """The caller's sessions, the latest first."""
    query = select(SessionRow).where(SessionRow.user_id == require_user(by).id, SessionRow.ends_at > now)
    return session.execute(query.order_by(SessionRow.seen_at.desc())).scalars().all()


def end_session(session: Session, by: Principal, session_id: str, context: ActionContext) -> None:
    """End one of the caller's sessions: NotFound if there is none."""
    this = SessionRow.user_id == require_user(by).id, SessionRow.id == session_id
    if session.execute(delete(SessionRow).where(*this).returning(SessionRow.id)).first() is None:
        raise NotFound
    record(session, AuditLine(context, "user.session_ended", "user", by.id, None))


def end_other_sessions(session: Session, by: Principal, context: ActionContext) -> None:
    """Sign the caller out everywhere else."""
    others = SessionRow.user_id == require_user(by).id, SessionRow.id != by.session_id
    session.execute(delete(SessionRow).where(*others))
    record(session, AuditLine(context, "user.other_sessions_ended", "user", by.id, None))
