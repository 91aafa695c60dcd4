"""Queries for organisations, staff, sessions, tokens and supervisors."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache

from msgspec import structs
from sqlalchemy import Row, Select, and_, func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from shared.wire.snapshot import SupervisorRow
from sync_server.accounts import rules
from sync_server.accounts.models import (
    MembershipRow,
    OrganisationRow,
    SessionRow,
    SupervisorRecord,
    TokenRow,
    UserRow,
)
from sync_server.plumbing.database import database_of
from sync_server.plumbing.requests.principals import Principal
from sync_server.plumbing.sql.prepared import Prepared, among

Organisation = OrganisationRow
"""An organisation's row, as other domains may read it within their transaction."""


@dataclass(frozen=True, slots=True)
class Member:
    """A user with the role in one organisation."""

    user_id: str
    email: str
    name: str
    role: str
    active: bool


def organisation(session: Session, organisation_id: str) -> OrganisationRow:
    """The organisation with this id, or NotFound."""
    row = session.get(OrganisationRow, organisation_id)
    if row is None:
        raise NotFound
    return row


def organisation_by_slug(session: Session, slug: str) -> OrganisationRow | None:
    """The organisation with this slug, if any."""
    return session.execute(select(OrganisationRow).where(OrganisationRow.slug == slug)).scalar_one_or_none()


@cache
def _names(*, embedded: bool) -> Prepared:
    selected = among(OrganisationRow.id, "ids", embedded=embedded)
    return Prepared(select(OrganisationRow.id, OrganisationRow.slug, OrganisationRow.name).where(selected))


def names(session: Session, organisation_ids: Collection[str]) -> dict[str, tuple[str, str]]:
    """Slug and name of each of these organisations, for public pages."""
    found = _names(embedded=database_of(session).embedded).rows(session, ids=[*organisation_ids])
    return {id: (slug, name) for id, slug, name in found}


def organisations(session: Session) -> Sequence[OrganisationRow]:
    """All organisations, by name."""
    return session.execute(select(OrganisationRow).order_by(OrganisationRow.name)).scalars().all()


def organisations_of(session: Session, user_id: str) -> Sequence[tuple[OrganisationRow, str]]:
    """The organisations a user belongs to, with the role in each."""
    query = (
        select(OrganisationRow, MembershipRow.role)
        .join(MembershipRow, MembershipRow.organisation_id == OrganisationRow.id)
        .where(MembershipRow.user_id == user_id)
        .order_by(OrganisationRow.name)
    )
    return [(row, role) for row, role in session.execute(query)]


def user_by_email(session: Session, email: str) -> UserRow | None:
    """The user with this e-mail address, if any."""
    return session.execute(select(UserRow).where(UserRow.email == email.strip().casefold())).scalar_one_or_none()


def user(session: Session, user_id: str) -> UserRow:
    """A login, by its id."""
    return session.get_one(UserRow, user_id)


def members(session: Session, organisation_id: str) -> list[Member]:
    """The staff of an organisation."""
    query = (
        select(UserRow, MembershipRow.role)
        .join(MembershipRow, MembershipRow.user_id == UserRow.id)
        .where(MembershipRow.organisation_id == organisation_id)
        .order_by(UserRow.email)
    )
    return [Member(user.id, user.email, user.name, role, user.active) for user, role in session.execute(query)]


def member(session: Session, organisation_id: str, user_id: str) -> Member:
    """A member of staff, or NotFound."""
    found = next((each for each in members(session, organisation_id) if each.user_id == user_id), None)
    if found is None:
        raise NotFound
    return found


def role_in(session: Session, organisation_id: str, user_id: str) -> str | None:
    """A user's role in an organisation, if any."""
    row = session.get(MembershipRow, (organisation_id, user_id))
    return None if row is None else row.role


def scopes_of(session: Session, organisation_id: str, role: str) -> frozenset[str]:
    """The actions that the organisation's policy gives to this role: staff only, other roles have theirs by rule."""
    if role != "staff":
        return frozenset()
    return rules.staff_scopes(organisation(session, organisation_id).staff_policy)


def owners(session: Session, organisation_id: str) -> int:
    """The number of owners of an organisation."""
    is_owner = MembershipRow.organisation_id == organisation_id, MembershipRow.role == "owner"
    return session.execute(select(func.count()).select_from(MembershipRow).where(*is_owner)).scalar_one()


