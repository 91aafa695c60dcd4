"""/api/audit: an organisation reads and exports its own audit log, and sees how far it is sealed."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import Response

from sync_server.audit import export, queries, schemas
from sync_server.audit.models import ChainRow
from sync_server.plumbing.api import answers
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import organisation, requires

bp = APIBlueprint("audit", __name__, url_prefix="/api", tag="Audit")


@bp.get("/audit")
@requires(Action.READ_AUDIT)
@bp.input(schemas.AuditQuery, location="query")
@bp.output(schemas.AuditLinesView)
def listing(query_data: schemas.AuditQuery) -> schemas.AuditLinesView:
    """List what was done in the organisation, newest first."""
    with parts().database.reading() as session:
        page = queries.lines(
            session, organisation(), query_data.chosen(), limit=query_data.limit, after=query_data.after
        )
    return schemas.AuditLinesView(items=[schemas.line_view(line) for line in page.items], next=page.next)


@bp.get("/audit/seal")
@requires(Action.READ_AUDIT)
@bp.output(schemas.SealView)
def seal() -> schemas.SealView:
    """Show how far the audit log is sealed."""
    with parts().database.reading() as session:
        head, (waiting, since) = queries.head(session, organisation()), queries.unsealed(session, organisation())
    state = head or ChainRow(seq=0)
    return schemas.SealView.of(state, waiting=waiting, waiting_since=since)


@bp.get("/audit/export")
@requires(Action.READ_AUDIT)
@bp.input(schemas.ExportQuery, location="query")
@bp.doc(responses=answers.text("JSON lines", "application/x-ndjson"))
def export_log(query_data: schemas.ExportQuery) -> Response:
    """Export the sealed log, one JSON object per line, the head last; check it with `gatehouse-server audit check`."""
    lines = export.export_lines(parts().database, organisation(), after_seq=query_data.after_seq)
    return Response(
        (line + "\n" for line in lines),
        content_type="application/x-ndjson",
        headers={"Content-Disposition": 'attachment; filename="audit.jsonl"', "Cache-Control": "no-store"},
    )
