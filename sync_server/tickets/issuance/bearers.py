"""Whom tickets are for: resolves the memberships and guest names of a request."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import InvalidRequest, NotFound
from shared.wire.snapshot import MembershipState
from sync_server.plumbing.sealing import Sealer
from sync_server.seating.rules import Visitor
from sync_server.seating.zone_access import memberships
from sync_server.seating.zone_access.entitlements import Bearer, GuestKey
from sync_server.seating.zone_access.memberships import Membership
from sync_server.tickets.issuance.issue_request import Member
from sync_server.tickets.memberships import ticket_membership_state


@dataclass(frozen=True, slots=True)
class MembershipReference:
    """A membership as a request names it: by id, or by tier alone, which is not verified."""

    id: str = ""
    tier: str = ""
    until: Millis | None = None


@dataclass(frozen=True, slots=True)
class Issuer:
    """Who issues tickets: an actor with these roles, in one transaction."""

    session: Session
    organisation_id: str
    roles: frozenset[str]
    sealer: Sealer
    now: Millis

    def bearer(self, reference: MembershipReference | None, names: frozenset[GuestKey]) -> tuple[Bearer, Member | None]:
        """The bearer that zones check, and the membership that the ticket depends on; InvalidRequest if unknown."""
        if reference is None:
            return Bearer(Visitor(True, roles=self.roles), names), None
        if not reference.id:
            # An unverified tier opens no zone; at events without a layout, gates ask for it.
            unverified = Member(reference.tier, reference.until or 0, "", MembershipState.ACTIVE)
            return Bearer(Visitor(True, roles=self.roles), names), unverified
        found = self._find(reference)
        visitor = Visitor(True, found.tier, found.counts(self.now), self.roles)
        return Bearer(visitor, names), Member(
            found.tier, found.until or 0, found.id, MembershipState(ticket_membership_state(found))
        )

    def _find(self, reference: MembershipReference) -> Membership:
        try:
            found = memberships.lock_membership(self.session, self.organisation_id, reference.id)
        except NotFound:
            raise InvalidRequest(
                "There is no membership with this id. Grant it first.", code="membership_not_found", field="membership"
            ) from None
        if reference.tier not in {"", found.tier} or reference.until not in {None, found.until}:
            raise InvalidRequest(
                f"This membership has the tier {found.tier} and does not match the request. Name it by its id alone.",
                code="membership_differs",
                field="membership",
            )
        return found
