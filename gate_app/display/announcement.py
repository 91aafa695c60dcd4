"""Turns a verdict into the texts and tones that all screens of the gate show."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum

from gate_app.display.json_fields import JsonObject, mapping, sequence, text
from gate_app.indicators import wants_attention
from shared.ago import ago


class Tone(StrEnum):
    """The look of the whole screen. Each tone has its own shape as well as its own colour."""

    ADMIT = "admit"
    ATTENTION = "attention"
    DENY = "deny"
    TEST = "test"
    FAULT = "fault"


TITLES: dict[str, str] = {
    "gate_not_ready": "Gate not ready",
    "cannot_record": "Gate cannot record",
    "unreadable": "Not a ticket",
    "unsupported_version": "Gate needs an update",
    "unknown_key": "Not one of ours",
    "bad_signature": "Forged or altered",
    "stale_proof": "Old screenshot",
    "wrong_organisation": "Another organiser's ticket",
    "wrong_event": "Wrong event",
    "event_not_live": "Not open yet",
    "event_cancelled": "Event cancelled",
    "event_postponed": "Event postponed",
    "event_ended": "Event has ended",
    "gate_closed": "Gate closed",
    "wrong_gate": "Wrong gate",
    "ticket_replaced": "Replaced by a newer ticket",
    "ticket_cancelled": "Ticket cancelled",
    "ticket_blocked": "Ticket blocked",
    "ticket_unpaid": "Not paid",
    "not_in_snapshot": "Unknown ticket",
    "not_valid_yet": "Too early",
    "no_longer_valid": "Expired",
    "not_valid_today": "Wrong day",
    "membership_expired": "No valid membership",
    "already_used": "Already used",
    "daily_limit_reached": "Daily limit reached",
    "already_inside": "Already inside",
    "not_inside": "Not inside",
    "zone_full": "Zone full",
    "gate_full": "Gate full",
    "admitted": "Valid ticket",
    "admitted_reentry": "Welcome back",
    "exited": "Exited",
    "test_ok": "Valid test scan",
    "admitted_override": "Admitted by supervisor",
}

NOTICES: dict[str, str] = {
    "wheelchair": "Wheelchair: step-free route",
    "companion_reserved": "Companion seat reserved",
    "companion": "Companion",
    "vip": "VIP",
    "not_yet_synced": "Sold after this gate's last update",
    "membership_unverified": "Ask for the membership card",
    "capacity_estimated": "Occupancy is estimated",
    "clock_uncertain": "Gate's clock may be wrong",
    "override": "Supervisor override",
}

EARLIER = 3
"""How many of a ticket's earlier movements are shown."""

SPENT = frozenset({"already_used", "daily_limit_reached", "already_inside", "not_inside"})
FAULTS = frozenset({"gate_not_ready", "cannot_record"})


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice about this guest; `act` if staff must do something before the guest goes in."""

    words: str
    act: bool


@dataclass(frozen=True, slots=True)
class Announcement:
    """One verdict, ready to be shown."""

    tone: Tone
    heading: str
    title: str
    spent: str
    """How long ago and where the entry was that stands in the way; empty for other verdicts."""
    message: str
    seat: str
    zone: str
    ticket: str
    holder: str
    notices: tuple[Notice, ...]
    earlier: tuple[str, ...]
    test: bool
    at: str
    reader: str
    number: str
    """Of the journal's entry, for `annul`, and to tell one guest from the next."""


def announce(scan: JsonObject, zone: tzinfo = UTC) -> Announcement:
    """The announcement for the JSON object of a scan; missing fields are left out."""
    ticket = mapping(scan.get("ticket"))
    reason = text(scan, "reason")
    return Announcement(
        tone=tone_of(scan),
        heading=heading_of(scan),
        title=TITLES.get(reason, reason.replace("_", " ").capitalize()),
        spent=spent_of(scan),
        message=text(scan, "message"),
        seat=seat_of(ticket),
        zone=text(ticket, "zone"),
        ticket=" · ".join(part for part in (text(ticket, "type"), text(ticket, "number")) if part),
        holder=text(ticket, "name"),
        notices=notices_of(scan),
        earlier=tuple(earlier_line(mapping(line), zone) for line in sequence(scan.get("history"))[-EARLIER:]),
        test=is_test(scan),
        at=time_of(scan.get("decided_at"), zone),
        reader=text(scan, "reader"),
        number=text(scan, "seq"),
    )


