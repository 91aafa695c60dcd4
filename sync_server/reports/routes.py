"""/api/reports and /api/events/…/funnel: how many came how far."""

from __future__ import annotations

from apiflask import APIBlueprint

from sync_server.events import queries as events
from sync_server.events.queries import EventFilter
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import organisation, requires
from sync_server.reports import schemas
from sync_server.reports.funnel import funnel

bp = APIBlueprint("reports", __name__, url_prefix="/api", tag="Reports")


@bp.get("/events/<event_id>/funnel")
@requires(Action.READ_ORDERS)
@bp.output(schemas.FunnelView)
@bp.doc(summary="Show how many came how far")
def of_event(event_id: str) -> schemas.FunnelView:
    """Show how many came how far at an event, from the queue to the door, and by ticket type."""
    with parts().database.reading() as session:
        return schemas.FunnelView.of(funnel(session, EventKey(organisation(), event_id)))


@bp.get("/reports/funnel")
@requires(Action.READ_ORDERS)
@bp.input(schemas.FunnelsQuery, location="query")
@bp.output(schemas.FunnelsView)
@bp.doc(summary="Show how many came how far, by event")
def of_events(query_data: schemas.FunnelsQuery) -> schemas.FunnelsView:
    """Show the same of all events, by their start; cancelled and postponed ones are marked."""
    with parts().database.reading() as session:
        page = events.events(session, organisation(), EventFilter(), limit=query_data.limit, after=query_data.after)
        items = [schemas.FunnelView.of(funnel(session, row.key)) for row in page.items]
    return schemas.FunnelsView(items=items, next=page.next)
