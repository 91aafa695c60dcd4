"""/api/alerts: what somebody must look at now."""

from __future__ import annotations

from apiflask import APIBlueprint

from sync_server.plumbing.pages import PageQuery
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import current_principal, organisation, requires
from sync_server.watch import queries, schemas

bp = APIBlueprint("watch", __name__, url_prefix="/api", tag="Alerts")


@bp.get("/alerts")
@requires(Action.READ)
@bp.input(PageQuery, location="query")
@bp.output(schemas.AlertsView)
def alerts(query_data: PageQuery) -> schemas.AlertsView:
    """List what somebody must look at: since when, what it means, what to do.

    Of the organisation's events; the platform's own staff are told of the installation, too.
    """
    now = parts().clock()
    with parts().database.reading() as session:
        found = queries.of_organisation(session, organisation(), now)
        if current_principal().platform_role:
            found = [*queries.of_platform(session, now), *found]
    return schemas.AlertsView.of(queries.page(found, query_data.limit, query_data.after), now)
