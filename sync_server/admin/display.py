"""Texts and formats of the admin pages: times, durations, conflicts and alerts."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from shared.clock import Millis
from sync_server.events import rules

CONFLICTS = {
    "duplicate": ("Admitted twice", "The same ticket was admitted more often than it allows."),
    "admitted_though_dead": (
        "Admitted with an invalid ticket",
        "The ticket was cancelled, blocked, replaced or unpaid at the time.",
    ),
    "never_issued": (
        "Never issued",
        "The signature is valid, but this server never issued the ticket. A signing key may have leaked: "
        "distrust it now.",
    ),
    "forged_code": (
        "Forged code",
        "This server never issued this code for the ticket. A signing key may have leaked, "
        "or the gate's journal is forged.",
    ),
    "over_capacity": ("Over capacity", "Somebody was admitted when the capacity was already reached."),
    "fork": (
        "Duplicated device",
        "Two journal entries have the same position: a memory card was copied, or an old image was restored.",
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
}

ALERTS = {
    "tickets_on_called_off_event": "Tickets for a cancelled or postponed event",
    "holds_on_called_off_event": "Seats held for a cancelled or postponed event",
    "times_in_wrong_order": "Event times are in the wrong order",
    "live_past_end": "Still live after its end",
    "doors_not_planned": "Doors should be open, but no opening is planned",
    "not_open_past_start": "Not open after its start",
    "plan_not_carried_out": "A scheduled change did not happen",
    "facts_waiting": "Facts are waiting for delivery",
    "facts_laid_aside": "Facts could not be delivered",
    "rows_point_abroad": "Records refer to another organisation",
    "sums_differ": "Numbers on pages were wrong",
    "house_out_of_bounds": "Seating figures are out of range",
    "webhook_paused": "A webhook is paused",
}

MARKS = {
    "cancelled": "Cancelled",
    "postponed": "Postponed, no new date yet",
    "rescheduled": "Postponed to a new date",
}

DASH = "\N{EN DASH}"
SEVERITIES = ("info", "low", "medium", "high", "critical")


def mark(event: object) -> str:
    """What an event is marked with that does not take place as announced; empty for all others."""
    found = rules.mark(event)
    return MARKS[found] if found else ""


def date_time(millis: Millis | None, timezone: str = "UTC") -> str:
    """A date and time in the time zone of the venue."""
    if millis is None:
        return DASH
    moment = datetime.fromtimestamp(millis / 1000, UTC).astimezone(ZoneInfo(timezone))
    return f"{moment:%a %d %b %Y, %H:%M}"


def clock(millis: Millis | None, timezone: str = "UTC") -> str:
    """A time of day, to the second."""
    if millis is None:
        return DASH
    return f"{datetime.fromtimestamp(millis / 1000, UTC).astimezone(ZoneInfo(timezone)):%H:%M:%S}"


def ago(millis: Millis | None, now: Millis) -> str:
    """How long ago, such as `2 hours ago`."""
    if millis is None:
        return "never"
    return f"{age(now - millis)} ago" if now - millis > 2_000 else "now"


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
