"""Shapes of requests and answers about the lists of guests of zones."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, model_validator

from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.shapes import Asked, iso
from sync_server.seating.access import Name, Named, name
from sync_server.seating.guest_lists import problem_of
from sync_server.seating.models import ZoneGuestRecord


class GuestName(Asked):
    """A guest, named in one way: by e-mail address, by a customer's id, or by an invitation code."""

    email: Annotated[str, Field(min_length=3, max_length=254)] | None = None
    customer_id: Annotated[str, Field(min_length=1, max_length=36)] | None = None
    code: Annotated[str, Field(min_length=6, max_length=60)] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        said = self._said()
        if len(said) != 1:
            raise ValueError("name a guest by one of `email`, `customer_id` and `code`")
        if problem := problem_of(*said[0]):
            raise ValueError(problem)
        return self

    def _said(self) -> list[tuple[Named, str]]:
        ways = ((Named.EMAIL, self.email), (Named.CUSTOMER, self.customer_id), (Named.CODE, self.code))
        return [(named, words) for named, words in ways if words is not None]

    def known_as(self, organisation_id: str, sealer: Sealer) -> Name:
        """As lists know the guest."""
        return name(sealer, organisation_id, *self._said()[0])


class Guests(Asked):
    """Guests of a zone."""

    guests: Annotated[list[GuestName], Field(min_length=1, max_length=10_000)]


class GuestsChanged(BaseModel):
    """How many guests that changed; the others were on the list already, or not on it."""

    changed: int


class ZoneGuest(BaseModel):
    """Somebody on a list. Of addresses and codes only a mark is kept, so that is what is shown."""

    named: Literal["email", "customer", "code"]
    key: str
    added_at: str

    @classmethod
    def of(cls, row: ZoneGuestRecord) -> ZoneGuest:
        """As organisers see it."""
        return cls(named=Named(row.named).value, key=row.key, added_at=iso(row.added_at))


class ZoneGuests(BaseModel):
    """A page of a list."""

    items: list[ZoneGuest]
    next: str | None
