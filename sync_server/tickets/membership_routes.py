"""/api/memberships: who belongs to which tier, and what it means for tickets when that ends or goes on."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from sqlalchemy.orm import Session

from sync_server.plumbing.once import plainly
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import deed, organisation, requires
from sync_server.seating import memberships as kept
from sync_server.tickets import membership_schemas as shapes
from sync_server.tickets import memberships
from sync_server.tickets.schemas import TicketWhy

bp = APIBlueprint("memberships", __name__, url_prefix="/memberships", tag="Memberships")


@bp.post("")
@requires(Action.CHANGE_TICKETS)
@bp.input(shapes.NewMembership)
@bp.output(shapes.GrantedView, status_code=201)
def grant(json_data: shapes.NewMembership) -> Response:
    """Make somebody a member of a tier. The code on the card is told this once."""

    def write(session: Session) -> dict[str, Any]:
        found, code = kept.grant(session, organisation(), json_data.grant(), parts().sealer, deed())
        return _with_card(found, code)

    return plainly(write)


@bp.get("")
@requires(Action.READ)
@bp.input(shapes.MembershipsQuery, location="query")
@bp.output(shapes.MembershipsView)
def listing(query_data: shapes.MembershipsQuery) -> shapes.MembershipsView:
    """List memberships, perhaps of one tier or in one state only."""
    state = None if query_data.state is None else kept.State(query_data.state)
    with parts().database.reading() as session:
        page = kept.memberships(
            session, organisation(), tier=query_data.tier, state=state, limit=query_data.limit, after=query_data.after
        )
    items = [shapes.MembershipView.of(each, parts().clock()) for each in page.items]
    return shapes.MembershipsView(items=items, next=page.next)


@bp.get("/<membership_id>")
@requires(Action.READ)
@bp.output(shapes.MembershipView)
def show(membership_id: str) -> shapes.MembershipView:
    """Show a membership."""
    with parts().database.reading() as session:
        return shapes.MembershipView.of(kept.membership(session, organisation(), membership_id), parts().clock())


@bp.post("/<membership_id>/card")
@requires(Action.CHANGE_TICKETS)
@bp.output(shapes.GrantedView, status_code=201)
def new_card(membership_id: str) -> Response:
    """Give a member another card; the one before is good no more."""

    def write(session: Session) -> dict[str, Any]:
        return _with_card(*kept.new_card(session, organisation(), membership_id, parts().sealer, deed()))

    return plainly(write)


@bp.post("/<membership_id>/revoke")
@requires(Action.CHANGE_TICKETS)
@bp.input(TicketWhy)
@bp.output(shapes.MembershipTickets)
def revoke(membership_id: str, json_data: TicketWhy) -> shapes.MembershipTickets:
    """Say that a membership is no more; gates refuse its tickets where a zone asks for it."""
    with parts().database.writing() as session:
        count = memberships.revoke(session, organisation(), membership_id, deed(), reason=json_data.reason)
    return shapes.MembershipTickets(tickets=count)


@bp.post("/<membership_id>/renew")
@requires(Action.CHANGE_TICKETS)
@bp.input(shapes.RenewMembership)
@bp.output(shapes.MembershipTickets)
def renew(membership_id: str, json_data: shapes.RenewMembership) -> shapes.MembershipTickets:
    """Say that a membership goes on, until a day or without an end."""
    why = json_data.reason
    with parts().database.writing() as session:
        count = memberships.renew(session, organisation(), membership_id, json_data.until, deed(), reason=why)
    return shapes.MembershipTickets(tickets=count)


def _with_card(found: kept.Membership, code: str) -> dict[str, Any]:
    view = shapes.MembershipView.of(found, parts().clock())
    return shapes.GrantedView(**view.model_dump(), card=code).model_dump(mode="json")