def tone_of(scan: JsonObject) -> Tone:
    if text(scan, "reason") in FAULTS:
        return Tone.FAULT
    if text(scan, "verdict") != "admit":
        return Tone.DENY
    if is_test(scan):
        return Tone.TEST
    calls_staff = any(notice.act for notice in notices_of(scan)) and not leaving(scan)
    return Tone.ATTENTION if calls_staff else Tone.ADMIT


def heading_of(scan: JsonObject) -> str:
    """One or two words, the largest text on the screen."""
    tone = tone_of(scan)
    if tone is Tone.FAULT:
        return "GATE FAULT"
    if tone is Tone.TEST:
        return "TEST OK"
    if tone is Tone.DENY:
        return "STOP"
    return "EXIT OK" if leaving(scan) else "COME IN"


def leaving(scan: JsonObject) -> bool:
    return text(scan, "reason") == "exited" or text(scan, "direction") == "exit"


def is_test(scan: JsonObject) -> bool:
    return text(scan, "mode") == "test" or text(scan, "reason") == "test_ok"


def seat_of(ticket: JsonObject) -> str:
    """Row and seat, each labelled.

    Without the ticket's row only the seat's number in the seat plan is known, which is not on any chair: show nothing.
    """
    if ticket.get("known") is False:
        return ""
    row, seat = text(ticket, "row"), text(ticket, "seat")
    named = (f"Row {row}" if row else "", f"Seat {seat}" if seat else "")
    return " · ".join(part for part in named if part)


def notices_of(scan: JsonObject) -> tuple[Notice, ...]:
    """Notices that need action first, then the others."""
    found = [notice_of(str(code)) for code in sequence(scan.get("notices"))]
    note = text(mapping(scan.get("ticket")), "notes")
    if note:
        found.append(Notice(f"Note: {note}", act=True))
    return tuple(sorted(found, key=lambda notice: not notice.act))


def notice_of(code: str) -> Notice:
    kind, _, detail = code.partition(":")
    if kind == "membership":
        return Notice(f"Member: {detail}", act=False)
    if kind == "check":
        return Notice(f"Check: {detail}", act=True)
    return Notice(NOTICES.get(code, code.replace("_", " ")), act=wants_attention(code))


def spent_of(scan: JsonObject) -> str:
    """How long before this scan the last movement was, and at which gate."""
    history = sequence(scan.get("history"))
    if text(scan, "reason") not in SPENT or not history:
        return ""
    last = mapping(history[-1])
    then, now, gate = moment_of(last.get("at")), moment_of(scan.get("decided_at")), text(last, "gate")
    when = ago((now - then) // timedelta(milliseconds=1)) if then and now else ""
    return " · ".join(part for part in (when, gate and f"gate {gate}") if part)


def earlier_line(passage: JsonObject, zone: tzinfo) -> str:
    """One earlier movement of the same ticket."""
    verb = "Left" if text(passage, "direction") == "exit" else "Came in"
    when, gate = time_of(passage.get("at"), zone), text(passage, "gate")
    return " ".join(part for part in (verb, when and f"at {when}", gate and f"through gate {gate}") if part)


def time_of(moment: object, zone: tzinfo) -> str:
    """Hours, minutes and seconds in the event's time zone, from ISO text or milliseconds."""
    then = moment_of(moment)
    try:
        return then.astimezone(zone).strftime("%H:%M:%S") if then else ""
    except OverflowError:
        return ""


def moment_of(moment: object) -> datetime | None:
    try:
        if isinstance(moment, str):
            then = datetime.fromisoformat(moment)
            return then if then.tzinfo else then.replace(tzinfo=UTC)
        if isinstance(moment, int):
            return datetime.fromtimestamp(moment / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None
