"""Who gets into an organisation, and what ends with a member: last seen, second factor, passkeys, tokens, sessions."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.accounts.models import (
    InvitationRow,
    MembershipRow,
    PasskeyRow,
    SecondFactorRow,
    SessionRow,
    TokenRow,
    UserRow,
)
from sync_server.accounts.queries import Member

Invited = InvitationRow
"""An invitation, as pages may read it within their transaction."""
Token = TokenRow
"""An API token, as pages may read it within their transaction."""


@dataclass(frozen=True, slots=True)
class MemberAccess:
    """A member, and how well the login is kept."""

    member: Member
    seen_at: Millis | None  # in a browser that is still signed in
    second_factor: bool
    passkeys: int


@dataclass(frozen=True, slots=True)
class EndsWithMember:
    """What ends when a member is removed."""

    tokens: int
    sessions: int


def members_with_access(session: Session, organisation_id: str) -> list[MemberAccess]:
    """The staff of an organisation with what an owner should know of each login."""
    seen = select(func.max(SessionRow.seen_at)).where(SessionRow.user_id == UserRow.id).scalar_subquery()
    factor = (
        select(func.count())
        .select_from(SecondFactorRow)
        .where(SecondFactorRow.user_id == UserRow.id, SecondFactorRow.confirmed.is_(True))
    )
    passkeys = select(func.count()).select_from(PasskeyRow).where(PasskeyRow.user_id == UserRow.id)
    query = (
        select(UserRow, MembershipRow.role, seen, factor.scalar_subquery(), passkeys.scalar_subquery())
        .join(MembershipRow, MembershipRow.user_id == UserRow.id)
        .where(MembershipRow.organisation_id == organisation_id)
        .order_by(UserRow.email)
    )
    return [
        MemberAccess(Member(user.id, user.email, user.name, role, user.active), seen_at, bool(with_app), keys)
        for user, role, seen_at, with_app, keys in session.execute(query)
    ]


def ends_with(session: Session, organisation_id: str, user_id: str, now: Millis) -> EndsWithMember:
    """What ends when this member is removed: tokens of theirs, and the browsers that act for the organisation."""
    token, row = TokenRow, SessionRow
    valid = token.organisation_id == organisation_id, token.maker_id == user_id, token.revoked_at.is_(None)
    acting = row.user_id == user_id, row.organisation_id == organisation_id, row.ends_at > now
    tokens = session.scalar(select(func.count()).select_from(token).where(*valid, token.ends_at > now)) or 0
    return EndsWithMember(tokens, session.scalar(select(func.count()).select_from(row).where(*acting)) or 0)


def token(session: Session, organisation_id: str, token_id: str) -> TokenRow:
    """An API token of an organisation, or NotFound."""
    found = session.get(TokenRow, (organisation_id, token_id))
    if found is None:
        raise NotFound
    return found


def made_with(session: Session, organisation_id: str, token_id: str, now: Millis) -> int:
    """How many valid tokens were made with this one, at any remove: they are revoked with it."""
    row = TokenRow
    valid = row.organisation_id == organisation_id, row.revoked_at.is_(None), row.ends_at > now
    parents = dict(session.execute(select(row.id, row.parent_id).where(*valid)).all())
    found = {token_id}
    while more := {id for id, parent in parents.items() if parent in found} - found:
        found |= more
    return len(found) - 1
