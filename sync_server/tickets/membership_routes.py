"""/api/memberships: what a membership that ended, or goes on, means for the tickets that hang on it."""

from __future__ import annotations

from apiflask import APIBlueprint

from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import deed, organisation, requires
from sync_server.tickets import memberships, schemas

bp = APIBlueprint("memberships", __name__, url_prefix="/memberships/<membership_id>", tag="Memberships")


@bp.post("/revoke")
@requires(Action.CHANGE_TICKETS)
@bp.input(schemas.TicketWhy)
@bp.output(schemas.MembershipTickets)
def revoke(membership_id: str, json_data: schemas.TicketWhy) -> schemas.MembershipTickets:
    """Say that a membership is no more; gates refuse its tickets where a zone asks for it."""
    with parts().database.writing() as session:
        count = memberships.revoke(session, organisation(), membership_id, deed(), reason=json_data.reason)
    return schemas.MembershipTickets(tickets=count)


@bp.post("/renew")
@requires(Action.CHANGE_TICKETS)
@bp.input(schemas.RenewMembership)
@bp.output(schemas.MembershipTickets)
def renew(membership_id: str, json_data: schemas.RenewMembership) -> schemas.MembershipTickets:
    """Say that a membership goes on, until a day or without an end."""
    why = json_data.reason
    with parts().database.writing() as session:
        count = memberships.renew(session, organisation(), membership_id, json_data.until, deed(), reason=why)
    return schemas.MembershipTickets(tickets=count)
