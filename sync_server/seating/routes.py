"""/api/venues/…/layouts and /api/organisation/seating-policy."""

from __future__ import annotations

import orjson
from apiflask import APIBlueprint
from flask import Response, request
from sqlalchemy.orm import Session

from sync_server.accounts.service import lock_organisation
from sync_server.plumbing.api import answers
from sync_server.plumbing.api.edits import check_unchanged, tagged
from sync_server.plumbing.api.idempotency import repeatable, run_once
from sync_server.plumbing.api.pagination import PageQuery
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, current_principal, organisation, requires
from sync_server.seating import queries, schemas, service
from sync_server.seating.event_routes import bp as event_bp
from sync_server.seating.file_formats.formats import EXPORT_TYPES, FORMATS
from sync_server.seating.imports.guest_import_routes import bp as guest_imports_bp
from sync_server.seating.imports.import_routes import bp as imports_bp
from sync_server.seating.imports.import_routes import imported_if_large, is_large, refused_if_large, start
from sync_server.seating.imports.queue import Upload
from sync_server.seating.imports.reading import read_plan
from sync_server.seating.layout_rows import PreparedLayout
from sync_server.seating.models import LayoutRecord
from sync_server.seating.rules import Policy
from sync_server.seating.zone_access.guest_list_routes import bp as guest_list_bp
from sync_server.venues import queries as venues

LARGEST_LAYOUT = 64 * 1024 * 1024

bp = APIBlueprint("seating", __name__, url_prefix="/api", tag="Seating")
bp.register_blueprint(event_bp)
bp.register_blueprint(guest_list_bp)
bp.register_blueprint(guest_imports_bp)
bp.register_blueprint(imports_bp)


@bp.before_request
def _layouts_are_large() -> None:
    request.max_content_length = LARGEST_LAYOUT


@bp.post("/venues/<venue_id>/layouts")
@requires(Action.EDIT_VENUES)
@imported_if_large
@bp.input(schemas.LayoutShape)
@bp.output(schemas.LayoutView, status_code=201)
@repeatable
def create(venue_id: str, json_data: schemas.LayoutShape) -> Response:
    """Create a layout as a draft."""
    plan = service.prepare(json_data.plan())
    return run_once(lambda session: _created(session, venue_id, None, plan))


def _created(session: Session, venue_id: str, layout_id: str | None, plan: PreparedLayout) -> schemas.LayoutView:
    """A new layout, or the next version of one."""
    if layout_id is None:
        return _view(session, service.create_layout(session, organisation(), venue_id, plan, context()))
    row = service.add_version(session, organisation(), venue_id, layout_id, prepared=plan, context=context())
    return _view(session, row)


@bp.get("/venues/<venue_id>/layouts")
@requires(Action.READ)
@bp.input(PageQuery, location="query")
@bp.output(schemas.LayoutsView)
def listing(venue_id: str, query_data: PageQuery) -> schemas.LayoutsView:
    """List all versions of all layouts of a venue."""
    with parts().database.reading() as session:
        venues.venue(session, organisation(), venue_id)
        page = queries.layouts(session, organisation(), venue_id, limit=query_data.limit, after=query_data.after)
        return schemas.LayoutsView(items=[_view(session, row) for row in page.items], next=page.next)


@bp.get("/venues/<venue_id>/layouts/<layout_id>")
@requires(Action.READ)
@bp.output(schemas.WholeLayoutView)
def show(venue_id: str, layout_id: str) -> Response:
    """Show one version of a layout with all its seats."""
    with parts().database.reading() as session:
        row = queries.layout(session, organisation(), layout_id, venue_id=venue_id)
        payload = tagged(_view(session, row)).model_dump(mode="json") | {
            "layout": schemas.layout_json(queries.plan(session, row))
        }
    return Response(orjson.dumps(payload), content_type="application/json")


@bp.get("/venues/<venue_id>/layouts/<layout_id>/columns")
@requires(Action.READ)
@bp.output(schemas.LayoutColumnsView)
def show_columns(venue_id: str, layout_id: str) -> Response:
    """Show one version of a layout with its seats as columns: a seventh of the bytes, for programs that draw it."""
    with parts().database.reading() as session:
        row = queries.layout(session, organisation(), layout_id, venue_id=venue_id)
        without, seats = queries.columns(session, row)
        payload = tagged(_view(session, row)).model_dump(mode="json") | {
            "layout": schemas.layout_json(without),
            "seats": seats,
        }
    return Response(orjson.dumps(payload), content_type="application/json")


@bp.put("/venues/<venue_id>/layouts/<layout_id>")
@requires(Action.EDIT_VENUES)
@refused_if_large
@bp.input(schemas.LayoutShape)
@bp.output(schemas.LayoutView)
def redraw(venue_id: str, layout_id: str, json_data: schemas.LayoutShape) -> schemas.LayoutView:
    """Replace a draft; versions that events may use never change."""
    plan = service.prepare(json_data.plan())
    with parts().database.writing() as session:
        check_unchanged(
            lambda: _view(session, queries.layout(session, organisation(), layout_id, venue_id=venue_id, lock=True))
        )
        row = service.replace_draft(session, organisation(), venue_id, layout_id, prepared=plan, context=context())
        return _view(session, row)