def session_principal(session: Session, token_hash: bytes, now: Millis) -> tuple[Principal, Millis] | None:
    """The principal of a session token, and when the session was last seen."""
    query = (
        select(SessionRow, UserRow).join(UserRow).where(SessionRow.token_hash == token_hash, SessionRow.ends_at > now)
    )
    found = session.execute(query).first()
    if found is None or not found[1].active:
        return None
    return _principal(session, *found)


def _principal(session: Session, row: SessionRow, user: UserRow) -> tuple[Principal, Millis]:
    acting = _acting_for(session, row.organisation_id or "", user)
    return structs.replace(acting, session_id=row.id, csrf=row.csrf), row.seen_at


def acting_for(session: Session, organisation_id: str, user_id: str) -> Principal | None:
    """A user with the rights that he has now in an organisation; None if his login is closed."""
    user = session.get(UserRow, user_id)
    return None if user is None or not user.active else _acting_for(session, organisation_id, user)


def _acting_for(session: Session, organisation_id: str, user: UserRow) -> Principal:
    role = (organisation_id and role_in(session, organisation_id, user.id)) or ""
    return Principal(
        "user",
        user.id,
        organisation_id if role or user.platform_role else "",
        user.name,
        role,
        user.platform_role,
        scopes_of(session, organisation_id, role),
    )


def token_principal(session: Session, token_hash: bytes, now: Millis) -> tuple[Principal, Millis] | None:
    """The principal of an API token with what its maker may do now, and when the token was last used."""
    return _bearer(session, session.execute(_valid_tokens(now).where(TokenRow.token_hash == token_hash)).first())


def refreshed_principal(session: Session, principal: Principal, now: Millis) -> Principal | None:
    """The principal with its present rights; None once its session or token has ended, or its user is inactive."""
    if principal.kind == "token":
        its_row = TokenRow.organisation_id == principal.organisation_id, TokenRow.id == principal.id
        found = _bearer(session, session.execute(_valid_tokens(now).where(*its_row)).first())
        return found and found[0]
    row = session.get(SessionRow, principal.session_id, populate_existing=True)
    user = None if row is None else session.get(UserRow, row.user_id, populate_existing=True)
    if row is None or user is None or row.ends_at <= now or not user.active:
        return None
    return _principal(session, row, user)[0]


def _valid_tokens(now: Millis) -> Select[TokenRow, str, bool]:
    """Tokens, with the role of the member who made each and whether his login is active."""
    its_maker = MembershipRow.organisation_id == TokenRow.organisation_id, MembershipRow.user_id == TokenRow.maker_id
    return (
        select(TokenRow, MembershipRow.role, UserRow.active)
        .outerjoin(MembershipRow, and_(*its_maker))
        .outerjoin(UserRow, UserRow.id == MembershipRow.user_id)
        .where(TokenRow.revoked_at.is_(None), TokenRow.ends_at > now)
    )


def _bearer(session: Session, found: Row[TokenRow, str, bool] | None) -> tuple[Principal, Millis] | None:
    """Who leaves, or whose login is closed, takes his tokens along; those of the operator's command line stay."""
    if found is None or (found[0].maker_id is not None and not found[2]):
        return None
    row, role, _ = found
    scopes = frozenset(row.scopes)
    if row.maker_id is not None:
        scopes = rules.scopes_within(scopes, role, scopes_of(session, row.organisation_id, role))
    return Principal("token", row.id, row.organisation_id, row.name, scopes=scopes), row.used_at or 0


def tokens(session: Session, organisation_id: str) -> Sequence[TokenRow]:
    """The API tokens of an organisation, newest first."""
    query = select(TokenRow).where(TokenRow.organisation_id == organisation_id)
    return session.execute(query.order_by(TokenRow.id.desc())).scalars().all()


def supervisors(session: Session, organisation_id: str) -> Sequence[SupervisorRecord]:
    """The supervisors of an organisation."""
    query = select(SupervisorRecord).where(SupervisorRecord.organisation_id == organisation_id)
    return session.execute(query.order_by(SupervisorRecord.number)).scalars().all()


def supervisor(session: Session, organisation_id: str, number: int) -> SupervisorRecord:
    """One supervisor, or NotFound."""
    row = session.get(SupervisorRecord, (organisation_id, number))
    if row is None:
        raise NotFound
    return row


def supervisor_rows(session: Session, organisation_id: str) -> list[SupervisorRow]:
    """The active supervisors, as rows for gates."""
    return [SupervisorRow(s.number, s.name, s.verifier) for s in supervisors(session, organisation_id) if s.active]
