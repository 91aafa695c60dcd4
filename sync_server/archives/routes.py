"""/api: putting events away, the archives that came of it, and bringing events back."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import Response, send_file

from sync_server.archives import policy, queries, readiness, schemas, service, store
from sync_server.archives.rules import State
from sync_server.archives.service import Asked
from sync_server.events import queries as events
from sync_server.events.rules import mark
from sync_server.plumbing.api import answers
from sync_server.plumbing.api.edits import check_unchanged, tagged
from sync_server.plumbing.api.pagination import PageQuery
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, organisation, requires

bp = APIBlueprint("archives", __name__, url_prefix="/api", tag="Archives")


@bp.get("/archives")
@requires(Action.READ)
@bp.input(PageQuery, location="query")
@bp.output(schemas.ArchivesView)
def listing(query_data: PageQuery) -> schemas.ArchivesView:
    """List the organisation's archives."""
    with parts().database.reading() as session:
        page = queries.archives(session, organisation(), limit=query_data.limit, after=query_data.after)
        marks = events.marks(session, organisation(), {row.event_id for row in page.items})
    items = [schemas.archive_view(row, row.event_id, marks[row.event_id]) for row in page.items]
    return schemas.ArchivesView(items=items, next=page.next)


@bp.get("/events/<event_id>/archive")
@requires(Action.READ)
@bp.output(schemas.ArchiveView)
def show(event_id: str) -> schemas.ArchiveView:
    """Show how far an event is put away, with its figures; or what stands in the way of it."""
    with parts().database.reading() as session:
        event = events.event(session, organisation(), event_id)
        row = queries.find(session, event.key)
        in_tables = row is None or row.state == State.RESTORED
        found = readiness.obstacles(session, event, parts().clock()) if in_tables else []
    return schemas.archive_view(row, event_id, mark(event), list(found))


@bp.post("/events/<event_id>/put-away")
@requires(Action.MANAGE_RECORDS)
@bp.input(schemas.PutAway)
@bp.output(schemas.ArchiveView, status_code=202)
def put_away(event_id: str, json_data: schemas.PutAway) -> schemas.ArchiveView:
    """Put an event away that is over: its tickets and scans become a sealed file and leave the tables."""
    store.folder(parts().config)
    with parts().database.writing() as session:
        asked = Asked(context(), json_data.reason, json_data.confirm)
        row = service.ask(session, EventKey(organisation(), event_id), asked)
        event = events.event(session, organisation(), event_id)
    return schemas.archive_view(row, event_id, mark(event))


@bp.post("/events/<event_id>/archive/restore")
@requires(Action.MANAGE_RECORDS)
@bp.input(schemas.BringBack)
@bp.output(schemas.ArchiveView, status_code=202)
def restore(event_id: str, json_data: schemas.BringBack) -> schemas.ArchiveView:
    """Bring an event back from its archive into the tables, for a dispute for example."""
    with parts().database.writing() as session:
        event = events.event(session, organisation(), event_id)
        row = service.ask_back(session, event.key, context(), reason=json_data.reason)
    return schemas.archive_view(row, event_id, mark(event))


@bp.get("/events/<event_id>/archive/file")
@requires(Action.MANAGE_RECORDS)
@bp.doc(responses=answers.files("A sealed file", "application/zip"))
def download(event_id: str) -> Response:
    """Download the sealed file of an event; check it with `gatehouse-server archive verify`."""
    with parts().database.reading() as session:
        row = queries.archive(session, events.event(session, organisation(), event_id).key)
    file = store.path_of(parts().config, row.file)
    return send_file(file.resolve(), "application/zip", as_attachment=True, download_name=file.name, max_age=0)


@bp.get("/retention")
@requires(Action.READ)
@bp.output(schemas.RetentionView)
def show_retention() -> schemas.RetentionView:
    """Show how many days the organisation keeps each kind of record."""
    with parts().database.reading() as session:
        return tagged(schemas.RetentionView(days=dict(policy.days(session, organisation()))))


@bp.patch("/retention")
@requires(Action.MANAGE_RECORDS)
@bp.input(schemas.ChangeRetention)
@bp.output(schemas.RetentionView)
def change_retention(json_data: schemas.ChangeRetention) -> schemas.RetentionView:
    """Decide how many days each kind of record is kept; what is left out stays as it is."""
    with parts().database.writing() as session:
        check_unchanged(lambda: schemas.RetentionView(days=dict(policy.days(session, organisation()))))
        days = policy.change(session, organisation(), json_data.days, context())
        return tagged(schemas.RetentionView(days=dict(days)))
