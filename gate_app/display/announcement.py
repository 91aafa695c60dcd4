"""Turns a verdict into the texts and tones that all screens of the gate show."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum

from gate_app.display.json_fields import JsonObject, mapping, sequence, text
from gate_app.indicators import wants_attention
from gate_app.words import known, say
from shared.words.ago import ago
from shared.words.wording import joined


class Tone(StrEnum):
    """The look of the whole screen. Each tone has its own shape as well as its own colour."""

    ADMIT = "admit"
    ATTENTION = "attention"
    DENY = "deny"
    TEST = "test"
    FAULT = "fault"
    LOOK = "look"


EARLIER = 3
"""How many of a ticket's earlier movements are shown."""

SPENT = frozenset({"already_used", "daily_limit_reached", "already_inside", "not_inside"})
FAULTS = frozenset({"gate_not_ready", "cannot_record"})


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice about this guest; `act` if staff must do something before the guest goes in."""

    words: str
    act: bool
    private: bool = False
    """Whether it may name somebody, as notes do."""


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
    return Announcement(
        tone=tone_of(scan),
        heading=heading_of(scan),
        title=title_of(scan),
        spent=spent_of(scan),
        message=text(scan, "message"),
        seat=seat_of(ticket),
        zone=text(ticket, "zone"),
        ticket=joined(text(ticket, "type"), text(ticket, "number"), by=" · "),
        holder=text(ticket, "name"),
        notices=notices_of(scan),
        earlier=tuple(earlier_line(mapping(line), zone) for line in sequence(scan.get("history"))[-EARLIER:]),
        test=is_test(scan),
        at=time_of(scan.get("decided_at"), zone),
        reader=text(scan, "reader"),
        number=text(scan, "seq"),
    )


def title_of(scan: JsonObject) -> str:
    """Why, in two or three words. A ticket that was only looked up says first what its answer would be."""
    reason = text(scan, "reason")
    title = known(f"title.{reason}") or reason.replace("_", " ").capitalize()
    if scan.get("looked") is not True:
        return title
    would = say("look.would_admit" if text(scan, "verdict") == "admit" else "look.would_refuse")
    return joined(would, title, by=" ")


def tone_of(scan: JsonObject) -> Tone:
    if text(scan, "reason") in FAULTS:
        return Tone.FAULT
    if scan.get("looked") is True:
        return Tone.LOOK
    if text(scan, "verdict") != "admit":
        return Tone.DENY
    if is_test(scan):
        return Tone.TEST
    calls_staff = any(notice.act for notice in notices_of(scan)) and not leaving(scan)
    return Tone.ATTENTION if calls_staff else Tone.ADMIT


def heading_of(scan: JsonObject) -> str:
    """One or two words, the largest text on the screen."""
    tone = tone_of(scan)
    if tone in {Tone.FAULT, Tone.TEST, Tone.DENY, Tone.LOOK}:
        return say(f"heading.{tone}")
    return say("heading.exit" if leaving(scan) else "heading.admit")


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
    return joined(row and say("seat.row", row=row), seat and say("seat.seat", seat=seat), by=" · ")


def notices_of(scan: JsonObject) -> tuple[Notice, ...]:
    """Notices that need action first, then the others."""
    found = [notice_of(str(code)) for code in sequence(scan.get("notices"))]
    note = text(mapping(scan.get("ticket")), "notes")
    if note:
        found.append(Notice(say("notice.note", note=note), act=True, private=True))
    return tuple(sorted(found, key=lambda notice: not notice.act))


def notice_of(code: str) -> Notice:
    kind, _, detail = code.partition(":")
    if kind == "membership":
        return Notice(say("notice.member", tier=detail), act=False)
    if kind == "check":
        return Notice(say("notice.check", what=detail), act=True)
    return Notice(known(f"notice.{code}") or code.replace("_", " "), act=wants_attention(code))


def spent_of(scan: JsonObject) -> str:
    """How long before this scan the last movement was, and at which gate."""
    history = sequence(scan.get("history"))
    if text(scan, "reason") not in SPENT or not history:
        return ""
    last = mapping(history[-1])
    then, now, gate = moment_of(last.get("at")), moment_of(scan.get("decided_at")), text(last, "gate")
    when = ago((now - then) // timedelta(milliseconds=1)) if then and now else ""
    return joined(when, gate and say("passage.gate", gate=gate), by=" · ")


def earlier_line(passage: JsonObject, zone: tzinfo) -> str:
    """One earlier movement of the same ticket."""
    verb = say("passage.left" if text(passage, "direction") == "exit" else "passage.came_in")
    when, gate = time_of(passage.get("at"), zone), text(passage, "gate")
    return joined(verb, when and say("passage.at", when=when), gate and say("passage.through", gate=gate))


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
