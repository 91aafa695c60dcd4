"""Schemas of requests and responses about memberships."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from shared.clock import Millis
from sync_server.plumbing.api.pagination import PageQuery
from sync_server.plumbing.api.schemas import IsoTime, RequestBody, Time, View
from sync_server.seating.zone_access.memberships import Grant, Membership
from sync_server.tickets.schemas import TicketReason

MembershipId = Annotated[str, Field(min_length=1, max_length=36, pattern=r"^[A-Za-z0-9._~-]+$")]
Tier = Annotated[str, Field(min_length=1, max_length=40)]


class NewMembership(RequestBody):
    """A membership to grant; `id` is the organiser's own number for it, `until` its end, if it has one.

    With `email`, of which only a keyed hash is stored, the member links it to a login at the shop by its number.
    """

    tier: Tier
    until: Time | None = None
    id: MembershipId | None = None
    email: Annotated[str, Field(min_length=3, max_length=254)] | None = None

    def grant(self) -> Grant:
        """The grant to make."""
        return Grant(self.tier, self.until, self.id or "", self.email or "")


class MembershipView(View):
    """A membership; `over` means expired."""

    id: str
    tier: str
    state: Literal["active", "revoked", "over"]
    until: IsoTime | None
    granted_at: IsoTime


def state_of(found: Membership, now: Millis) -> str:
    """The state that organisers see."""
    return "over" if found.state.value == "active" and not found.counts(now) else found.state.value


class GrantedView(MembershipView):
    """A membership with the code on its card, by which the shop recognises the member; shown once, never stored."""

    card: str


class MembershipsQuery(PageQuery):
    """Which memberships to list."""

    tier: Tier | None = None
    state: Literal["active", "revoked"] | None = None


class MembershipsView(BaseModel):
    """A page of memberships."""

    items: list[MembershipView]
    next: str | None


class RenewMembership(TicketReason):
    """The new end of a membership; without `until` it has none."""

    until: Time | None = None


class MembershipTickets(BaseModel):
    """The number of tickets that depend on a membership, of events that are not over."""

    tickets: int
