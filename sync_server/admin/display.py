"""Texts and formats of the admin pages: times, durations, conflicts and alerts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from datetime import date as Date  # noqa: N812 - `date` writes one
from typing import Any
from zoneinfo import ZoneInfo

from markupsafe import Markup

from shared.clock import Millis
from shared.tickets import Entitlement
from sync_server.appearance.made_covers import MadeCover, drawing
from sync_server.appearance.moments import Style
from sync_server.devices.rules import health_problems
from sync_server.events import rules
from sync_server.images.urls import image_url
from sync_server.plumbing.language.texts import DEFAULT, Translator

__all__ = ["health_problems", "image_url"]

CONFLICTS = {
    "duplicate": ("Admitted twice", "The same ticket was admitted more often than it allows."),
    "admitted_though_dead": (
        "Admitted with an invalid ticket",
        "The ticket was cancelled, blocked, replaced or unpaid at the time.",
    ),
    "never_issued": (
        "Never issued",
        "The code is signed as it should be, but this server never issued the ticket. Somebody may have a copy of a "
        "key that signs tickets: have it withdrawn now.",
    ),
    "forged_code": (
        "Forged code",
        "This server never issued this code for the ticket. Somebody may have a copy of a key that signs tickets, "
        "or has changed what the gate recorded.",
    ),
    "over_capacity": ("Over capacity", "Somebody was admitted when the capacity was already reached."),
    "fork": (
        "Duplicated device",
        "Two records of the device have the same number: its memory card was copied, or an old backup was put back.",
    ),
    "revoked_device": ("Scanned by a revoked device", "The device recorded this after it was revoked."),
    "refused_though_right": (
        "Wrongly refused",
        "The gate's data was out of date. The guest should have been admitted.",
    ),
}

DECISIONS = {
    "doors_opened": "Doors opened on this device",
    "doors_closed": "Doors closed again on this device",
    "house_emptied": "Venue emptied: counting starts again",
    "count_corrected": "Count of people inside corrected",
}

ALERTS = {
    "tickets_on_called_off_event": "Tickets for a cancelled or postponed event",
    "holds_on_called_off_event": "Seats held for a cancelled or postponed event",
    "times_in_wrong_order": "Event times are in the wrong order",
    "live_past_end": "Still live after its end",
    "doors_not_planned": "Doors should be open, but no opening is planned",
    "not_open_past_start": "Not open after its start",
    "plan_not_carried_out": "A scheduled change did not happen",
    "facts_waiting": "News for other programs waits",
    "facts_laid_aside": "News for other programs could not be delivered",
    "rows_point_abroad": "Records of one organisation name another",
    "sums_differ": "Numbers on pages were wrong",
    "house_out_of_bounds": "Seats fill unusually",
    "webhook_paused": "A webhook is paused",
    "payments_disputed": "Payments are disputed",
}

MARKS = {
    "cancelled": "Cancelled",
    "postponed": "Postponed, no new date yet",
    "rescheduled": "Postponed to a new date",
}

DASH = "\N{EN DASH}"
LOCALE = "en-GB"
"""Of what scripts write."""
SEVERITIES = ("info", "low", "medium", "high", "critical")


def mark(event: object) -> str:
    """What an event is marked with that does not take place as announced; empty for all others."""
    found = rules.mark(event)
    return MARKS[found] if found else ""


def date_time(millis: Millis | None, timezone: str = "UTC") -> str:
    """A date and time by the clocks of the venue."""
    return DASH if millis is None else Style.of(DEFAULT, timezone).moment(millis)


def moment(millis: Millis | None, timezone: str) -> str:
    """The same with the name of the zone, where nothing else on the page says whose clocks these are."""
    return DASH if millis is None else f"{date_time(millis, timezone)} {Style.of(DEFAULT, timezone).zone(millis)}"


def time_of_day(millis: Millis, timezone: str) -> str:
    """A time of today, with the name of the zone."""
    return f"{hour(millis, timezone)} {Style.of(DEFAULT, timezone).zone(millis)}"


def date(millis: Millis, timezone: str = "UTC") -> str:
    """A day by the clocks of the venue."""
    return Style.of(DEFAULT, timezone).short_day(millis)


def days(dates: Sequence[str]) -> str:
    """Event days by their dates, such as 3 Aug 2026 – 5 Aug 2026."""
    return Style.of(DEFAULT).days(dates)


def month(day: Date) -> str:
    """Such as July 2026."""
    return f"{day:%B %Y}"


def field_time(millis: Millis | None, timezone: str) -> str:
    """A time as a field of a form takes it."""
    if millis is None:
        return ""
    return f"{datetime.fromtimestamp(millis / 1000, UTC).astimezone(ZoneInfo(timezone)):%Y-%m-%dT%H:%M}"


def clock(millis: Millis | None, timezone: str = "UTC") -> str:
    """A time of day, to the second."""
    if millis is None:
        return DASH
    return f"{datetime.fromtimestamp(millis / 1000, UTC).astimezone(ZoneInfo(timezone)):%H:%M:%S}"


def hour(millis: Millis | None, timezone: str = "UTC") -> str:
    """A time of day, to the minute."""
    return clock(millis, timezone).rpartition(":")[0] or DASH


def pace(people: float) -> str:
    """How many people a minute: whole numbers from ten on, where tenths mean nothing any more."""
    return f"{people:.0f}" if people >= 10 or people == int(people) else f"{people:.1f}"


def size(megabytes: int) -> str:
    """Room on a disk, such as 12 GB."""
    return f"{megabytes / 1_000:.0f} GB" if megabytes >= 10_000 else f"{megabytes} MB"


def ago(millis: Millis | None, now: Millis) -> str:
    """How long ago, such as `2 hours ago`."""
    if millis is None:
        return "never"
    return f"{age(now - millis)} ago" if now - millis > 2_000 else "now"


def until(millis: Millis, now: Millis) -> str:
    """How long it is until then, such as `8 days`; a dash for what has passed."""
    return age(millis - now) if millis > now else DASH


def ago_iso(moment: str, now: Millis) -> str:
    """How long ago a moment of the API was."""
    return ago(int(datetime.fromisoformat(moment).timestamp() * 1000), now)


def age(millis: Millis) -> str:
    """A duration in its largest unit, such as `2 hours`."""
    seconds = max(0, millis // 1000)
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = seconds // size
            return f"{count} {name}{'' if count == 1 else 's'}"
    return f"{seconds} s"


def span(millis: Millis | None) -> str:
    """A signed duration, such as `+3 min`."""
    if millis is None:
        return DASH
    if abs(millis) < 1_000:
        return f"{millis:+d} ms"
    if abs(millis) >= 48 * 3_600_000:
        return "unknown"
    return f"{millis / 1000:+.1f} s" if abs(millis) < 60_000 else f"{millis / 60_000:+.0f} min"


def give_or_take(millis: Millis) -> str:
    """An uncertainty, such as `± 1.5 s`."""
    return "time unknown" if millis >= 48 * 3_600_000 else f"± {span(millis).lstrip('+')}"


def entry_count(entries: int) -> str:
    """A number of journal entries, such as `3 entries`."""
    return f"{entries} {'entry' if entries == 1 else 'entries'}"


def spaced(reason: str) -> str:
    """A code word with spaces instead of underscores."""
    return reason.replace("_", " ")


def money(cents: int, currency: str) -> str:
    """An amount such as €51.40."""
    return Style.of(DEFAULT).amount(cents, currency)


def about(cents: int, currency: str) -> str:
    """The same in short, to stand below a column: €812, €1.2K."""
    return Style.of(DEFAULT).about(cents, currency)


def made_cover(event: Any, colour: str) -> Markup:
    """What stands in for a picture: the same drawing that guests see in the shop."""
    dated = None if mark(event) == "postponed" else event.rescheduled_at or event.start_at
    return cover_of(event.name, dated, event.timezone, colour)


def cover_of(name: str, starts_at: Millis | None, timezone: str, colour: str) -> Markup:
    """The cover of an event of this name, which need not exist yet."""
    cover = MadeCover.of(name, starts_at, Style.of(DEFAULT, timezone), colour)
    return Markup(drawing(cover))  # noqa: S704 - it escapes what it is told


def initials(name: str) -> str:
    """The first letters of the first and last name."""
    names = name.split()
    return "".join(part[0].upper() for part in (names[:1] + names[1:][-1:])) or "?"


def room(event: Any) -> int:
    """How many tickets an event has for one day; 0 where nothing limits them."""
    return rules.effective_capacity(event.capacity, event.venue_capacity, event.layout_capacity)


def iso_day(moment: str, timezone: str) -> str:
    """A day and time of the API, of the venue's clock."""
    return date_time(int(datetime.fromisoformat(moment).timestamp() * 1000), timezone)


def iso_moment(written: str, timezone: str) -> str:
    """The same, with the name of the zone."""
    return moment(int(datetime.fromisoformat(written).timestamp() * 1000), timezone)


def methods(t: Translator, names: Iterable[str]) -> list[tuple[str, str]]:
    """Ways to pay, to choose from."""
    return [(name, t(f"method.{name}")) for name in names]


def entitlements(t: Translator, names: Iterable[str]) -> list[tuple[str, str]]:
    """How often a ticket admits, to choose from."""
    return [(name, t(f"entitlement.{name}")) for name in names]


def entitlement_name(value: int) -> str:
    """The name of an entitlement in the API."""
    return Entitlement(value).name.lower()


def weekday(day: datetime) -> str:
    """A day of this week, such as Mon 6."""
    return f"{day:%a} {day.day}"
