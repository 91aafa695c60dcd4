"""Requests about a person, and what an erasure answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, model_validator

from sync_server.plumbing.api.one_line import SEVERAL_LINES
from sync_server.plumbing.api.schemas import RequestBody, View
from sync_server.privacy.people import Wanted


class PersonNamed(RequestBody):
    """A person, named by an e-mail address, a membership's id or a ticket's id."""

    email: Annotated[str, Field(min_length=3, max_length=254)] | None = None
    membership: Annotated[str, Field(min_length=1, max_length=36)] | None = None
    ticket: Annotated[str, Field(min_length=16, max_length=16)] | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if sum(value is not None for value in (self.email, self.membership, self.ticket)) != 1:
            raise ValueError("give exactly one of `email`, `membership` and `ticket`")
        return self

    def wanted(self) -> Wanted:
        """The person to look for."""
        return Wanted(self.email or "", self.membership or "", self.ticket or "")


class PersonToErase(PersonNamed):
    """Whom to erase, and why."""

    reason: Annotated[str, Field(min_length=3, max_length=1000), SEVERAL_LINES]


class Exported(BaseModel):
    """Everything that is stored about a person: rows by table, with the columns that tell about the person."""

    made_at: str
    named_by: str
    records: dict[str, list[dict[str, Any]]]


class KeptView(BaseModel):
    """What stays when a customer is erased, and why."""

    what: str
    why: str


class ErasurePreview(View):
    """What an erasure would mean now: `open_orders` must be paid or cancelled before; `tickets_to_come` stay valid."""

    email: str
    orders: int
    tickets_to_come: int
    open_orders: list[str]
    kept: list[KeptView]


class EraseOwn(RequestBody):
    """Confirms an erasure with the `email` of the login; the password, unless the session has just begun by a link."""

    email: Annotated[str, Field(min_length=3, max_length=254)]
    current_password: Annotated[str, Field(max_length=200), SEVERAL_LINES] = ""


def kept_views(kept: Iterable[tuple[str, str]]) -> list[KeptView]:
    """What stays, as a response says it."""
    return [KeptView(what=what, why=why) for what, why in kept]


class OwnErased(BaseModel):
    """How many values were erased, by table, and what stays."""

    erased: dict[str, int]
    kept: list[KeptView]


class Erased(BaseModel):
    """How many values were erased, by table."""

    erased: dict[str, int]
