"""Request and response schemas for organisations, staff, tokens and supervisors."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from sync_server.plumbing.api.edits import EditedView
from sync_server.plumbing.api.one_line import SEVERAL_LINES
from sync_server.plumbing.api.schemas import Id, IsoTime, Name, PatchBody, RequestBody, Time, View, WholeList


class SignInRequest(RequestBody):
    """Credentials to sign in with."""

    email: Annotated[str, Field(min_length=3, max_length=254)]
    password: Annotated[str, Field(min_length=1, max_length=500), SEVERAL_LINES]
    code: Annotated[str, Field(max_length=40)] = ""  # of the second factor


class ChooseOrganisation(RequestBody):
    """The organisation to act for."""

    organisation_id: Id


class OrganisationView(View):
    """An organisation."""

    id: str
    slug: str
    name: str
    currency: str
    role: str = ""


class SignedInView(View):
    """A new session: its cookie comes beside it, and every request that changes something must carry the token."""

    csrf_token: str
    organisation_id: str | None


class SessionView(View):
    """The caller, the current organisation, and the X-CSRF-Token that unsafe requests of this session must carry."""

    kind: str
    id: str
    name: str
    role: str
    platform_role: str
    organisation: OrganisationView | None
    organisations: list[OrganisationView]
    csrf_token: str


class MemberView(EditedView):
    """A member of staff."""

    user_id: str
    email: str
    name: str
    role: str
    active: bool


class MembersView(WholeList):
    """A page of staff."""

    items: list[MemberView]


Email = Annotated[str, Field(min_length=3, max_length=254)]
Code = Annotated[str, Field(min_length=1, max_length=100)]
Password = Annotated[str, Field(max_length=500), SEVERAL_LINES]


class NewInvitation(RequestBody):
    """Who is to become a member, and in which role."""

    email: Email
    role: Literal["owner", "admin", "staff"]


class InvitationView(View):
    """An invitation that can still be accepted; its link is never shown to those who invite."""

    id: str
    email: str
    role: str
    created_at: IsoTime
    ends_at: IsoTime
    mail: str  # waiting, sent, failed or bounced, and the code of the last problem; empty: handed over


class InvitationMade(InvitationView):
    """An invitation, and how its link reaches the invited person."""

    message: str


class InvitationsView(WholeList):
    """The open invitations."""

    items: list[InvitationView]


class InvitationCode(RequestBody):
    """The code in the link of an invitation."""

    code: Code


class InvitationPreview(View):
    """What is offered: with a login, accept by signing in with it; without one, choose name and password."""

    organisation: str
    role: str
    email: str
    has_login: bool


class AcceptInvitation(InvitationCode):
    """Acceptance: the password of the login, or a name and password for a new one. Signed in, neither is needed."""

    name: Annotated[str, Field(max_length=100)] = ""
    password: Password = ""
    second_factor: Annotated[str, Field(max_length=40)] = ""


class AcceptedView(View):
    """The new session; empty for whoever was signed in already."""

    csrf_token: str | None = None
    organisation_id: str | None = None


class AskForPasswordLink(RequestBody):
    """Whose password is forgotten."""

    email: Email


class Said(View):
    """What happens next."""

    message: str


class ChangePassword(RequestBody):
    """A new password, and the one until now."""

    current_password: Password
    new_password: Password


class SessionItem(View):
    """A browser that is signed in."""

    id: str
    browser: str
    created_at: IsoTime
    seen_at: IsoTime
    ends_at: IsoTime
    current: bool


class SessionsView(WholeList):
    """The browsers in which one is signed in."""

    items: list[SessionItem]


class OwnPassword(RequestBody):
    """The password of the caller, who may have left the browser to somebody else."""

    password: Password


class SecondFactorView(View):
    """Whether a second factor is asked for, and how many recovery codes are left."""

    on: bool
    recovery_codes_left: int


class NewAppView(View):
    """What an authenticator app needs: the secret for typing in, and the URI for a QR code."""

    secret: str
    uri: str


class AppCode(RequestBody):
    """A code of the authenticator app."""

    code: Annotated[str, Field(min_length=6, max_length=40)]


class RecoveryCodes(View):
    """Codes for when the app is lost; each works once, and they are shown only now."""

    recovery_codes: list[str]


class PasskeyOptions(View):
    """What the browser's own call takes, by the Web Authentication standard."""

    publicKey: dict[str, Any]  # noqa: N815 -- the name of the standard


class PasskeyAnswer(RequestBody):
    """What the browser answered, as `toJSON()` of its credential gives it."""

    credential: dict[str, Any]


class NewPasskey(PasskeyAnswer):
    """A passkey that the browser has made, and how its owner calls it."""

    name: Name


class PasskeyView(View):
    """A passkey."""

    id: str
    name: str
    created_at: IsoTime
    used_at: IsoTime | None


class PasskeysView(WholeList):
    """The caller's passkeys."""

    items: list[PasskeyView]


class PasswordByLink(RequestBody):
    """A new password, and the code in the link that allows to choose it."""

    code: Code
    password: Password


class GiveRole(RequestBody):
    """A member's new role."""

    role: Literal["owner", "admin", "staff"]


class NewToken(RequestBody):
    """A new API token; without `ends_at` it lasts 90 days."""

    name: Name
    scopes: Annotated[list[str], Field(min_length=1, max_length=30)]
    ends_at: Time | None = None


class TokenView(View):
    """An API token; `token` is present only in the response that created it."""

    id: str
    name: str
    scopes: list[str]
    created_at: IsoTime
    created_by: str
    ends_at: IsoTime
    used_at: IsoTime | None
    revoked_at: IsoTime | None
    token: str | None = None


class TokensView(WholeList):
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


class SupervisorView(EditedView):
    """A supervisor; the PIN is never shown."""

    number: int
    name: str
    active: bool
    created_at: IsoTime


class SupervisorsView(WholeList):
    """The supervisors."""

    items: list[SupervisorView]
