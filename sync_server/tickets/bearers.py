"""For whom tickets are: who sells them, and what is true of the membership and the list that were named."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import InvalidRequest, NotFound
from shared.snapshot import MembershipState
from sync_server.plumbing.sealing import Sealer
from sync_server.seating import memberships
from sync_server.seating.access import Bearer, Name
from sync_server.seating.memberships import Membership
from sync_server.seating.rules import Visitor
from sync_server.tickets.memberships import state_of
from sync_server.tickets.wishes import Member


@dataclass(frozen=True, slots=True)
class SaidMember:
    """A membership as a request names it: by its id, or, where nothing hangs on its being true, by its tier alone."""

    id: str = ""
    tier: str = ""
    until: Millis | None = None


@dataclass(frozen=True, slots=True)
class Till:
    """Where tickets are issued: by somebody of these roles, in one transaction."""

    session: Session
    organisation_id: str
    roles: frozenset[str]
    sealer: Sealer
    now: Millis

    def bearer(self, said: SaidMember | None, names: frozenset[Name]) -> tuple[Bearer, Member | None]:
        """Whom a ticket is for, as zones ask, and the membership that it hangs on; InvalidRequest for one unknown."""
        if said is None:
            return Bearer(Visitor(True, roles=self.roles), names), None
        if not said.id:
            # Somebody's word opens no zone; on an event without a layout it is what gates ask for.
            named = Member(said.tier, said.until or 0, "", MembershipState.ACTIVE)
            return Bearer(Visitor(True, roles=self.roles), names), named
        found = self._found(said)
        visitor = Visitor(True, found.tier, found.counts(self.now), self.roles)
        return Bearer(visitor, names), Member(found.tier, found.until or 0, found.id, MembershipState(state_of(found)))

    def _found(self, said: SaidMember) -> Membership:
        try:
            found = memberships.held_still(self.session, self.organisation_id, said.id)
        except NotFound:
            raise InvalidRequest(
                "There is no membership of this id. Grant it first.", code="membership_not_found", field="membership"
            ) from None
        if said.tier not in {"", found.tier} or said.until not in {None, found.until}:
            raise InvalidRequest(
                f"This membership is of tier {found.tier}, and not as the request says. Name it by its id alone.",
                code="membership_differs",
                field="membership",
            )
        return found
