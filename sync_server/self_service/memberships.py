"""A customer links a membership after a proof: the card, or the number with the address that the organiser holds."""

from __future__ import annotations

from sqlalchemy.orm import Session

from shared.errors import Conflict, InvalidRequest
from sync_server.customers import profile, queries
from sync_server.plumbing.requests.principals import ActionContext, Principal
from sync_server.plumbing.sealing import Sealer
from sync_server.seating.zone_access import memberships
from sync_server.seating.zone_access.memberships import Membership


def link(session: Session, by: Principal, shown: str, sealer: Sealer, context: ActionContext) -> Membership:
    """Link the membership with this card or number; InvalidRequest where that proves nothing, and no more is told."""
    where, email = by.organisation_id, queries.customer(session, by.organisation_id, by.id).email or ""
    found = memberships.find_by_card(session, where, shown, sealer)
    if found is None and email and len(shown) <= 36:
        found = memberships.find_by_address(session, where, shown, email, sealer)
    if found is None:
        raise InvalidRequest(
            "We know neither this card nor a membership with this number and your address. Ask the organiser.",
            code="membership_not_proved",
            field="membership",
        )
    if queries.others_with_membership(session, where, found.id, by.id):
        raise Conflict("This membership belongs to another login. Ask the organiser.", code="membership_linked")
    profile.link_membership(session, where, by.id, found.id, context)
    return found
