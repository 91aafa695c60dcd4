"""Requests and responses of customers about their own login."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field

from sync_server.plumbing.api.edits import EditedView
from sync_server.plumbing.api.one_line import SEVERAL_LINES
from sync_server.plumbing.api.schemas import IsoTime, PatchBody, RequestBody, View, WholeList

Email = Annotated[str, Field(min_length=3, max_length=254)]
Locale = Annotated[str, Field(pattern="^[a-z]{2}(-[A-Z]{2})?$")]


class AskForLink(RequestBody):
    """Where a link to sign in with is mailed to, and in which language."""

    email: Email
    locale: Locale | None = None


class Told(View):
    """What to tell the visitor."""

    message: str


class SignInByLink(RequestBody):
    """The code of a link: what stands behind its #."""

    code: Annotated[str, Field(min_length=1, max_length=200)]


class SignInByPassword(RequestBody):
    """Address and password."""

    email: Email
    password: Annotated[str, Field(min_length=1, max_length=500), SEVERAL_LINES]


class SignInByPasskey(RequestBody):
    """The answer of `navigator.credentials.get()`, as its `toJSON()` gives it."""

    credential: dict[str, Any]


class AccountView(EditedView):
    """The customer who is signed in, and what every request that changes something must send as X-CSRF-Token."""

    unedited: ClassVar[frozenset[str]] = frozenset({"csrf_token"})

    id: str
    email: str
    name: str
    locale: str
    has_password: bool
    membership_id: str | None
    csrf_token: str


class ChangeAccount(PatchBody):
    """What a customer changes."""

    name: Annotated[str, Field(max_length=100)] | None = None
    locale: Locale | None = None


class ChoosePassword(RequestBody):
    """A password, or an empty one to sign in by link only; the current one, unless a link was used just now."""

    password: Annotated[str, Field(max_length=500), SEVERAL_LINES]
    current_password: Annotated[str, Field(max_length=500), SEVERAL_LINES] = ""


class CurrentPassword(RequestBody):
    """The password, unless a link was used just now."""

    current_password: Annotated[str, Field(max_length=500), SEVERAL_LINES] = ""


class NewCustomerPasskey(RequestBody):
    """A passkey: the answer of `navigator.credentials.create()`, as its `toJSON()` gives it."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    credential: dict[str, Any]


class CustomerPasskey(View):
    """A passkey of the customer."""

    id: str
    name: str
    created_at: IsoTime
    used_at: IsoTime | None


class CustomerPasskeys(WholeList):
    """The passkeys of the customer."""

    items: list[CustomerPasskey]


class CustomerSession(View):
    """A browser in which the customer is signed in."""

    id: str
    browser: str
    created_at: IsoTime
    seen_at: IsoTime
    ends_at: IsoTime
    current: bool


class CustomerSessions(WholeList):
    """The browsers in which the customer is signed in."""

    items: list[CustomerSession]
