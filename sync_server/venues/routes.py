"""/api/venues and their gates."""

from __future__ import annotations

from apiflask import APIBlueprint
from sqlalchemy.orm import Session

from sync_server.plumbing.api.edits import check_unchanged, tagged
from sync_server.plumbing.api.idempotency import once
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, organisation, requires, search
from sync_server.venues import queries, schemas, service
from sync_server.venues.models import GateRecord, VenueRecord

bp = APIBlueprint("venues", __name__, url_prefix="/api/venues", tag="Venues")


@bp.post("")
@requires(Action.EDIT_VENUES)
@bp.input(schemas.NewVenue)
@bp.output(schemas.VenueView, status_code=201)
@once
def create(session: Session, json_data: schemas.NewVenue) -> schemas.VenueView:
    """Create a venue."""
    return _with_gates(session, service.create_venue(session, organisation(), json_data.model_dump(), context()))


@bp.get("")
@requires(Action.READ)
@bp.input(schemas.VenuesQuery, location="query")
@bp.output(schemas.VenuesView)
@search("city", "limit")
def listing(query_data: schemas.VenuesQuery) -> schemas.VenuesView:
    """List the organisation's venues, optionally by city or time zone, or the archived ones."""
    filters = queries.VenueFilter(query_data.city, query_data.timezone, query_data.archived)
    with parts().database.reading() as session:
        page = queries.venues(session, organisation(), filters, limit=query_data.limit, after=query_data.after)
    return schemas.VenuesView(items=[schemas.VenueView.of(row, gates=[]) for row in page.items], next=page.next)


@bp.get("/<venue_id>")
@requires(Action.READ)
@bp.output(schemas.VenueView)
def show(venue_id: str) -> schemas.VenueView:
    """Show a venue with its gates."""
    with parts().database.reading() as session:
        return tagged(_with_gates(session, queries.venue(session, organisation(), venue_id)))


@bp.patch("/<venue_id>")
@requires(Action.EDIT_VENUES)
@bp.input(schemas.ChangeVenue)
@bp.output(schemas.VenueView)
def change(venue_id: str, json_data: schemas.ChangeVenue) -> schemas.VenueView:
    """Change a venue; only the fields sent are changed."""
    with parts().database.writing() as session:
        check_unchanged(lambda: _with_gates(session, queries.venue(session, organisation(), venue_id, lock=True)))
        changes = json_data.changes()
        return tagged(_with_gates(session, service.change_venue(session, organisation(), venue_id, changes, context())))


@bp.post("/<venue_id>/archive")
@requires(Action.DELETE_VENUES)
@bp.output(schemas.VenueView)
def archive(venue_id: str) -> schemas.VenueView:
    """Archive a venue: it leaves the lists and takes no new events; existing events go on."""
    with parts().database.writing() as session:
        return _with_gates(session, service.archive_venue(session, organisation(), venue_id, context()))


@bp.post("/<venue_id>/restore")
@requires(Action.DELETE_VENUES)
@bp.output(schemas.VenueView)
def restore(venue_id: str) -> schemas.VenueView:
    """Restore an archived venue."""
    with parts().database.writing() as session:
        return _with_gates(session, service.restore_venue(session, organisation(), venue_id, context()))


def _locked_gate(session: Session, venue_id: str, number: int) -> GateRecord:
    queries.venue(session, organisation(), venue_id, lock=True)
    return queries.gate(session, organisation(), venue_id, number)


def _with_gates(session: Session, row: VenueRecord) -> schemas.VenueView:
    return schemas.VenueView.of(row, gates=queries.gates(session, row.organisation_id, row.id))


@bp.delete("/<venue_id>")
@requires(Action.DELETE_VENUES)
@bp.doc(summary="Delete a venue that has nothing but gates", responses={204: "Deleted"})
def delete(venue_id: str) -> tuple[str, int]:
    """Delete a venue for good; refused if anything but gates belongs to it."""
    with parts().database.writing() as session:
        service.delete_venue(session, organisation(), venue_id, context())
    return "", 204


@bp.post("/<venue_id>/gates")
@requires(Action.EDIT_VENUES)
@bp.input(schemas.NewGate)
@bp.output(schemas.GateView, status_code=201)
@once
def add_gate(session: Session, venue_id: str, json_data: schemas.NewGate) -> schemas.GateView:
    """Add an entrance to a venue."""
    return schemas.GateView.of(service.add_gate(session, organisation(), venue_id, json_data.model_dump(), context()))


@bp.get("/<venue_id>/gates")
@requires(Action.READ)
@bp.input(schemas.GatesQuery, location="query")
@bp.output(schemas.GatesView)
def gates(venue_id: str, query_data: schemas.GatesQuery) -> schemas.GatesView:
    """List the entrances of a venue, optionally only open or closed ones."""
    with parts().database.reading() as session:
        queries.venue(session, organisation(), venue_id)
        return schemas.GatesView.of_all(queries.gates(session, organisation(), venue_id, status=query_data.status))


@bp.patch("/<venue_id>/gates/<int:number>")
@requires(Action.EDIT_VENUES)
@bp.input(schemas.ChangeGate)
@bp.output(schemas.GateView)
def change_gate(venue_id: str, number: int, json_data: schemas.ChangeGate) -> schemas.GateView:
    """Open, close or rename an entrance; connected gates know within a second."""
    with parts().database.writing() as session:
        check_unchanged(lambda: schemas.GateView.of(_locked_gate(session, venue_id, number)))
        row = service.change_gate(
            session, organisation(), venue_id, number, changes=json_data.changes(), context=context()
        )
        return tagged(schemas.GateView.of(row))
