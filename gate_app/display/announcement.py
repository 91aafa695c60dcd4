"""A verdict in words and shapes for people three metres away; every screen of the gate shows these and no others."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from enum import StrEnum

from gate_app.display.facts import Facts, mapping, sequence, words
from gate_app.signals import wants_attention


class Tone(StrEnum):
    """What the whole screen says before anybody reads a word. Each has its own shape as well as its own colour."""

    ADMIT = "admit"
    ATTENTION = "attention"
    DENY = "deny"
    TEST = "test"
    FAULT = "fault"


TITLES: dict[str, str] = {
    "gate_not_ready": "Gate not ready",
    "cannot_record": "Gate cannot record",
    "unreadable": "Not a ticket",
    "unsupported_version": "Newer ticket than this gate",
    "unknown_key": "Not one of ours",
    "bad_signature": "Forged or altered",
    "stale_proof": "Old picture of a ticket",
    "wrong_organisation": "Another organiser's ticket",
    "wrong_event": "Another event",
    "event_not_live": "Not open yet",
    "event_cancelled": "Event cancelled",
    "event_postponed": "Event postponed",
    "event_ended": "Event is over",
    "gate_closed": "Gate closed",
    "wrong_gate": "Other gate",
    "ticket_replaced": "Replaced by a newer ticket",
    "ticket_cancelled": "Ticket cancelled",
    "ticket_blocked": "Ticket blocked",
    "ticket_unpaid": "Not paid",
    "not_in_snapshot": "Unknown ticket",
    "not_valid_yet": "Too early",
    "no_longer_valid": "Expired",
    "not_valid_today": "Another day",
    "membership_expired": "No valid membership",
    "already_used": "Already used",
    "daily_limit_reached": "Used up for today",
    "already_inside": "Already inside",
    "not_inside": "Not inside",
    "zone_full": "Zone full",
    "gate_full": "Gate full",
    "admitted": "Valid ticket",
    "admitted_reentry": "Welcome back",
    "exited": "Left",
    "test_ok": "Test scan is good",
    "admitted_override": "Let in by supervisor",
}

NOTICES: dict[str, str] = {
    "wheelchair": "Wheelchair: step-free way",
    "companion_reserved": "Companion place reserved",
    "companion": "Companion",
    "vip": "VIP",
    "not_yet_synced": "Sold after this gate's last update",
    "membership_unverified": "Ask for the membership card",
    "capacity_estimated": "Occupancy is estimated",
    "clock_uncertain": "Gate is unsure of the time",
    "override": "Supervisor's decision",
}

EARLIER = 3
"""How many of a ticket's earlier movements still help somebody at the door."""

FAULTS = frozenset({"gate_not_ready", "cannot_record"})


@dataclass(frozen=True, slots=True)
class Notice:
    """Something about this guest; `act` when staff must do something before the guest walks on."""

    words: str
    act: bool


@dataclass(frozen=True, slots=True)
class Announcement:
    """One verdict, ready to be shown."""

    tone: Tone
    heading: str
    title: str
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


def announce(scan: Facts, zone: tzinfo = UTC) -> Announcement:
    """Words and shapes for the line of a scan. Facts that are missing are left out, never invented."""
    ticket = mapping(scan.get("ticket"))
    reason = words(scan, "reason")
    return Announcement(
        tone=tone_of(scan),
        heading=heading_of(scan),
        title=TITLES.get(reason, reason.replace("_", " ").capitalize()),
        message=words(scan, "message"),
        seat=seat_of(ticket),
        zone=words(ticket, "zone"),
        ticket=" · ".join(part for part in (words(ticket, "type"), words(ticket, "number")) if part),
        holder=words(ticket, "name"),
        notices=notices_of(scan),
        earlier=tuple(earlier_line(mapping(line), zone) for line in sequence(scan.get("history"))[-EARLIER:]),
        test=is_test(scan),
        at=time_of(scan.get("decided_at"), zone),
        reader=words(scan, "reader"),
    )


def tone_of(scan: Facts) -> Tone:
    if words(scan, "reason") in FAULTS:
        return Tone.FAULT
    if words(scan, "verdict") != "admit":
        return Tone.DENY
    if is_test(scan):
        return Tone.TEST
    calls_staff = any(notice.act for notice in notices_of(scan)) and not leaving(scan)
    return Tone.ATTENTION if calls_staff else Tone.ADMIT


def heading_of(scan: Facts) -> str:
    """One or two words, the largest on the screen."""
    tone = tone_of(scan)
    if tone is Tone.FAULT:
        return "GATE FAULT"
    if tone is Tone.TEST:
        return "TEST OK"
    if tone is Tone.DENY:
        return "STOP"
    return "GO OUT" if leaving(scan) else "COME IN"


def leaving(scan: Facts) -> bool:
    return words(scan, "reason") == "exited" or words(scan, "direction") == "exit"


def is_test(scan: Facts) -> bool:
    return words(scan, "mode") == "test" or words(scan, "reason") == "test_ok"


def seat_of(ticket: Facts) -> str:
    """Row and seat, each with its word, so that nobody mixes them up.

    Of a ticket that this gate has no row for, only the seat's number in the plan is known; it hangs on no chair.
    """
    if ticket.get("known") is False:
        return ""
    row, seat = words(ticket, "row"), words(ticket, "seat")
    named = (f"Row {row}" if row else "", f"Seat {seat}" if seat else "")
    return " · ".join(part for part in named if part)


def notices_of(scan: Facts) -> tuple[Notice, ...]:
    """In the order in which staff need them: what to do first, what is only for knowing after it."""
    found = [notice_of(str(code)) for code in sequence(scan.get("notices"))]
    note = words(mapping(scan.get("ticket")), "notes")
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


def earlier_line(passage: Facts, zone: tzinfo) -> str:
    """One earlier movement of the same ticket."""
    verb = "Left" if words(passage, "direction") == "exit" else "Came in"
    when, gate = time_of(passage.get("at"), zone), words(passage, "gate")
    return " ".join(part for part in (verb, when and f"at {when}", gate and f"through gate {gate}") if part)


def time_of(moment: object, zone: tzinfo) -> str:
    """Hours, minutes and seconds where the event is; from ISO words or milliseconds."""
    try:
        if isinstance(moment, str):
            return datetime.fromisoformat(moment).astimezone(zone).strftime("%H:%M:%S")
        if isinstance(moment, int):
            return datetime.fromtimestamp(moment / 1000, zone).strftime("%H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return ""
    return ""
