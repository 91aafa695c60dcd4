"""How an event sells: a curve beside the last comparable event, by type, and the same numbers as a table."""

from __future__ import annotations

from typing import Any, Final

from sync_server.admin import display
from sync_server.admin.page import bp, current_organisation, page, render_page, words
from sync_server.checkout.filing.sold import HOUR_MS
from sync_server.events import queries as events
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.reports import sales
from sync_server.reports.sales import Sales

MOST_TYPES: Final = 5
"""More lines than this are a tangle; the table below the chart has the others."""
SHOWN: Final = 60


@bp.get("/events/<event_id>/sales")
@page(Action.READ_ORDERS)
def event_sales(event_id: str) -> str:
    """What was sold until when; the page of the event and the start page show its chart."""
    now = parts().clock()
    with parts().database.reading() as session:
        row = events.event(session, current_organisation(), event_id)
        found = sales.sales(session, row, now)
    chart = None if found is None else chart_of(found, row.timezone)
    return render_page("selling/sales.html", event=row, sales=found, chart=chart, shown=SHOWN, hourly=HOUR_MS)


def chart_of(found: Sales, timezone: str) -> dict[str, Any]:
    """What the chart draws: moments in seconds, and lines with their names."""
    t = words()
    lines = [{"name": t("sales.this"), "look": "main", "values": found.sold}]
    if found.earlier is not None:
        lines.append({"name": compared_with(found), "look": "before", "values": found.earlier.sold})
    if len(found.types) > 1:
        most = sorted(found.types, key=lambda line: -max(value or 0 for value in line.sold))[:MOST_TYPES]
        lines += [{"name": line.name, "look": f"type-{at}", "values": line.sold} for at, line in enumerate(most, 1)]
    return {
        "locale": display.LOCALE,
        "timezone": timezone,
        "at": [moment // 1000 for moment in found.moments],
        "lines": lines,
    }


def compared_with(found: Sales) -> str:
    """The event that this one stands beside, with its date."""
    earlier = found.earlier
    assert earlier is not None  # noqa: S101 - the caller has looked
    return words()("sales.before", event=earlier.name, date=display.date_time(earlier.start_at, earlier.timezone))
