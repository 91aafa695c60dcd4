"""Writes the entry of an order for calendars (RFC 5545): the same entry again when its event changes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from shared.clock import Millis
from shared.lifecycle import EventStatus
from sync_server.events.days.chosen_days import EVERY_DAY, numbers
from sync_server.events.queries import Event
from sync_server.events.snapshot_rows import window
from sync_server.ticket_files.faces import Setting

_YEARS = 5
"""So far ahead an event may be moved while its entry still names the right times."""
PRODUCT = "-//Gatehouse//Tickets//EN"


def entry_of(setting: Setting, order_id: str, order_number: str, valid_days: Sequence[int], now: Millis) -> bytes:
    """The calendar file of an order, by the valid days of its tickets, as bitmaps; or of an event, without a number.

    Its id is that of the order, and its sequence rises with each change of the event: a calendar that has it already
    moves it to the new date, or strikes it out.
    """
    from icalendar import Calendar  # commands start without it
    from icalendar import Event as Entry

    event = setting.event
    cancelled = event.status == EventStatus.CANCELLED.value
    calendar = Calendar()
    calendar.add("prodid", PRODUCT)
    calendar.add("version", "2.0")
    calendar.add("method", "CANCEL" if cancelled else "PUBLISH")
    for suffix, begin, end in _spans(setting, valid_days):
        entry = Entry()
        entry.add("uid", f"{order_id}{suffix}@gatehouse")
        entry.add("sequence", _sequence(event))
        entry.add("dtstamp", datetime.fromtimestamp(now // 1000, UTC))
        entry.add("dtstart", begin)
        entry.add("dtend", end)
        entry.add("summary", event.name)
        entry.add("location", ", ".join(part for part in (event.venue_name, setting.address) if part))
        order = f"{setting.words.order}: {order_number}\n" if order_number else ""
        entry.add("description", f"{order}{setting.times}\n{setting.organiser}")
        entry.add("status", _status(event))
        entry.add("transp", "TRANSPARENT" if cancelled else "OPAQUE")
        calendar.add_component(entry)
    # Years in which nothing of this happens would be half of the file, and half of the work.
    year = datetime.fromtimestamp(setting.event.start_at // 1000, UTC).year
    calendar.add_missing_timezones(date(year - 2, 1, 1), date(year + _YEARS, 1, 1))
    return bytes(calendar.to_ical())


def _sequence(event: Event) -> int:
    """Rises with each change, and never falls: seconds from the making of the event to its last change."""
    return max(0, (event.updated_at - event.created_at) // 1000)


def _status(event: Event) -> str:
    if event.status == EventStatus.CANCELLED.value:
        return "CANCELLED"
    waiting = event.status == EventStatus.POSTPONED.value and event.rescheduled_at is None
    return "TENTATIVE" if waiting else "CONFIRMED"


def _moment(at: Millis, zone: ZoneInfo) -> datetime:
    """By the clocks of the venue; in UTC when they show an hour for the second time: calendars know only its first."""
    local = datetime.fromtimestamp(at // 1000, zone)
    return local.astimezone(UTC) if local.fold else local


def _spans(setting: Setting, valid_days: Sequence[int]) -> list[tuple[str, date | datetime, date | datetime]]:
    """The whole event, or each day for which the order has a ticket where it has none for all of them."""
    count = len(setting.dates)
    if count == 1 or EVERY_DAY in valid_days:
        zone = ZoneInfo(setting.event.timezone)
        begin, end = (_moment(at, zone) for at in window(setting.event))
        return [("", begin, end)]
    days = sorted({day for bits in valid_days for day in numbers(bits, count)})
    dates = [date.fromisoformat(setting.dates[day]) for day in days]
    return [(f".{day}", each, each + timedelta(days=1)) for day, each in zip(days, dates, strict=True)]
