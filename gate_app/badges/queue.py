"""Prints badges after the lamp: a thread of its own takes them from the journal, once each, whatever happens."""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from contextlib import suppress
from typing import Final, Protocol

from gate_app.badges.due import asked_by, is_due
from gate_app.badges.faces import words_of
from gate_app.badges.records import Badge, Records, State
from gate_app.badges.sheet import sheet_of
from gate_app.badges.words import fault_words, unsure_words
from gate_app.clock.time_keeper import TimeKeeper
from gate_app.installation.config import PrinterSettings
from gate_app.journal.journal import Journal
from gate_app.snapshots.roster import Roster
from hardware.ports import DeviceError, Printer, PrinterError, Sheet
from shared.badges.layout import read_layout
from shared.errors import GatehouseError, InvalidRequest
from shared.journal.scans import Entry
from shared.tickets import code_hash_of

RETRY_S: Final = 2.0
LOOK_EVERY_S: Final = 15.0
"""How often an idle printer is asked how it is."""
TOO_LATE_MS: Final = 10 * 60_000
"""A guest who has waited so long has gone; a supervisor can still ask for the badge."""
_RECENT: Final = 200
_CODES_KEPT: Final = 64


class Report(Protocol):
    """Hears of faults: None as words means that all is well again."""

    def __call__(self, device: str, words: str | None, /) -> None: ...


class BadgeQueue:
    """The badges of a running gate. All methods but `run` return at once and may be called by any thread."""

    def __init__(
        self,
        *,
        settings: PrinterSettings,
        printer: Printer,
        records: Records,
        journal: Journal,
        roster: Roster,
        time_keeper: TimeKeeper,
        report: Report,
    ) -> None:
        """Takes over an open printer and its records."""
        self._settings, self._printer, self._records = settings, printer, records
        self._journal, self._roster, self._time = journal, roster, time_keeper
        self._report = report
        self._new: deque[int] = deque()
        self._codes: deque[str] = deque(maxlen=_CODES_KEPT)
        self._wake = threading.Event()
        self.state = "unknown"
        """How the printer is, in a word: ready, or a fault."""

    def read(self, code: str) -> None:
        """Remembers a code in memory, for badges that show it; a gate keeps no codes on its disk."""
        self._codes.append(code)

    def recorded(self, seq: int | None) -> None:
        """An entry is in the journal that may give a guest a badge."""
        if seq is not None:
            self._new.append(seq)
            self._wake.set()

    def run(self, stop: threading.Event) -> None:
        """Prints until it is stopped. What was interrupted by a power cut is taken up first."""
        with suppress(sqlite3.Error):
            self._take_up()
        while not stop.is_set():
            self._wake.clear()
            pause = RETRY_S
            try:
                pause = self.step()
            except (sqlite3.Error, GatehouseError) as why:
                # The card, not the printer: the gate goes on admitting, and this is tried again.
                self._report(self._settings.name, str(why))
            if pause:
                self._wake.wait(pause)

    def wake(self) -> None:
        """Ends a pause."""
        self._wake.set()

    def step(self) -> float:
        """Prints the next badge, or looks how the printer is; how long to pause then."""
        self._note_new()
        self._leave_late_ones()
        waiting = self._records.those(State.WAITING)
        try:
            if not waiting:
                self._printer.check()
                self._well()
                return LOOK_EVERY_S
            self._print(waiting[0])
        except DeviceError as fault:
            self._fault(fault)
            return RETRY_S
        self._well()
        return 0.0

    def close(self) -> None:
        """Closes printer and records."""
        self._printer.close()
        self._records.close()

    def _take_up(self) -> None:
        self._records.interrupted()
        head, branch = self._journal.head.seq, self._journal.branch.number
        after = max(self._records.begun_after(branch, head), head - _RECENT)
        self._new.extend(range(after + 1, head + 1))

    def _note_new(self) -> None:
        while self._new:
            entry = self._journal.entry(self._new[0])
            if entry is not None and self._gets_one(entry):
                asked = asked_by(entry)
                if asked:
                    self._records.settle(entry.event, entry.ticket_id)
                self._records.add(Badge(entry.event, entry.ticket_id, asked, entry.seq, _at(entry)))
            self._new.popleft()

    def _gets_one(self, entry: Entry) -> bool:
        wanted = is_due(entry) and (self._settings.on_admission or bool(asked_by(entry)))
        return wanted and self._time.now().at - _at(entry) <= TOO_LATE_MS

    def _leave_late_ones(self) -> None:
        now = self._time.now().at
        for state in (State.WAITING, State.UNSURE):
            for badge in self._records.those(state):
                if now - badge.at > TOO_LATE_MS:
                    self._records.set(badge, State.LEFT)
        self._tell_unsure()

    def _print(self, badge: Badge) -> None:
        self._printer.check()
        try:
            sheet = self._sheet(badge)
        except InvalidRequest as why:
            self._records.set(badge, State.LEFT)
            raise DeviceError(self._settings.name, why.message, "The organiser can change it on the server.") from why
        if sheet is None:
            self._records.set(badge, State.LEFT)
            return
        self._records.set(badge, State.BEGUN)
        try:
            self._printer.print_sheet(sheet)
        except PrinterError as fault:
            self._records.set(badge, _after(fault))
            raise
        self._records.set(badge, State.PRINTED)

    def _sheet(self, badge: Badge) -> Sheet | None:
        with self._roster.lock:
            snapshot = self._roster.snapshots.get(badge.event)
            row = snapshot.ticket(badge.ticket_id) if snapshot else None
            kind = snapshot.rows.types.get(row.ticket_type) if snapshot and row else None
        if snapshot is None or row is None or kind is None or not kind.badge:
            return None
        return sheet_of(read_layout(kind.badge), words_of(snapshot, row, self._code(badge)), self._settings)

    def _code(self, badge: Badge) -> str:
        entry = self._journal.entry(badge.seq)
        wanted = entry.code_hash if entry else b""
        return next((code for code in reversed(self._codes) if wanted and code_hash_of(code) == wanted), "")

    def _tell_unsure(self) -> None:
        numbers = tuple(self._number(badge) for badge in self._records.those(State.UNSURE))
        self._report(f"{self._settings.name} unsure", unsure_words(numbers) if numbers else None)

    def _number(self, badge: Badge) -> str:
        with self._roster.lock:
            snapshot = self._roster.snapshots.get(badge.event)
            row = snapshot.ticket(badge.ticket_id) if snapshot else None
        return row.number if row else f"{badge.ticket_id:016x}"

    def _fault(self, fault: DeviceError) -> None:
        self.state = str(fault.kind) if isinstance(fault, PrinterError) else "fault"
        self._report(self._settings.name, fault_words(fault, len(self._records.those(State.WAITING))))
        self._tell_unsure()

    def _well(self) -> None:
        self.state = "ready"
        self._report(self._settings.name, None)


def _at(entry: Entry) -> int:
    return entry.wall + entry.offset


def _after(fault: PrinterError) -> State:
    """What becomes of a badge at whose printing the printer failed."""
    if fault.kept:
        return State.PRINTED
    return State.UNSURE if fault.begun else State.WAITING
