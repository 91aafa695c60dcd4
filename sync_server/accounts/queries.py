"""Reads of organisations, staff, sessions, tokens and supervisors."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from shared.snapshot import SupervisorRow
from sync_server.accounts.models import (
    LoginFailureRow,
    MembershipRow,
    OrganisationRow,
    SessionRow,
    SupervisorRecord,
    TokenRow,
    UserRow,
)
from sync_server.plumbing.database import of
from sync_server.plumbing.prepared import Prepared, among
from sync_server.plumbing.principals import Principal


@dataclass(frozen=True, slots=True)
class Member:
    """A user with the role in one organisation."""

    user_id: str
    email: str
    name: str
    role: str
    active: bool


def organisation(session: Session, organisation_id: str) -> OrganisationRow:
    """That organisation, or NotFound."""
    row = session.get(OrganisationRow, organisation_id)
    if row is None:
        raise NotFound
    return row


def organisation_by_slug(session: Session, slug: str) -> OrganisationRow | None:
    """The organisation at that address of the storefront."""
    return session.execute(select(OrganisationRow).where(OrganisationRow.slug == slug)).scalar_one_or_none()


@cache
def _names(*, embedded: bool) -> Prepared:
    listed = among(OrganisationRow.id, "ids", embedded=embedded)
    return Prepared(select(OrganisationRow.id, OrganisationRow.slug, OrganisationRow.name).where(listed))


def names(session: Session, organisation_ids: Collection[str]) -> dict[str, tuple[str, str]]:
    """Slug and name of each of these organisations: what visitors may know of them."""
    found = _names(embedded=of(session).embedded).rows(session, ids=[*organisation_ids])
    return {id: (slug, name) for id, slug, name in found}


def organisations(session: Session) -> Sequence[OrganisationRow]:
    """All of them, for the operator."""
    return session.execute(select(OrganisationRow).order_by(OrganisationRow.name)).scalars().all()


def organisations_of(session: Session, user_id: str) -> Sequence[tuple[OrganisationRow, str]]:
    """The organisations a user belongs to, with the role in each."""
    joined = (
        select(OrganisationRow, MembershipRow.role)
        .join(MembershipRow, MembershipRow.organisation_id == OrganisationRow.id)
        .where(MembershipRow.user_id == user_id)
        .order_by(OrganisationRow.name)
    )
    return [(row, role) for row, role in session.execute(joined)]


def user_by_email(session: Session, email: str) -> UserRow | None:
    """The user who signs in with this address."""
    return session.execute(select(UserRow).where(UserRow.email == email.strip().casefold())).scalar_one_or_none()


def user_name(session: Session, user_id: str) -> str:
    """What people call this user."""
    return session.execute(select(UserRow.name).where(UserRow.id == user_id)).scalar_one_or_none() or ""


def members(session: Session, organisation_id: str) -> list[Member]:
    """The staff of an organisation."""
    joined = (
        select(UserRow, MembershipRow.role)
        .join(MembershipRow, MembershipRow.user_id == UserRow.id)
        .where(MembershipRow.organisation_id == organisation_id)
        .order_by(UserRow.email)
    )
    return [Member(user.id, user.email, user.name, role, user.active) for user, role in session.execute(joined)]


def member(session: Session, organisation_id: str, user_id: str) -> Member:
    """One of the staff; NotFound for anybody else."""
    found = [each for each in members(session, organisation_id) if each.user_id == user_id]
    if not found:
        raise NotFound
    return found[0]


def role_in(session: Session, organisation_id: str, user_id: str) -> str | None:
    """A user's role in an organisation, if any."""
    row = session.get(MembershipRow, (organisation_id, user_id))
    return None if row is None else row.role


def owners(session: Session, organisation_id: str) -> int:
    """How many owners an organisation has."""
    mine = MembershipRow.organisation_id == organisation_id, MembershipRow.role == "owner"
    return session.execute(select(func.count()).select_from(MembershipRow).where(*mine)).scalar_one()


def failures(session: Session, key: bytes, since: Millis) -> int:
    """How many sign-ins of this account or address failed lately."""
    here = LoginFailureRow.key == key, LoginFailureRow.at >= since
    return session.execute(select(func.count()).select_from(LoginFailureRow).where(*here)).scalar_one()


def session_principal(session: Session, token_hash: bytes, now: Millis) -> tuple[Principal, Millis] | None:
    """Who the holder of a session cookie is, and when that session was last seen."""
    joined = (
        select(SessionRow, UserRow).join(UserRow).where(SessionRow.token_hash == token_hash, SessionRow.ends_at > now)
    )
    found = session.execute(joined).first()
    if found is None or not found[1].active:
        return None
    return _principal(session, *found)


def _principal(session: Session, here: SessionRow, user: UserRow) -> tuple[Principal, Millis]:
    role = role_in(session, here.organisation_id, user.id) or ""
    chosen = here.organisation_id if role or user.platform_role else ""
    who = Principal("user", user.id, chosen, user.name, role, user.platform_role, session_id=here.id, csrf=here.csrf)
    return who, here.seen_at


def token_principal(session: Session, token_hash: bytes, now: Millis) -> tuple[Principal, Millis] | None:
    """Who the holder of an API token is, and when it was last used."""
    row = session.execute(select(TokenRow).where(TokenRow.token_hash == token_hash)).scalar_one_or_none()
    return None if row is None or _is_over(row, now) else _bearer(row)


def known_still(session: Session, who: Principal, now: Millis) -> Principal | None:
    """The same one as known now; None once the session or token is over, revoked, or its holder shut out."""
    if who.kind == "token":
        token = session.get(TokenRow, who.id)
        return None if token is None or _is_over(token, now) else _bearer(token)[0]
    here = session.get(SessionRow, who.session_id)
    user = None if here is None else session.get(UserRow, here.user_id)
    if here is None or user is None or here.ends_at <= now or not user.active:
        return None
    return _principal(session, here, user)[0]


def _is_over(row: TokenRow, now: Millis) -> bool:
    return row.revoked_at is not None or (row.ends_at is not None and row.ends_at <= now)


def _bearer(row: TokenRow) -> tuple[Principal, Millis]:
    return Principal("token", row.id, row.organisation_id, row.name, scopes=frozenset(row.scopes)), row.used_at or 0


def tokens(session: Session, organisation_id: str) -> Sequence[TokenRow]:
    """The API tokens of an organisation, newest first."""
    mine = select(TokenRow).where(TokenRow.organisation_id == organisation_id)
    return session.execute(mine.order_by(TokenRow.id.desc())).scalars().all()


def supervisors(session: Session, organisation_id: str) -> Sequence[SupervisorRecord]:
    """The supervisors of an organisation."""
    mine = select(SupervisorRecord).where(SupervisorRecord.organisation_id == organisation_id)
    return session.execute(mine.order_by(SupervisorRecord.number)).scalars().all()


def supervisor_rows(session: Session, organisation_id: str) -> list[SupervisorRow]:
    """Those who may override now, as gates hold them."""
    return [SupervisorRow(s.number, s.name, s.verifier) for s in supervisors(session, organisation_id) if s.active]
