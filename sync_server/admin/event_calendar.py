"""The organisation's events as a calendar: a month with its days, each with what takes place on it."""

from __future__ import annotations

import calendar
from collections import defaultdict
from datetime import UTC, date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from flask import request

from shared.clock import Millis
from sync_server.admin.page import bp, current_organisation, home_zone, page, render_page
from sync_server.events import queries
from sync_server.events.queries import Event, EventFilter
from sync_server.plumbing.parts import parts

MOST: Final = 500
FIRST_YEAR, LAST_YEAR = 1971, 2999


@bp.get("/events/calendar")
@page()
def event_calendar() -> str:
    """One month, this one unless another is named."""
    today = datetime.fromtimestamp(parts().clock() / 1000, ZoneInfo(home_zone())).date()
    month = _month(request.args.get("month", ""), today)
    weeks = calendar.Calendar().monthdatescalendar(month.year, month.month)
    first, last = weeks[0][0], weeks[-1][-1]
    wanted = EventFilter(
        starts_from=_millis(first - timedelta(days=1)), starts_before=_millis(last + timedelta(days=2))
    )
    with parts().database.reading() as session:
        found = queries.events(session, current_organisation(), wanted, limit=MOST, after=None).items
    by_day = defaultdict(list)
    for event in found:
        by_day[_day(event)].append(event)
    before, after = month - timedelta(days=1), month + timedelta(days=32)
    shown = {"weeks": weeks, "by_day": by_day, "month": month, "today": today, "before": before, "after": after}
    return render_page("event_calendar.html", **shown)


def _month(written: str, today: date) -> date:
    """The first day of a month such as 2026-07; of the present one for anything else."""
    try:
        found = date.fromisoformat(f"{written}-01")
    except ValueError:
        return today.replace(day=1)
    return found if FIRST_YEAR <= found.year <= LAST_YEAR else today.replace(day=1)


def _millis(day: date) -> Millis:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)


def _day(event: Event) -> date:
    """The day on which an event begins, by the clocks of its venue, on its new date if it has one."""
    starts_at = event.rescheduled_at or event.start_at
    return datetime.fromtimestamp(starts_at / 1000, UTC).astimezone(ZoneInfo(event.timezone)).date()
