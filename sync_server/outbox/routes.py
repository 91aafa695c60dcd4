"""/api/facts: an organisation sees which of its facts failed to arrive, and lets them go once more."""

from __future__ import annotations

from apiflask import APIBlueprint

from sync_server.outbox import queries, schemas, service
from sync_server.plumbing.pages import cut, position
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import deed, organisation, requires

bp = APIBlueprint("facts", __name__, url_prefix="/api/facts", tag="Facts")


@bp.get("")
@requires(Action.READ_AUDIT)
@bp.input(schemas.FactsQuery, location="query")
@bp.output(schemas.FactsView)
def listing(query_data: schemas.FactsQuery) -> schemas.FactsView:
    """List the organisation's facts by what became of them: those laid aside after failing too often, unless asked."""
    (after,) = position(query_data.after, int) or (0,)
    with parts().database.reading() as session:
        rows = queries.listed(session, query_data.state, organisation(), after=after, limit=query_data.limit)
    page = cut(rows, query_data.limit, lambda row: [row.id])
    return schemas.FactsView(items=[schemas.FactView.of(row) for row in page.items], next=page.next)


@bp.post("/<message_id>/replay")
@requires(Action.REPLAY_FACTS)
@bp.output(schemas.FactView)
def replay(message_id: str) -> schemas.FactView:
    """Let a fact go once more, under the id it had: consumers that have seen it skip it."""
    with parts().database.writing() as session:
        row = queries.fact(session, message_id, organisation())
        service.replay(session, [row.id], deed())
        session.refresh(row)
        return schemas.FactView.of(row)
