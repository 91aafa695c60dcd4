"""Plain words for what pages show: times, ages, reasons, conflicts."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from shared.clock import Millis

CONFLICTS = {
    "duplicate": ("Admitted twice", "The same ticket was let in more often than it allows."),
    "admitted_though_dead": (
        "Admitted though not valid",
        "The ticket was cancelled, blocked, replaced or unpaid by then.",
    ),
    "never_issued": (
        "Never issued",
        "A good signature on a ticket that this server never issued. A ticket key may be out: distrust it now.",
    ),
    "forged_code": (
        "Forged code",
        "A code of this ticket that this server never handed out: a ticket key may be out, or the gate's journal lies.",
    ),
    "over_capacity": ("Over capacity", "Somebody was let in when there was no room left."),
    "fork": (
        "Two machines, one key",
        "Two entries claim the same place in one journal: a copied card or an old image.",
    ),
    "revoked_device": ("By a revoked device", "Written by a device after it was shut out."),
    "refused_though_right": ("Refused though right", "The gate's rows were old: the guest should have been let in."),
}

DECISIONS = {
    "doors_opened": "Doors opened on this device",
    "doors_closed": "Doors opened before, closed again on this device",
    "house_emptied": "House emptied: everybody counts anew",
}

ALERTS = {
    "tickets_on_called_off_event": "Tickets for an event that is called off",
    "holds_on_called_off_event": "Seats held at an event that is called off",
    "times_in_wrong_order": "Planned times contradict each other",
    "live_past_end": "Live past its end",
    "doors_not_planned": "Doors should be open, and no opening is planned",
    "not_open_past_start": "Not opened though it should have begun",
    "plan_not_carried_out": "A plan was not carried out",
    "facts_waiting": "Facts wait for delivery",
    "facts_laid_aside": "Facts were laid aside",
    "rows_point_abroad": "Rows point into another organisation",
    "house_out_of_bounds": "Figures of the house are out of bounds",
}

NOTHING = "\N{EN DASH}"
SEVERITIES = ("info", "low", "medium", "high", "gravest")

WHY_APART = {
    "unreadable": "damaged",
    "wrong_device": "of another device",
    "wrong_branch": "of another branch",
    "foreign_event": "of somebody else's event",
    "broken_chain": "does not follow the entry before",
    "wrong_head": "not the entry that its device signed for",
    "revoked_device": "written after the device was shut out",
}


def at(millis: Millis | None, timezone: str = "UTC") -> str:
    """A moment as people at the venue read it."""
    if millis is None:
        return NOTHING
    moment = datetime.fromtimestamp(millis / 1000, UTC).astimezone(ZoneInfo(timezone))
    return f"{moment:%a %d %b %Y, %H:%M}"


def clock(millis: Millis | None, timezone: str = "UTC") -> str:
    """The time of day alone, to the second."""
    if millis is None:
        return NOTHING
    return f"{datetime.fromtimestamp(millis / 1000, UTC).astimezone(ZoneInfo(timezone)):%H:%M:%S}"


def ago(millis: Millis | None, now: Millis) -> str:
    """How long ago, in the largest unit that says enough."""
    if millis is None:
        return "never"
    return f"{age(now - millis)} ago" if now - millis > 2_000 else "now"


def age(millis: Millis) -> str:
    """A length of time, in the largest unit that says enough."""
    seconds = max(0, millis // 1000)
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = seconds // size
            return f"{count} {name}{'' if count == 1 else 's'}"
    return f"{seconds} s"


def span(millis: Millis | None) -> str:
    """A length of time, signed."""
    if millis is None:
        return NOTHING
    if abs(millis) < 1_000:
        return f"{millis:+d} ms"
    if abs(millis) >= 48 * 3_600_000:
        return "unknown"
    return f"{millis / 1000:+.1f} s" if abs(millis) < 60_000 else f"{millis / 60_000:+.0f} min"


def give_or_take(millis: Millis) -> str:
    """An uncertainty."""
    return "time unknown" if millis >= 48 * 3_600_000 else f"± {span(millis).lstrip('+')}"


def lost(entries: int) -> str:
    """How many entries of a journal are gone."""
    return f"{entries} {'entry' if entries == 1 else 'entries'}"


def spaced(reason: str) -> str:
    """A code word as words."""
    return reason.replace("_", " ")
