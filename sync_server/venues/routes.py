"""/api/venues and their gates."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response

from sync_server.plumbing.once import once
from sync_server.plumbing.pages import PageQuery
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import deed, organisation, requires
from sync_server.venues import queries, schemas, service

bp = APIBlueprint("venues", __name__, url_prefix="/api/venues", tag="Venues")


@bp.post("")
@requires(Action.EDIT_VENUES)
@bp.input(schemas.NewVenue)
@bp.output(schemas.VenueView, status_code=201)
def create(json_data: schemas.NewVenue) -> Response:
    """Make a venue."""

    def write(session: Any) -> dict[str, Any]:
        row = service.create_venue(session, organisation(), json_data.model_dump(), deed())
        return schemas.VenueView.of(row).model_dump(mode="json")

    return once(write)


@bp.get("")
@requires(Action.READ)
@bp.input(PageQuery, location="query")
@bp.output(schemas.VenuesView)
def listing(query_data: PageQuery) -> schemas.VenuesView:
    """List the organisation's venues."""
    with parts().database.reading() as session:
        page = queries.venues(session, organisation(), limit=query_data.limit, after=query_data.after)
    return schemas.VenuesView(items=[schemas.VenueView.of(row) for row in page.items], next=page.next)


@bp.get("/<venue_id>")
@requires(Action.READ)
@bp.output(schemas.VenueView)
def show(venue_id: str) -> schemas.VenueView:
    """Show a venue with its gates."""
    with parts().database.reading() as session:
        row = queries.venue(session, organisation(), venue_id)
        return schemas.VenueView.of(row, queries.gates(session, venue_id))


@bp.patch("/<venue_id>")
@requires(Action.EDIT_VENUES)
@bp.input(schemas.ChangeVenue)
@bp.output(schemas.VenueView)
def change(venue_id: str, json_data: schemas.ChangeVenue) -> schemas.VenueView:
    """Change a venue; only the fields sent are changed."""
    with parts().database.writing() as session:
        changes = json_data.changes()
        row = service.change_venue(session, organisation(), venue_id, changes, deed())
        return schemas.VenueView.of(row, queries.gates(session, venue_id))


@bp.post("/<venue_id>/gates")
@requires(Action.EDIT_VENUES)
@bp.input(schemas.NewGate)
@bp.output(schemas.GateView, status_code=201)
def add_gate(venue_id: str, json_data: schemas.NewGate) -> Response:
    """Add an entrance to a venue."""

    def write(session: Any) -> dict[str, Any]:
        row = service.add_gate(session, organisation(), venue_id, json_data.model_dump(), deed())
        return schemas.GateView.of(row).model_dump(mode="json")

    return once(write)


@bp.get("/<venue_id>/gates")
@requires(Action.READ)
@bp.output(schemas.GatesView)
def gates(venue_id: str) -> schemas.GatesView:
    """List the entrances of a venue."""
    with parts().database.reading() as session:
        queries.venue(session, organisation(), venue_id)
        return schemas.GatesView(items=[schemas.GateView.of(row) for row in queries.gates(session, venue_id)])


@bp.patch("/<venue_id>/gates/<int:number>")
@requires(Action.EDIT_VENUES)
@bp.input(schemas.ChangeGate)
@bp.output(schemas.GateView)
def change_gate(venue_id: str, number: int, json_data: schemas.ChangeGate) -> schemas.GateView:
    """Open, close or rename an entrance; connected gates know within a second."""
    with parts().database.writing() as session:
        row = service.change_gate(session, organisation(), venue_id, number, changes=json_data.changes(), deed=deed())
        return schemas.GateView.of(row)
