"""Creates logins, and stores the passwords that their owners choose: nobody chooses another's."""

from __future__ import annotations

from sqlalchemy import delete
from sqlalchemy.orm import Session

from shared.errors import Conflict, InvalidRequest
from shared.ids import uuid7
from sync_server.accounts import queries, rules
from sync_server.accounts.models import (
    MembershipRow,
    PasskeyRow,
    PasswordLinkRow,
    RecoveryCodeRow,
    SecondFactorRow,
    SessionRow,
    UserRow,
)
from sync_server.accounts.sign_in.passwords import hash_secret
from sync_server.audit.service import AuditLine, record
from sync_server.plumbing.requests.principals import ActionContext


def create_login(
    session: Session, *, email: str, name: str, context: ActionContext, platform_role: str = ""
) -> UserRow:
    """Create a login that nobody can sign in to before its owner has chosen a password; Conflict if there is one."""
    address = checked_address(email)
    if not 1 <= len(name.strip()) <= 100:
        raise InvalidRequest("A name has 1 to 100 characters.", field="name")
    if queries.user_by_email(session, address) is not None:
        raise Conflict("There is already a login with this e-mail address.", code="email_taken")
    row = UserRow(
        id=uuid7(context.now, context.entropy),
        email=address,
        name=name.strip(),
        password_hash="",
        platform_role=platform_role,
        created_at=context.now,
    )
    session.add(row)
    session.flush()
    record(session, AuditLine(context, "user.created", "user", row.id, None, after={"platform_role": platform_role}))
    return row


def erase_login(session: Session, user: UserRow, context: ActionContext) -> None:
    """Empty a login for good: nobody signs in with it again, and only its id tells who did something."""
    for table in (SessionRow, PasswordLinkRow, PasskeyRow, SecondFactorRow, RecoveryCodeRow, MembershipRow):
        session.execute(delete(table).where(table.user_id == user.id))
    user.email, user.name, user.password_hash, user.active = f"{user.id}@erased.invalid", "", "", False
    session.flush()
    record(session, AuditLine(context, "user.erased", "user", user.id, None))


def checked_address(email: str) -> str:
    """The e-mail address as it is stored, or InvalidRequest."""
    address = email.strip().casefold()
    name, at, host = address.rpartition("@")
    if not (name and at and host) or len(address) > 254 or not address.isprintable() or " " in address:
        raise InvalidRequest("This is not an e-mail address. Write it as name@example.org.", field="email")
    return address


def choose_password(session: Session, user: UserRow, password: str, context: ActionContext) -> None:
    """Store the password that the owner of a login has chosen: ends all its sessions and open links."""
    rules.check_password(password)
    user.password_hash = hash_secret(password, context.entropy)
    session.execute(delete(SessionRow).where(SessionRow.user_id == user.id))
    session.execute(delete(PasswordLinkRow).where(PasswordLinkRow.user_id == user.id))
    record(session, AuditLine(context, "user.password_changed", "user", user.id, None))
