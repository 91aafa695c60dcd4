"""What the command line does, one function a command: over an opened home, printing through `printing`."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from gate_app.clockface import iso
from gate_app.gate import Presented
from gate_app.gathering import Wish
from gate_app.lodge import Lodge
from gate_app.printing import PrintedLamp, say
from gate_app.status import age_s, journal_status
from gate_app.sync.pull import Puller
from gate_app.sync.push import Pusher
from shared.admission import Override
from shared.errors import Forbidden, GatehouseError, InvalidRequest
from shared.protocol import Assignment
from shared.scans import Entry
from shared.snapshot import SupervisorRow

LONGEST_LINE = 8_192
"""No code is longer; what follows on the same line is read and forgotten."""
ROUNDS = 10_000


@dataclass(frozen=True, slots=True)
class ScanWish:
    """The options of `scan`."""

    direction: str | None
    mode: str | None
    gate: str
    reader: str
    by_hand: bool
    at: int | None
    override_pin: str
    override_reason: str


def scan(lodge: Lodge, codes: Iterable[str], wish: ScanWish) -> None:
    """One line per code."""
    wish = _travelling(lodge, wish)
    override = _override(lodge, wish)
    monotonic = lodge.world.monotonic
    asked = Wish(wish.direction, wish.mode, wish.gate, override)
    for code in codes:
        began = monotonic()
        lamp = PrintedLamp(lambda began=began: (monotonic() - began) // 1000)
        presented = Presented(code, wish.reader, asked, wish.by_hand, wish.at)
        try:
            lodge.gate.handle(presented, lamp)
        except InvalidRequest as why:
            say(why.message)
        lodge.database.rest()


def codes_of(named: list[str]) -> Iterator[str]:
    """The codes on the command line; `-` stands for one a line on standard input, until it ends."""
    for code in named:
        if code == "-":
            yield from _lines()
        else:
            yield code


def sync_once(lodge: Lodge, puller: Puller, pusher: Pusher) -> dict[str, Any]:
    """Down until nothing is missing, up until nothing is lacking; the second does not depend on the first."""
    trouble: list[GatehouseError] = []
    directions: tuple[Callable[[], None], ...] = (lambda: _pull_all(puller), lambda: _push_all(pusher))
    for exchange in directions:
        try:
            exchange()
        except GatehouseError as why:
            puller.silent()
            trouble.append(why)
    told = sync_line(lodge)
    if trouble:
        told["error"] = trouble[0].message
    return told


def sync_line(lodge: Lodge) -> dict[str, Any]:
    """What `sync` prints."""
    standing, books = lodge.standing, lodge.roster.books.values()
    journal = journal_status(lodge.database.connection, lodge.journal.device)
    return {
        "pulled": standing.pulled,
        "pushed": standing.pushed,
        "revision": max((book.position.revision for book in books), default=None),
        "snapshot_age_s": age_s(lodge.roster.oldest_as_of(), lodge.time.now().at),
        "conflicts": journal["conflicts"],
        "quarantined": journal["quarantined"],
        "unsent": lodge.journal.unsent(),
    }


def event_line(assignment: Assignment) -> dict[str, Any]:
    """An assigned event, as `enrol` prints it."""
    return {
        "event": assignment.event,
        "event_id": assignment.event_id,
        "name": assignment.name,
        "gate": assignment.gate_code or None,
        "direction": assignment.direction,
        "mode": assignment.mode,
    }


def entry_line(entry: Entry) -> dict[str, Any]:
    """A journal entry for people and scripts."""
    return {
        "device": entry.device,
        "branch": entry.branch,
        "seq": entry.seq,
        "kind": entry.kind,
        "at": iso(entry.wall + entry.offset),
        "uncertainty_ms": entry.uncertainty,
        "event": entry.event or None,
        "gate": entry.gate or None,
        "reader": entry.reader,
        "ticket": f"{entry.ticket_id:016x}" if entry.ticket_id else None,
        "issue": entry.issue or None,
        "direction": entry.direction or None,
        "mode": entry.mode or None,
        "admitted": entry.admitted,
        "reason": entry.reason or None,
        "notices": list(entry.notices),
        "override": _override_line(entry),
        "revision": entry.revision,
        "details": _plain(entry.details),
    }


def admission_words(lodge: Lodge, entry: Entry) -> str:
    """An admission as a steward knows it."""
    book = lodge.roster.books.get(entry.event)
    row = book.ticket(entry.ticket_id) if book else None
    ticket = row.number if row and row.number else f"ticket {entry.ticket_id:016x}"
    return f"{ticket}, {entry.direction} at {iso(entry.wall + entry.offset)}"


def moment_of(text: str) -> int:
    """An ISO time with its zone, in ms. Raises InvalidRequest."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as why:
        raise InvalidRequest(f"{text} is no time. Write it like 2026-07-04T19:30:00+02:00.") from why
    if moment.tzinfo is None:
        raise InvalidRequest(f"{text} has no time zone. Write it like 2026-07-04T19:30:00+02:00, or with a Z for UTC.")
    return int(moment.timestamp() * 1000)


