"""Links by which the owner of a login chooses a password: a first one, or another for one that is forgotten."""

from __future__ import annotations

from sqlalchemy import delete
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.accounts import rules
from sync_server.accounts.models import PasswordLinkRow, UserRow
from sync_server.accounts.sign_in.logins import choose_password
from sync_server.accounts.sign_in.passwords import new_token, token_hash
from sync_server.plumbing.requests.principals import ActionContext


def make(session: Session, user_id: str | None, context: ActionContext) -> str:
    """The code of a new link to choose the password of this login; of None it opens nothing."""
    code = new_token(context.entropy)
    ends_at = context.now + rules.PASSWORD_LINK_MS
    session.add(PasswordLinkRow(code_hash=token_hash(code), user_id=user_id, ends_at=ends_at))
    session.flush()
    return code


def use(session: Session, code: str, password: str, context: ActionContext) -> None:
    """Choose a password by a link, which works once: NotFound if it has ended."""
    rules.check_password(password)
    used = delete(PasswordLinkRow).where(
        PasswordLinkRow.code_hash == token_hash(code), PasswordLinkRow.ends_at > context.now
    )
    user_id = session.execute(used.returning(PasswordLinkRow.user_id)).scalar_one_or_none()
    user = None if user_id is None else session.get(UserRow, user_id)
    if user is None or not user.active:
        raise NotFound(
            "This link has been used, replaced, or has expired. Ask for another one: “Forgot your password?” on the "
            "sign-in page.",
            code="link_ended",
        )
    choose_password(session, user, password, context)


def delete_ended(session: Session, now: Millis) -> None:
    """Delete links that have expired."""
    session.execute(delete(PasswordLinkRow).where(PasswordLinkRow.ends_at <= now))
