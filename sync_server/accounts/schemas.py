"""Request and response schemas for organisations, staff, tokens and supervisors."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from sync_server.accounts.models import OrganisationRow, SupervisorRecord, TokenRow
from sync_server.accounts.queries import Member
from sync_server.plumbing.api.schemas import Name, PatchBody, RequestBody, Slug, Time, iso, iso_or_none


class SignInRequest(RequestBody):
    """Credentials to sign in with."""

    email: Annotated[str, Field(min_length=3, max_length=254)]
    password: Annotated[str, Field(min_length=1, max_length=500)]


class ChooseOrganisation(RequestBody):
    """The organisation to act for."""

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
        return cls(id=row.id, slug=row.slug, name=row.name, currency=row.currency, role=role)


class SessionView(BaseModel):
    """The caller, the current organisation, and the X-CSRF-Token that unsafe requests of this session must carry."""

    kind: str
    id: str
    name: str
    role: str
    platform_role: str
    organisation: OrganisationView | None
    organisations: list[OrganisationView]
    csrf_token: str


class MemberView(BaseModel):
    """A member of staff."""

    user_id: str
    email: str
    name: str
    role: str
    active: bool

    @classmethod
    def of(cls, member: Member) -> MemberView:
        return cls(user_id=member.user_id, email=member.email, name=member.name, role=member.role, active=member.active)


class MembersView(BaseModel):
    """A page of staff."""

    items: list[MemberView]


class InviteMember(RequestBody):
    """A new member: an existing login, or a new one with this name and password."""

    email: Annotated[str, Field(min_length=3, max_length=254)]
    role: Literal["owner", "admin", "staff"]
    name: Name | None = None
    password: Annotated[str, Field(max_length=500)] | None = None


class GiveRole(RequestBody):
    """A member's new role."""

    role: Literal["owner", "admin", "staff"]


class NewToken(RequestBody):
    """A new API token."""

    name: Name
    scopes: Annotated[list[str], Field(min_length=1, max_length=30)]
    ends_at: Time | None = None


class TokenView(BaseModel):
    """An API token; `token` is present only in the response that created it."""

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


class NewSupervisor(RequestBody):
    """A new supervisor, who may override refusals at gates."""

    name: Name
    pin: Pin


class ChangeSupervisor(PatchBody):
    """Changes to a supervisor."""

    pin: Pin | None = None
    active: bool | None = None


class SupervisorView(BaseModel):
    """A supervisor; the PIN is never shown."""

    number: int
    name: str
    active: bool
    created_at: str

    @classmethod
    def of(cls, row: SupervisorRecord) -> SupervisorView:
        return cls(number=row.number, name=row.name, active=row.active, created_at=iso(row.created_at))


class SupervisorsView(BaseModel):
    """The supervisors."""

    items: list[SupervisorView]


class NewOrganisation(RequestBody):
    """A new organisation."""

    name: Name
    slug: Slug
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")] = "EUR"
