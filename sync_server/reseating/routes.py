"""/api/events/…/layout/migrate: moves an event's guests to another layout, in two acts."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from sqlalchemy.orm import Session

from sync_server.plumbing.once import once
from sync_server.plumbing.pages import PageQuery, cursor, position
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import deed, organisation, require, requires
from sync_server.reseating import queries, schemas, service
from sync_server.reseating.models import ReseatingRecord

bp = APIBlueprint("reseating", __name__, url_prefix="/api/events/<event_id>/layout", tag="Moving guests")

FIRST = 500
"""So many moves are in the answer that makes a report; the others are read page by page."""


@bp.post("/migrate")
@requires(Action.EDIT_EVENTS)
@bp.input(schemas.MoveGuests)
@bp.output(schemas.WholeMigrationView, status_code=201)
def migrate(event_id: str, json_data: schemas.MoveGuests) -> Response:
    """Say where guests would sit in another layout; with the fingerprint of that report: move them, all or none."""
    if json_data.fingerprint is not None:
        require(Action.CHANGE_TICKETS)

    def write(session: Session) -> dict[str, Any]:
        act = service.prepare if json_data.fingerprint is None else service.carry_out
        row = act(session, organisation(), event_id, json_data.move(), deed())
        return _whole(row, 0, FIRST).model_dump(mode="json")

    return once(write)


@bp.get("/migrations")
@requires(Action.READ)
@bp.input(PageQuery, location="query")
@bp.output(schemas.MigrationsView)
def listing(event_id: str, query_data: PageQuery) -> schemas.MigrationsView:
    """List all reports of an event."""
    with parts().database.reading() as session:
        page = queries.reseatings(session, organisation(), event_id, limit=query_data.limit, after=query_data.after)
    items = [schemas.MigrationView(**schemas.MigrationView.words_of(row)) for row in page.items]
    return schemas.MigrationsView(items=items, next=page.next)


@bp.get("/migrations/<migration_id>")
@requires(Action.READ)
@bp.input(PageQuery, location="query")
@bp.output(schemas.WholeMigrationView)
def show(event_id: str, migration_id: str, query_data: PageQuery) -> schemas.WholeMigrationView:
    """Show a report; its moves come page by page."""
    start = position(query_data.after, int)
    with parts().database.reading() as session:
        row = queries.reseating(session, organisation(), event_id, migration_id)
    return _whole(row, start[0] if start else 0, query_data.limit)


def _whole(row: ReseatingRecord, start: int, limit: int) -> schemas.WholeMigrationView:
    following = cursor([start + limit]) if start + limit < len(row.report["moves"]) else None
    return schemas.WholeMigrationView.of(row, start, limit, following)
