"""/api/events/…/exports: orders, tickets, payments, attendees and scans of an event, to take away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from apiflask import APIBlueprint
from flask import Response

from sync_server.audit.service import AuditLine, record
from sync_server.events import queries as events
from sync_server.exports import files, tables
from sync_server.exports.schemas import ExportQuery
from sync_server.exports.tables import Evening
from sync_server.plumbing.api import answers
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, organisation, requires

bp = APIBlueprint("exports", __name__, url_prefix="/api/events/<event_id>/exports", tag="Exports")

_FILES: Final = answers.files("The table, a line for each row", "text/csv", files.XLSX)


def _export(name: str, key: EventKey, form: str) -> Response:
    table, database = tables.TABLES[name], parts().database
    with database.writing() as session:  # noted before anything leaves
        events.details_in_tables(session, *key)
        evening = Evening.read(session, key)
        after = {"table": name, "format": form}
        record(session, AuditLine(context(), "event.exported", "event", key.event_id, key.organisation_id, None, after))
        filename = f"{evening.event.slug}-{name}.{form}"
    rows = tables.all_rows(database, table, evening)
    if form == "xlsx":
        pieces = files.pieces_of(files.workbook(table.columns, rows, name))
    else:
        pieces = files.csv_pieces(table.columns, rows)
    response = Response(pieces, content_type=files.XLSX if form == "xlsx" else files.CSV)
    response.headers["Content-Disposition"] = f'attachment; filename="{filename}"'
    response.headers["Cache-Control"] = "no-store"
    return response


def _route(name: str, action: Action, description: str) -> Callable[..., Response]:
    def view(event_id: str, query_data: ExportQuery) -> Response:
        return _export(name, EventKey(organisation(), event_id), query_data.format)

    view.__name__, view.__doc__ = name, description
    described = bp.doc(responses=_FILES)(bp.input(ExportQuery, location="query")(view))
    guarded: Callable[..., Response] = requires(action)(described)
    bp.get(f"/{name}")(guarded)
    return guarded


_ABOUT_PEOPLE: Final = Action.READ_ORDERS
orders = _route("orders", _ABOUT_PEOPLE, "Export the orders of an event: buyers, amounts, what is paid and due.")
payments = _route("payments", _ABOUT_PEOPLE, "Export every movement of money of an event's orders.")
attendees = _route(
    "attendees", _ABOUT_PEOPLE, "Export who comes: names, seats, codes for lists at the door, and entries."
)
tickets = _route("tickets", Action.READ, "Export the tickets of an event, cancelled ones among them; without names.")
scans = _route("scans", Action.READ, "Export every scan of an event, as gates reported it.")
