"""/api/memberships: granting, revoking and renewing memberships."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from sqlalchemy.orm import Session

from sync_server.plumbing.api.idempotency import run_without_key
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import context, organisation, requires
from sync_server.seating.zone_access import memberships as tier_memberships
from sync_server.tickets import membership_schemas as schemas
from sync_server.tickets import memberships
from sync_server.tickets.schemas import TicketReason

bp = APIBlueprint("memberships", __name__, url_prefix="/memberships", tag="Memberships")


@bp.post("")
@requires(Action.CHANGE_TICKETS)
@bp.input(schemas.NewMembership)
@bp.output(schemas.GrantedView, status_code=201)
def grant(json_data: schemas.NewMembership) -> Response:
    """Grant a membership of a tier. The code on the card is shown only once."""

    def write(session: Session) -> dict[str, Any]:
        found, code = tier_memberships.grant(session, organisation(), json_data.grant(), parts().sealer, context())
        return _with_card(found, code)

    return run_without_key(write)


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
    items = [schemas.MembershipView.of(each, parts().clock()) for each in page.items]
    return schemas.MembershipsView(items=items, next=page.next)


@bp.get("/<membership_id>")
@requires(Action.READ)
@bp.output(schemas.MembershipView)
def show(membership_id: str) -> schemas.MembershipView:
    """Show a membership."""
    with parts().database.reading() as session:
        return schemas.MembershipView.of(
            tier_memberships.membership(session, organisation(), membership_id), parts().clock()
        )


@bp.post("/<membership_id>/card")
@requires(Action.CHANGE_TICKETS)
@bp.output(schemas.GrantedView, status_code=201)
def new_card(membership_id: str) -> Response:
    """Give a member a new card; the old one becomes invalid."""

    def write(session: Session) -> dict[str, Any]:
        return _with_card(*tier_memberships.new_card(session, organisation(), membership_id, parts().sealer, context()))

    return run_without_key(write)


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


def _with_card(found: tier_memberships.Membership, code: str) -> dict[str, Any]:
    view = schemas.MembershipView.of(found, parts().clock())
    return schemas.GrantedView(**view.model_dump(), card=code).model_dump(mode="json")
