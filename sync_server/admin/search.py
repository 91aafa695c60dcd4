"""One search for everything: events by name and place, orders by number and buyer, tickets by number and code."""

from __future__ import annotations

from flask import request

from sync_server.admin.page import bp, current_organisation, may, page, render_page
from sync_server.checkout import views
from sync_server.checkout.queries import OrderFilter
from sync_server.events import queries as events
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action

MOST_EVENTS = 6
MOST_ORDERS = 20


@bp.get("/search")
@page()
def search() -> str:
    """What was found; staff who may not read orders find events."""
    words = request.args.get("q", "").strip()[:100]
    here, found, bought = current_organisation(), None, None
    if words:
        with parts().database.reading() as session:
            wanted = events.EventFilter(search=words, archived=True, newest_first=True)
            found = events.events(session, here, wanted, limit=MOST_EVENTS, after=None).items
            if may(Action.READ_ORDERS):
                by = OrderFilter(search=words)
                bought = views.page_of(session, here, by, limit=MOST_ORDERS, after=None).items
                names = events.names_by_id(session, here, {order.event_id for order in bought})
                return render_page("search.html", words=words, events=found, orders=bought, names=names)
    return render_page("search.html", words=words, events=found, orders=bought, names={})