@bp.post("/venues/<venue_id>/layouts/<layout_id>/versions")
@requires(Action.EDIT_VENUES)
@imported_if_large
@bp.input(schemas.LayoutShape)
@bp.output(schemas.LayoutView, status_code=201)
@repeatable
def add_version(venue_id: str, layout_id: str, json_data: schemas.LayoutShape) -> Response:
    """Create the next version of a layout as a draft; events keep the version they chose."""
    plan = service.prepare(json_data.plan())
    return run_once(lambda session: _created(session, venue_id, layout_id, plan))


@bp.post("/venues/<venue_id>/layouts/<layout_id>/activate")
@requires(Action.EDIT_VENUES)
@bp.output(schemas.LayoutView)
def activate(venue_id: str, layout_id: str) -> schemas.LayoutView:
    """Make a version available to events."""
    with parts().database.writing() as session:
        return _view(session, service.activate(session, organisation(), venue_id, layout_id, context()))


@bp.post("/venues/<venue_id>/layouts/<layout_id>/archive")
@requires(Action.EDIT_VENUES)
@bp.output(schemas.LayoutView)
def archive(venue_id: str, layout_id: str) -> schemas.LayoutView:
    """Archive a version: no further event can choose it."""
    with parts().database.writing() as session:
        return _view(session, service.archive(session, organisation(), venue_id, layout_id, context()))


@bp.post("/venues/<venue_id>/layouts/import")
@requires(Action.EDIT_VENUES)
@bp.input(schemas.ImportQuery, location="query")
@bp.output(schemas.LayoutView, status_code=201)
@bp.doc(description="The body is the file: a pretix seating plan (JSON), CSV, SVG, or our own JSON.")
@repeatable
def read_file(venue_id: str, query_data: schemas.ImportQuery) -> Response:
    """Import a layout, or a new version of one, from a file. All mistakes are listed with their places.

    A large file becomes an import: 202, and `Location` says where to look at it.
    """
    if is_large():
        focus = query_data.focus_x, query_data.focus_y
        return start(Upload(venue_id, query_data.layout_id, query_data.format, query_data.name, focus))
    read = read_plan(request.get_data(cache=True), query_data.format, query_data.name)
    plan = service.prepare(query_data.placed(read))
    return run_once(lambda session: _created(session, venue_id, query_data.layout_id, plan))


@bp.get("/venues/<venue_id>/layouts/<layout_id>/export")
@requires(Action.READ)
@bp.input(schemas.ExportQuery, location="query")
@bp.doc(responses=answers.files("The layout in the format that was asked for", *EXPORT_TYPES))
def write_file(venue_id: str, layout_id: str, query_data: schemas.ExportQuery) -> Response:
    """Export a layout as a file."""
    with parts().database.reading() as session:
        row = queries.layout(session, organisation(), layout_id, venue_id=venue_id)
        plan = queries.plan(session, row)
    if query_data.format == "gatehouse":
        body, content_type, ending = orjson.dumps(schemas.layout_json(plan)), "application/json", "json"
    else:
        file_format = FORMATS[query_data.format]
        body, content_type, ending = file_format.write(plan), file_format.content_type, file_format.ending
    response = Response(body, content_type=content_type)
    # An SVG from elsewhere must not run scripts as a page of ours.
    response.headers["Content-Disposition"] = f'attachment; filename="layout-{row.version}.{ending}"'
    return response


@bp.get("/organisation/seating-policy")
@requires(Action.READ)
@bp.output(schemas.PolicyView)
def show_policy() -> schemas.PolicyView:
    """Show the organisation's seating policy."""
    with parts().database.reading() as session:
        return tagged(schemas.PolicyView.of(queries.policy(session, organisation())))


@bp.patch("/organisation/seating-policy")
@requires(Action.MANAGE_MEMBERS)
@bp.input(schemas.ChangePolicy)
@bp.output(schemas.PolicyView)
def change_policy(json_data: schemas.ChangePolicy) -> schemas.PolicyView:
    """Change the seating policy; mandatory fields can only be changed by the platform's super admins."""
    with parts().database.writing() as session:
        changes = json_data.changes()
        check_unchanged(lambda: schemas.PolicyView.of(_locked_policy(session)))
        return tagged(
            schemas.PolicyView.of(service.set_policy(session, organisation(), changes, current_principal(), context()))
        )


def _locked_policy(session: Session) -> Policy:
    lock_organisation(session, organisation())
    return queries.policy(session, organisation())


def _view(session: Session, row: LayoutRecord) -> schemas.LayoutView:
    zones = queries.zones(session, row.organisation_id, row.id)
    return schemas.LayoutView.of(row, focus=(row.focus_x, row.focus_y), zones=zones)
