"""/api/alerts: what needs attention now."""

from __future__ import annotations

from apiflask import APIBlueprint

from sync_server.monitoring import queries, schemas
from sync_server.plumbing.api.pagination import PageQuery
from sync_server.plumbing.api.schemas import iso
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import current_principal, organisation, requires

bp = APIBlueprint("monitoring", __name__, url_prefix="/api", tag="Alerts")


@bp.get("/alerts")
@requires(Action.READ)
@bp.input(PageQuery, location="query")
@bp.output(schemas.AlertsView)
def alerts(query_data: PageQuery) -> schemas.AlertsView:
    """List what needs attention: since when, what it means, what to do.

    About the organisation's events; platform staff also get alerts about the installation.
    """
    now = parts().clock()
    with parts().database.reading() as session:
        found = queries.organisation_alerts(session, organisation(), now)
        if current_principal().platform_role:
            found = [*queries.platform_alerts(session, now), *found]
    page = queries.alert_page(found, query_data.limit, query_data.after)
    items = [schemas.alert_view(alert) for alert in page.items]
    return schemas.AlertsView(checked_at=iso(now), items=items, next=page.next)
