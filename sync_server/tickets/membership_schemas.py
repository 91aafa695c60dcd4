"""Shapes of requests and answers about memberships."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from shared.clock import Millis
from sync_server.plumbing.pages import PageQuery
from sync_server.plumbing.shapes import Asked, Time, iso, iso_or_none
from sync_server.seating.memberships import Grant, Membership
from sync_server.tickets.schemas import TicketWhy

MembershipId = Annotated[str, Field(min_length=1, max_length=36, pattern=r"^[A-Za-z0-9._~-]+$")]
Tier = Annotated[str, Field(min_length=1, max_length=40)]


class NewMembership(Asked):
    """Somebody to be a member of a tier; `id` is the organiser's own number for it, `until` its end, if it has one."""

    tier: Tier
    until: Time | None = None
    id: MembershipId | None = None

    def grant(self) -> Grant:
        """As a value."""
        return Grant(self.tier, self.until, self.id or "")


class MembershipView(BaseModel):
    """A membership; `over` is one whose time has ended."""

    id: str
    tier: str
    state: Literal["active", "revoked", "over"]
    until: str | None
    granted_at: str

    @classmethod
    def of(cls, found: Membership, now: Millis) -> MembershipView:
        """As organisers see it."""
        active = found.state.value == "active"
        state: Literal["active", "revoked", "over"] = "revoked" if not active else "active"
        if active and not found.counts(now):
            state = "over"
        return cls(
            id=found.id, tier=found.tier, state=state, until=iso_or_none(found.until), granted_at=iso(found.granted_at)
        )


class GrantedView(MembershipView):
    """The same with the code on its card, by which its holder is known in the shop: told once, and kept nowhere."""

    card: str


class MembershipsQuery(PageQuery):
    """Which memberships to list."""

    tier: Tier | None = None
    state: Literal["active", "revoked"] | None = None


class MembershipsView(BaseModel):
    """A page of memberships."""

    items: list[MembershipView]
    next: str | None


class RenewMembership(TicketWhy):
    """Until when a membership goes on; without a time: without an end."""

    until: Time | None = None


class MembershipTickets(BaseModel):
    """How many tickets of events that are not over hang on a membership."""

    tickets: int
