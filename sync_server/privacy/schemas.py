"""Requests about a person, and what an erasure answers."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, model_validator

from sync_server.plumbing.api.schemas import RequestBody
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

    reason: Annotated[str, Field(min_length=3, max_length=1000)]


class Exported(BaseModel):
    """Everything that is stored about a person: rows by table, with the columns that tell about the person."""

    made_at: str
    named_by: str
    records: dict[str, list[dict[str, Any]]]


class Erased(BaseModel):
    """How many values were erased, by table."""

    erased: dict[str, int]
