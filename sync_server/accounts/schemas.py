"""Shapes of requests and answers about organisations, staff, tokens and supervisors."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from sync_server.accounts.models import OrganisationRow, SupervisorRecord, TokenRow
from sync_server.accounts.queries import Member
from sync_server.plumbing.shapes import Asked, Changed, Name, Slug, Time, iso, iso_or_none


class SignInRequest(Asked):
    """Who signs in."""

    email: Annotated[str, Field(min_length=3, max_length=254)]
    password: Annotated[str, Field(min_length=1, max_length=500)]


class ChooseOrganisation(Asked):
    """Which organisation to act for."""

    organisation_id: Annotated[str, Field(max_length=36)]


class OrganisationView(BaseModel):
    """An organisation."""

    id: str
    slug: str
    name: str
    currency: str
    role: str = ""

    @classmethod
    def of(cls, row: OrganisationRow, role: str = "") -> OrganisationView:
        """As its members see it."""
        return cls(id=row.id, slug=row.slug, name=row.name, currency=row.currency, role=role)


class SessionView(BaseModel):
    """Who is asking, for which organisation, and what unsafe requests of this session must carry in X-CSRF-Token."""

    kind: str
    id: str
    name: str
    role: str
    platform_role: str
    organisation: OrganisationView | None
    organisations: list[OrganisationView]
    csrf_token: str


class MemberView(BaseModel):
    """A member of the staff."""

    user_id: str
    email: str
    name: str
    role: str
    active: bool

    @classmethod
    def of(cls, member: Member) -> MemberView:
        """As colleagues see them."""
        return cls(user_id=member.user_id, email=member.email, name=member.name, role=member.role, active=member.active)


class MembersView(BaseModel):
    """The staff."""

    items: list[MemberView]


class InviteMember(Asked):
    """A new member: an existing login, or one that is made with this password."""

    email: Annotated[str, Field(min_length=3, max_length=254)]
    role: Literal["owner", "admin", "staff"]
    name: Name | None = None
    password: Annotated[str, Field(max_length=500)] | None = None


class GiveRole(Asked):
    """A member's new role."""

    role: Literal["owner", "admin", "staff"]


class NewToken(Asked):
    """An API token to make."""

    name: Name
    scopes: Annotated[list[str], Field(min_length=1, max_length=30)]
    ends_at: Time | None = None


class TokenView(BaseModel):
    """An API token; its text is there only in the answer that made it."""

    id: str
    name: str
    scopes: list[str]
    created_at: str
    created_by: str
    ends_at: str | None
    used_at: str | None
    revoked_at: str | None
    token: str | None = None

    @classmethod
    def of(cls, row: TokenRow, token: str | None = None) -> TokenView:
        """As the organisation's admins see it."""
        return cls(
            id=row.id,
            name=row.name,
            scopes=list(row.scopes),
            created_at=iso(row.created_at),
            created_by=row.created_by,
            ends_at=iso_or_none(row.ends_at),
            used_at=iso_or_none(row.used_at),
            revoked_at=iso_or_none(row.revoked_at),
            token=token,
        )


class TokensView(BaseModel):
    """The API tokens."""

    items: list[TokenView]


Pin = Annotated[str, Field(min_length=6, max_length=12)]


class NewSupervisor(Asked):
    """Somebody who may override at the doors."""

    name: Name
    pin: Pin


class ChangeSupervisor(Changed):
    """What shall change about a supervisor."""

    pin: Pin | None = None
    active: bool | None = None


class SupervisorView(BaseModel):
    """A supervisor; the PIN is shown to nobody."""

    number: int
    name: str
    active: bool
    created_at: str

    @classmethod
    def of(cls, row: SupervisorRecord) -> SupervisorView:
        """As admins see them."""
        return cls(number=row.number, name=row.name, active=row.active, created_at=iso(row.created_at))


class SupervisorsView(BaseModel):
    """The supervisors."""

    items: list[SupervisorView]


class NewOrganisation(Asked):
    """A tenant to make."""

    name: Name
    slug: Slug
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")] = "EUR"
