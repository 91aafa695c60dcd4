"""The work behind the command line: functions over an open gate that print through `printing`."""

from __future__ import annotations

import getpass
import os
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from gate_app.command_line.printing import PrintedLamp, print_json, print_message
from gate_app.enrolment import Enrolled
from gate_app.gate_context import GateContext
from gate_app.journal.lines import clean
from gate_app.scanning.answers import unjudged
from gate_app.scanning.gate import Presentation
from gate_app.scanning.gathering import ScanOptions
from gate_app.scanning.parties import Parties
from gate_app.status import age_s, assigned_event, journal_status
from gate_app.supervision.pins import supervisors_of
from gate_app.sync.client import trace_of
from gate_app.sync.pull import Puller
from gate_app.sync.push import Pusher
from shared.admission import Override
from shared.errors import GatehouseError, InvalidRequest, StorageError

LONGEST_LINE = 8_192
"""No code is longer; the rest of the line is discarded."""
ROUNDS = 10_000


@dataclass(frozen=True, slots=True)
class ScanCommand:
    """The options of `scan`."""

    direction: str | None
    mode: str | None
    gate: str
    reader: str
    by_hand: bool
    at: int | None
    override_pin: str
    override_reason: str


def scan(context: GateContext, codes: Iterable[str], command: ScanCommand) -> bool:
    """Scans codes and prints one line for each; False if one of them could not be judged, such as an unknown number."""
    context.require_gate(command.gate)
    command = _with_time_travel(context, command)
    judged = True
    override = _override(context, command)
    monotonic = context.host.monotonic
    options = ScanOptions(command.direction, command.mode, command.gate, override)
    parties = Parties(context.gate, context.time.monotonic_ms)
    for code in codes:
        began = monotonic()
        lamp = PrintedLamp(lambda began=began: (monotonic() - began) // 1000)
        presentation = Presentation(code, command.reader, options, command.by_hand, command.at)
        try:
            parties.present(presentation, lamp)
        except (GatehouseError, sqlite3.Error) as error:
            # The codes behind it must be answered too, each in its line.
            why = error if isinstance(error, GatehouseError) else StorageError(f"Disk error: {error}.")
            print_json(unjudged(why, context.time.now().at))
            print_message(why.message)
            judged = False
        context.database.rest()
    return judged


def codes_of(named: list[str]) -> Iterator[str]:
    """The codes on the command line; `-` stands for standard input, one code per line."""
    for code in named:
        if code == "-":
            yield from _lines()
        else:
            yield code


def sync_once(context: GateContext, puller: Puller, pusher: Pusher) -> dict[str, Any]:
    """Pulls and pushes until both sides have everything; pushes even if the pull fails or nothing can be stored."""
    trouble: list[GatehouseError] = []
    directions: tuple[Callable[[], None], ...] = (lambda: _pull_all(puller), lambda: _push_all(pusher))
    if context.database.cannot_write:
        trouble, directions = [StorageError(context.database.cannot_write)], directions[1:]
    for exchange in directions:
        try:
            exchange()
        except GatehouseError as why:
            puller.mark_offline()
            trouble.append(why)
    line = sync_line(context)
    if trouble:
        line |= {"error": trouble[0].message, "trace_id": trace_of(trouble[0]) or None}
    return line


def sync_line(context: GateContext) -> dict[str, Any]:
    """What `sync` prints."""
    sync_state, snapshots = context.sync_state, context.roster.snapshots.values()
    journal = journal_status(context.database.connection, context.journal.device)
    return {
        "pulled": sync_state.pulled,
        "pushed": sync_state.pushed,
        "revision": max((snapshot.position.revision for snapshot in snapshots), default=None),
        "snapshot_age_s": age_s(context.roster.oldest_as_of(), context.time.now().at),
        "conflicts": journal["conflicts"],
        "quarantined": journal["quarantined"],
        "unsent": context.journal.unsent(),
    }


def enrolled_line(got: Enrolled) -> dict[str, Any]:
    """What `enrol` prints."""
    return {
        "device_id": got.identity.device_id,
        "organisation": got.identity.organisation_name,
        "gate": got.gate,
        "events": [assigned_event(assignment) for assignment in got.events],
        "organisation_id": got.identity.organisation,
        "check": got.check,
    }


def parse_time(text: str) -> int:
    """Parses an ISO time with a zone to ms. Raises InvalidRequest."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as why:
        raise InvalidRequest(f"{text} is not a time. Write it like 2026-07-04T19:30:00+02:00.") from why
    if moment.tzinfo is None:
        raise InvalidRequest(f"{text} has no time zone. Write it like 2026-07-04T19:30:00+02:00, or with Z for UTC.")
    return int(moment.timestamp() * 1000)


def read_pin(source: str) -> str:
    """Reads a PIN from the terminal (`-`) or a numbered file descriptor; never from the command line itself."""
    if source == "-":
        return getpass.getpass("Supervisor's PIN: ") if sys.stdin.isatty() else _first_line()
    if not (source.isascii() and source.isdigit() and len(source) <= 3):
        raise InvalidRequest(
            "Do not put a PIN on the command line. Use - to be asked for it, or the number of a file descriptor."
        )
    try:
        with os.fdopen(int(source), closefd=False) as file:
            return file.readline().strip()
    except OSError as why:
        raise InvalidRequest(f"File descriptor {source} cannot be read: {why.strerror}.") from why


def image_line(path: Path, decode: Callable[[Path], Any], monotonic: Callable[[], int]) -> dict[str, Any]:
    """What `decode` prints for one image."""
    from hardware.ports import DeviceError

    began = monotonic()
    try:
        found = decode(path)
    except DeviceError as why:
        return {"file": str(path), "codes": [], "error": str(why)}
    millis = (monotonic() - began) / 1_000_000
    return {"file": str(path), "codes": list(found.codes), "millis": round(millis, 3), "stage": found.stage}


def _first_line() -> str:
    # Not through the text layer: it would read ahead and swallow the codes that follow on the same input.
    return sys.stdin.buffer.readline(LONGEST_LINE).decode("utf-8", "replace").strip()


def _with_time_travel(context: GateContext, command: ScanCommand) -> ScanCommand:
    """Switches to test mode if another time was given, unless the settings allow time travel."""
    if command.at is None or context.config.allow_time_travel:
        return command
    if command.mode != "test":
        print_message("With --at the mode is test: nothing counts.")
    return ScanCommand(
        command.direction,
        "test",
        command.gate,
        command.reader,
        command.by_hand,
        command.at,
        command.override_pin,
        command.override_reason,
    )


def _override(context: GateContext, command: ScanCommand) -> Override | None:
    if not command.override_pin:
        return None
    pin, now = read_pin(command.override_pin), context.time.now().at
    check = context.supervisors.ask(pin, supervisors_of(context.roster), now)
    print_message(check.message)
    return Override(check.supervisor.number, clean(command.override_reason)) if check.supervisor else None


def _lines() -> Iterator[str]:
    stream = sys.stdin.buffer
    while line := stream.readline(LONGEST_LINE):
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = stream.readline(LONGEST_LINE)
        yield line.decode("utf-8", "replace").rstrip("\r\n")


def _pull_all(puller: Puller) -> None:
    """Runs hello, missing snapshots and changes until a request for changes brings nothing new."""
    puller.exchange.greet_again()
    for _ in range(ROUNDS):
        was_idle = puller.exchange.idle
        before = puller.sync_state.pulled
        puller.run_once()
        settled = was_idle and puller.exchange.idle and puller.sync_state.pulled == before
        if settled or puller.exchange.serves_nothing:
            return


def _push_all(pusher: Pusher) -> None:
    for _ in range(ROUNDS):
        if not pusher.run_once():
            return
