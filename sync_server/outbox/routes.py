"""/api/facts: an organisation lists its facts that could not be delivered, and replays them."""

from __future__ import annotations

from apiflask import APIBlueprint

from shared.ids import NIL_ID
from sync_server.outbox import queries, schemas, service
from sync_server.plumbing.api.pagination import AnId, decode_cursor, paginate
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, organisation, requires

bp = APIBlueprint("facts", __name__, url_prefix="/api/facts", tag="Facts")


@bp.get("")
@requires(Action.READ_AUDIT)
@bp.input(schemas.FactsQuery, location="query")
@bp.output(schemas.FactsView)
def listing(query_data: schemas.FactsQuery) -> schemas.FactsView:
    """List the organisation's facts by state; by default those given up after failing too often."""
    (after,) = decode_cursor(query_data.after, AnId) or (NIL_ID,)
    with parts().database.reading() as session:
        facts = queries.list_facts(session, query_data.state, organisation(), after=after, limit=query_data.limit)
    page = paginate(facts, query_data.limit, lambda fact: [fact.row.message_id])
    return schemas.FactsView(items=[schemas.FactView.of(fact) for fact in page.items], next=page.next)


@bp.post("/<message_id>/replay")
@requires(Action.REPLAY_FACTS)
@bp.output(schemas.FactView)
def replay(message_id: str) -> schemas.FactView:
    """Deliver a fact again under the same id; consumers that have seen it skip it."""
    with parts().database.writing() as session:
        service.replay(session, [queries.fact(session, message_id, organisation())], context())
        return schemas.FactView.of(queries.fact(session, message_id, organisation()))
