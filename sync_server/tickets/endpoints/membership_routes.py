"""/api/memberships: granting, revoking and renewing memberships."""

from __future__ import annotations

from apiflask import APIBlueprint
from sqlalchemy.orm import Session

from sync_server.plumbing.api.idempotency import once_in_secret
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, organisation, requires
from sync_server.seating.zone_access import memberships as tier_memberships
from sync_server.tickets import memberships
from sync_server.tickets.endpoints import membership_schemas as schemas
from sync_server.tickets.schemas import TicketReason

bp = APIBlueprint("memberships", __name__, url_prefix="/memberships", tag="Memberships")


@bp.post("")
@requires(Action.CHANGE_TICKETS)
@bp.input(schemas.NewMembership)
@bp.output(schemas.GrantedView, status_code=201)
@once_in_secret
def grant(session: Session, json_data: schemas.NewMembership) -> schemas.GrantedView:
    """Grant a membership of a tier. The code on the card is shown only once."""
    return _with_card(*tier_memberships.grant(session, organisation(), json_data.grant(), parts().sealer, context()))


@bp.get("")
@requires(Action.READ)
@bp.input(schemas.MembershipsQuery, location="query")
@bp.output(schemas.MembershipsView)
def listing(query_data: schemas.MembershipsQuery) -> schemas.MembershipsView:
    """List memberships, optionally of one tier or in one state."""
    state = None if query_data.state is None else tier_memberships.State(query_data.state)
    with parts().database.reading() as session:
        page = tier_memberships.memberships(
            session, organisation(), tier=query_data.tier, state=state, limit=query_data.limit, after=query_data.after
        )
    return schemas.MembershipsView(items=[_view(each) for each in page.items], next=page.next)


@bp.get("/<membership_id>")
@requires(Action.READ)
@bp.output(schemas.MembershipView)
def show(membership_id: str) -> schemas.MembershipView:
    """Show a membership."""
    with parts().database.reading() as session:
        return _view(tier_memberships.membership(session, organisation(), membership_id))


@bp.post("/<membership_id>/card")
@requires(Action.CHANGE_TICKETS)
@bp.output(schemas.GrantedView, status_code=201)
@once_in_secret
def new_card(session: Session, membership_id: str) -> schemas.GrantedView:
    """Give a member a new card; the old one becomes invalid."""
    return _with_card(*tier_memberships.new_card(session, organisation(), membership_id, parts().sealer, context()))


@bp.post("/<membership_id>/revoke")
@requires(Action.CHANGE_TICKETS)
@bp.input(TicketReason)
@bp.output(schemas.MembershipTickets)
def revoke(membership_id: str, json_data: TicketReason) -> schemas.MembershipTickets:
    """Revoke a membership; gates refuse its tickets in zones that require it."""
    with parts().database.writing() as session:
        count = memberships.revoke(session, organisation(), membership_id, context(), reason=json_data.reason)
    return schemas.MembershipTickets(tickets=count)


@bp.post("/<membership_id>/renew")
@requires(Action.CHANGE_TICKETS)
@bp.input(schemas.RenewMembership)
@bp.output(schemas.MembershipTickets)
def renew(membership_id: str, json_data: schemas.RenewMembership) -> schemas.MembershipTickets:
    """Renew a membership, until a date or without an end."""
    with parts().database.writing() as session:
        count = memberships.renew(
            session, organisation(), membership_id, json_data.until, context(), reason=json_data.reason
        )
    return schemas.MembershipTickets(tickets=count)


def _view(found: tier_memberships.Membership) -> schemas.MembershipView:
    return schemas.MembershipView.of(found, state=schemas.state_of(found, parts().clock()))


def _with_card(found: tier_memberships.Membership, code: str) -> schemas.GrantedView:
    return schemas.GrantedView.of(found, state=schemas.state_of(found, parts().clock()), card=code)
