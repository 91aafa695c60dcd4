"""Request and response schemas for guest lists."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, model_validator

from sync_server.plumbing.api.schemas import IsoTime, RequestBody, View
from sync_server.plumbing.sealing import Sealer
from sync_server.seating.zone_access.entitlements import GuestIdKind, GuestKey, guest_key
from sync_server.seating.zone_access.guest_lists import problem_of


class GuestName(RequestBody):
    """A guest, identified in one way: by e-mail address, customer id or invitation code."""

    email: Annotated[str, Field(min_length=3, max_length=254)] | None = None
    customer_id: Annotated[str, Field(min_length=1, max_length=36)] | None = None
    code: Annotated[str, Field(min_length=6, max_length=60)] | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = self._given()
        if len(given) != 1:
            raise ValueError("give exactly one of `email`, `customer_id` and `code`")
        if problem := problem_of(*given[0]):
            raise ValueError(problem)
        return self

    def _given(self) -> list[tuple[GuestIdKind, str]]:
        fields = (
            (GuestIdKind.EMAIL, self.email),
            (GuestIdKind.CUSTOMER, self.customer_id),
            (GuestIdKind.CODE, self.code),
        )
        return [(kind, value) for kind, value in fields if value is not None]

    def known_as(self, organisation_id: str, sealer: Sealer) -> GuestKey:
        """The key of this guest on guest lists."""
        return guest_key(sealer, organisation_id, *self._given()[0])


class Guests(RequestBody):
    """Guests to add to a list or to remove from it."""

    guests: Annotated[list[GuestName], Field(min_length=1, max_length=10_000)]


class GuestsChanged(BaseModel):
    """How many guests were added or removed; the others were already on the list, or not on it."""

    changed: int


class ZoneGuest(View):
    """A guest on a list. Addresses and codes are only stored as keyed hashes."""

    named: Literal["email", "customer", "code"]
    key: str
    added_at: IsoTime


class ZoneGuests(View):
    """A page of a guest list."""

    items: list[ZoneGuest]
    next: str | None
