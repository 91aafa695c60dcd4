"""Home: what needs a decision, today's events, and this week's sales; for a new organiser the one next step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from flask import redirect, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.clock import Millis
from shared.movements import span_of_today
from sync_server.admin.door.decisions import decisions
from sync_server.admin.first_event import Guide, guide_of
from sync_server.admin.page import bp, current_organisation, maybe_staff, page, render_page
from sync_server.admin.rooms import rooms
from sync_server.checkout import sales_figures
from sync_server.checkout.filing.sold import DAY_MS
from sync_server.checkout.sales_figures import Sold
from sync_server.events import queries as events
from sync_server.events.queries import EventFilter
from sync_server.events.snapshot_rows import days
from sync_server.plumbing.parts import parts
from sync_server.scans.attendance import inside
from sync_server.venues import queries as venues

SHOWN: Final = 6
COUNTED: Final = 3
"""Live events whose guests are counted here; of more the pages of each tell."""
WEEK: Final = 7
_RECENT_MS: Final = 18 * 3_600_000


@dataclass(frozen=True, slots=True)
class DaySold:
    """What was sold on one day, and on the same day of the week before."""

    day: datetime
    value: int
    before: int
    orders: int


@bp.get("/")
def home() -> str | WerkzeugResponse:
    """The start page; visitors are sent to the sign-in page."""
    who = maybe_staff()
    if who is None:
        return redirect(url_for("admin.login"))
    if not who.organisation_id:
        return redirect(url_for("admin.organisations"))
    return _home()


@page()
def _home() -> str:
    here, now = current_organisation(), parts().clock()
    with parts().database.reading() as session:
        chosen = EventFilter(statuses=("published", "live", "postponed"), starts_from=now - _RECENT_MS)
        coming = events.events(session, here, chosen, limit=SHOWN, after=None).items
        known = events.events(session, here, EventFilter(archived=True), limit=2, after=None).items
        guide = guide_of(session, here, known[0] if known else None) if len(known) < 2 else None
        sold = rooms(session, coming)
        who_is_in = {row.id: _inside(session, row, now) for row in _live(coming)}
        issued = [row for row in coming if row.tickets_issued]
        bought = sales_figures.bought(session, [row.key for row in issued])
        week = _week(session, here, now, venues.usual_timezone(session, here))
    shown: dict[str, object] = {
        "coming": coming,
        "inside": who_is_in,
        "rooms": sold,
        "week": week,
        "selling": next((row for row in issued if row.id in bought), None),
        "issued": issued,
        "today": _today(coming, now),
    }
    return render_page("home.html", **shown, guide=_unfinished(guide))


def _live(coming: Sequence[events.Event]) -> list[events.Event]:
    return [row for row in coming if row.status == "live"][:COUNTED]


def _unfinished(guide: Guide | None) -> Guide | None:
    return guide if guide is not None and guide.next is not None else None


def _inside(session: Session, row: events.Event, now: Millis) -> int:
    """How many guests are inside, as the event's own page counts them."""
    begun = span_of_today(tuple(days(row)), now)[0] if row.cutover_empties else 0
    return inside.occupancy(session, row.key, max(begun, row.counts_from or 0)).inside


def _today(coming: Sequence[events.Event], now: Millis) -> set[str]:
    """Those that are live, or begin within a day."""
    until = now + DAY_MS
    return {row.id for row in coming if row.status == "live" or now <= (row.rescheduled_at or row.start_at) < until}


def _week(session: Session, organisation_id: str, now: Millis, timezone: str) -> dict[str, list[DaySold]]:
    """The last seven days by currency, each beside the same day a week earlier."""
    today = datetime.fromtimestamp(now / 1000, UTC).astimezone(ZoneInfo(timezone)).replace(hour=0, minute=0, second=0)
    first = today.replace(microsecond=0) - timedelta(days=2 * WEEK - 1)
    days = [int((first + timedelta(days=at)).timestamp() * 1000) for at in range(2 * WEEK)]
    found = sales_figures.by_day(session, organisation_id, days)
    return {currency: _days(found, currency, first) for currency in sorted({sold.currency for sold in found})}


def _days(found: list[Sold], currency: str, first: datetime) -> list[DaySold]:
    sold = {each.at: each for each in found if each.currency == currency}
    nothing = Sold(0, currency, 0, 0)
    return [
        DaySold(
            first + timedelta(days=at),
            sold.get(at, nothing).cents,
            sold.get(at - WEEK, nothing).cents,
            sold.get(at, nothing).orders,
        )
        for at in range(WEEK, 2 * WEEK)
    ]


@bp.get("/decisions")
@page()
def needs_decision() -> str:
    """What needs a decision, five at most: a part of the start page, which asks for it again every minute."""
    everything = request.args.get("all") == "1"
    with parts().database.reading() as session:
        found = decisions(session, current_organisation(), parts().clock())
    return render_page("door/decisions.html", decisions=found, everything=everything)
