"""The page of alerts: since when, what each means, and what to do."""

from __future__ import annotations

from flask import request

from sync_server.admin.page import bp, current_organisation, page, render_page
from sync_server.events.overviews.active_events import timezones_by_id
from sync_server.monitoring import queries
from sync_server.monitoring.rules import ALERT_TEXTS
from sync_server.plumbing.parts import parts
from sync_server.plumbing.web import current_principal

PAGE_SIZE = 50


@bp.get("/alerts")
@page()
def alerts() -> str:
    """The organisation's alerts, or those of one event; platform staff also see those of the installation."""
    now, event_id = parts().clock(), request.args.get("event", "")
    with parts().database.reading() as session:
        found = queries.organisation_alerts(session, current_organisation(), now)
        platform = queries.platform_alerts(session, now) if current_principal().platform_role else []
        chosen = [alert for alert in (*platform, *found) if event_id in ("", alert.event_id)]
        page_of_alerts = queries.alert_page(chosen, PAGE_SIZE, request.args.get("after"))
        about = {alert.event_id for alert in page_of_alerts.items if alert.event_id}
        zones = timezones_by_id(session, current_organisation(), about)
    shown = {"alerts": page_of_alerts.items, "next": page_of_alerts.next, "zones": zones}
    return render_page("door/alerts.html", texts=ALERT_TEXTS, **shown)