def read_pin(source: str) -> str:
    """A PIN from the terminal (`-`) or a file descriptor's number; never from the command line itself."""
    if source == "-":
        return getpass.getpass("Supervisor's PIN: ") if sys.stdin.isatty() else _first_line()
    if not (source.isascii() and source.isdigit() and len(source) <= 3):
        raise InvalidRequest(
            "A PIN is never typed on the command line. Write - to be asked for it, or a file descriptor's number."
        )
    try:
        with os.fdopen(int(source), closefd=False) as file:
            return file.readline().strip()
    except OSError as why:
        raise InvalidRequest(f"File descriptor {source} cannot be read: {why.strerror}.") from why


def picture_line(path: Path, decode: Callable[[Path], Any], monotonic: Callable[[], int]) -> dict[str, Any]:
    """What `decode` prints of one picture."""
    from hardware.ports import DeviceError

    began = monotonic()
    try:
        found = decode(path)
    except DeviceError as why:
        return {"file": str(path), "codes": [], "error": str(why)}
    millis = (monotonic() - began) / 1_000_000
    return {"file": str(path), "codes": list(found.codes), "millis": round(millis, 3), "stage": found.stage}


def _first_line() -> str:
    # Not through the text layer: it would read ahead, and swallow the codes that follow on the same input.
    return sys.stdin.buffer.readline(LONGEST_LINE).decode("utf-8", "replace").strip()


def _travelling(lodge: Lodge, wish: ScanWish) -> ScanWish:
    """Another time is for training: nothing that is done in it counts, unless the operator's settings say so."""
    if wish.at is None or lodge.config.allow_time_travel:
        return wish
    if wish.mode != "test":
        say("With --at the mode is test: nothing of this counts.")
    return ScanWish(
        wish.direction, "test", wish.gate, wish.reader, wish.by_hand, wish.at, wish.override_pin, wish.override_reason
    )


def _override(lodge: Lodge, wish: ScanWish) -> Override | None:
    if not wish.override_pin:
        return None
    answer = lodge.supervisors.ask(read_pin(wish.override_pin), _supervisors(lodge), lodge.time.now().at)
    say(answer.words)
    return Override(answer.supervisor.number, clean(wish.override_reason)) if answer.supervisor else None


def ask_supervisor(lodge: Lodge, source: str) -> SupervisorRow:
    """Whoever's PIN was typed. Raises Forbidden."""
    answer = lodge.supervisors.ask(read_pin(source), _supervisors(lodge), lodge.time.now().at)
    if answer.supervisor is None:
        raise Forbidden(answer.words, code="wrong_pin")
    return answer.supervisor


def the_event(lodge: Lodge, number: int | None) -> int:
    """The event that is meant: the only one there is, unless it is named. Raises InvalidRequest."""
    events = list(lodge.posts.by_event)
    if number is None and len(events) == 1:
        return events[0]
    if number is None or number not in events:
        raise InvalidRequest(f"Name the event with --event. This gate serves: {', '.join(map(str, events)) or 'none'}.")
    return number


def _supervisors(lodge: Lodge) -> list[SupervisorRow]:
    found = {row.number: row for book in lodge.roster.books.values() for row in book.facts.supervisors.values()}
    return list(found.values())


def clean(text: str, most: int = 200) -> str:
    """A text as the journal may keep it: no control characters, no halves of characters, not endless."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return "".join(sign for sign in whole if sign.isprintable())[:most]


def _lines() -> Iterator[str]:
    stream = sys.stdin.buffer
    while line := stream.readline(LONGEST_LINE):
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = stream.readline(LONGEST_LINE)
        yield line.decode("utf-8", "replace").rstrip("\r\n")


def _pull_all(puller: Puller) -> None:
    """A greeting, whole snapshots of what is missing, then what is new, until a look at it finds nothing more."""
    puller.exchange.greet_again()
    for _ in range(ROUNDS):
        looked = puller.exchange.idle
        before = puller.standing.pulled
        puller.run_once()
        settled = looked and puller.exchange.idle and puller.standing.pulled == before
        if settled or puller.exchange.serves_nothing:
            return


def _push_all(pusher: Pusher) -> None:
    for _ in range(ROUNDS):
        if not pusher.run_once():
            return


def _override_line(entry: Entry) -> dict[str, Any] | None:
    if not entry.override_by:
        return None
    return {"by": entry.override_by, "reason": entry.override_reason, "denial": entry.override_denial}


def _plain(value: Any) -> Any:
    """Bytes as hexadecimal, everything else as it is."""
    match value:
        case bytes():
            return value.hex()
        case dict():
            return {str(key): _plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_plain(inner) for inner in value]
    return value
