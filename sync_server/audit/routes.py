"""/api/audit: an organisation reads its own audit log."""

from __future__ import annotations

from apiflask import APIBlueprint

from sync_server.audit import queries, schemas
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import organisation, requires

bp = APIBlueprint("audit", __name__, url_prefix="/api", tag="Audit")


@bp.get("/audit")
@requires(Action.READ_AUDIT)
@bp.input(schemas.AuditQuery, location="query")
@bp.output(schemas.AuditLinesView)
def listing(query_data: schemas.AuditQuery) -> schemas.AuditLinesView:
    """List what was done in the organisation, newest first."""
    chosen = queries.AuditFilter(**query_data.model_dump(exclude={"limit", "after"}))
    with parts().database.reading() as session:
        page = queries.lines(session, organisation(), chosen, limit=query_data.limit, after=query_data.after)
    return schemas.AuditLinesView(items=[schemas.AuditLineView.of(row) for row in page.items], next=page.next)
