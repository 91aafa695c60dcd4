"""One presentation at the door, in this order always: read, look up, decide, write down, and only then act."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Protocol

from gate_app import history
from gate_app.answers import answer
from gate_app.clockface import iso
from gate_app.gathering import NO_WISH, Gathered, Gathering, Wish, as_code
from gate_app.journal import NOWHERE, Journal
from gate_app.lane import OWED_MS, Lane, Owed, Shown, code_of
from gate_app.noise import MINUTE_MS, Noise
from gate_app.roster import DamagedRows, Roster
from gate_app.time_keeper import Moment, TimeKeeper
from shared.admission import Mode, Readiness, Verdict, decide
from shared.errors import NotFound, StorageError
from shared.reasons import Reason
from shared.scans import Entry, EntryKind
from shared.tickets import ReadTicket, Refusal, read

Told = dict[str, Any]
"""The JSON object of one scan."""


class Lamp(Protocol):
    """Tells staff and guest; asked only after the entry is on the disk, and back only when it was told."""

    def give(self, told: Told, verdict: Verdict, mode: Mode) -> None:
        """A new verdict: lamp, sound, barrier."""
        ...

    def again(self, told: Told) -> None:
        """A verdict that stands already, held up a moment longer."""
        ...


@dataclass(frozen=True, slots=True)
class Presented:
    """A code at a reader, and what was asked with it."""

    text: str
    reader: str
    wish: Wish = NO_WISH
    by_hand: bool = False
    at: int | None = None  # time travel, for training and tests


class Gate:
    """The one place where a presentation becomes a verdict; one at a time, however many readers there are."""

    def __init__(
        self,
        *,
        journal: Journal,
        roster: Roster,
        gathering: Gathering,
        time_keeper: TimeKeeper,
        organisation: str,
        ready: Callable[[], Readiness],
        repeat_ms: int | None = None,
    ) -> None:
        """Continues where the last process stopped, an admission without a lamp included."""
        self._journal = journal
        self._roster = roster
        self._gathering = gathering
        self._time = time_keeper
        self._organisation = organisation
        self._ready = ready
        self._repeat_ms = repeat_ms
        self._noise = Noise(counted=journal.noise_counted())
        self._one_at_a_time = threading.Lock()
        self.lane = Lane(owed_since_restart(journal, time_keeper))

    def handle(self, presented: Presented, lamp: Lamp) -> Told:
        """The answer to one presentation: on the disk before the lamp tells it, marked as shown after."""
        with self._one_at_a_time:
            moment = self._moment(presented)
            self._tell_noise(moment)
            code = self._read(presented)
            gathered = self._gather(code, presented, moment)
            shown = _shown(code, presented, gathered)
            told = self._repeated(shown, presented, moment, lamp)
            return told or self._judged(shown, presented, gathered, moment, lamp)

    def finish(self) -> None:
        """Writes down what was only counted so far."""
        with self._one_at_a_time:
            self._noise.since -= MINUTE_MS
            self._tell_noise(self._time.now())

    def _gather(self, code: ReadTicket | Refusal, presented: Presented, moment: Moment) -> Gathered:
        with self._roster.lock:
            try:
                return self._gathering.gather(code, presented.wish, moment, self._ready())
            except DamagedRows as why:
                self._roster.condemn(why.details["event"], why.message)
                return self._gathering.gather(code, presented.wish, moment, self._ready())

    # -- before -------------------------------------------------------------------------------------------------

    def _moment(self, presented: Presented) -> Moment:
        moment = self._time.now()
        return moment if presented.at is None else replace(moment, at=presented.at, uncertainty=0)

    def _read(self, presented: Presented) -> ReadTicket | Refusal:
        if not presented.by_hand:
            return read(presented.text, self._roster.ring)
        for book in self._roster.books.values():
            found = book.find(presented.text)
            if len(found) == 1:
                return as_code(book, found[0], self._organisation)
        raise NotFound("There is no ticket with this number or confirmation code. Read it again, letter by letter.")

    def _repeated(self, shown: Shown, presented: Presented, moment: Moment, lamp: Lamp) -> Told | None:
        # A supervisor's decision is a new question, whatever was answered a moment ago.
        if presented.wish.override is not None:
            return None
        owed = self.lane.settle(shown, moment.monotonic)
        if owed is not None:
            return self._settle(owed, shown, moment, lamp)
        told = self.lane.again(shown, moment.monotonic, self._window())
        if told is None:
            return None
        told = told | {"again": True}
        lamp.again(told)
        return told

    def _settle(self, owed: Told, shown: Shown, moment: Moment, lamp: Lamp) -> Told:
        """The guest was admitted on the disk but never saw a lamp: lamp, sound and barrier now, and no second entry."""
        told = owed | {"again": True, "decided_at": iso(moment.at)}
        self.lane.remember(shown, moment.monotonic, told)
        lamp.give(told, Verdict(Reason(told["reason"]), told["message"], tuple(told["notices"])), Mode(told["mode"]))
        self._journal.lamp_lit(told["seq"])
        return told

    def _window(self) -> int:
        if self._repeat_ms is not None:
            return self._repeat_ms
        return min((book.facts.policy.repeat_ms for book in self._roster.books.values()), default=5_000)

    # -- judging ------------------------------------------------------------------------------------------------

    def _judged(self, shown: Shown, presented: Presented, gathered: Gathered, moment: Moment, lamp: Lamp) -> Told:
        verdict = decide(gathered.attempt)
        try:
            seq = self._record(presented, gathered, verdict, moment)
            committed = True
        except StorageError:
            # Whatever was decided, it does not hold: what cannot be written down was not admitted.
            verdict = decide(replace(gathered.attempt, readiness=Readiness(can_record=False)))
            seq, committed = None, False
        told = answer(gathered, verdict, presented.reader, seq, committed)
        lamp.give(told, verdict, gathered.attempt.mode)
        # From here on nobody waits: the guest has seen the lamp.
        if verdict.admitted and seq is not None:
            self._journal.lamp_lit(seq)
        if committed:
            self.lane.remember(shown, moment.monotonic, told)
            self._note_inside(gathered, verdict, moment)
        return told

    def _record(self, presented: Presented, gathered: Gathered, verdict: Verdict, moment: Moment) -> int | None:
        attempt = gathered.attempt
        if verdict.reason is Reason.UNREADABLE and not self._noise.writes(presented.text):
            self._journal.count_noise(self._noise.counted)
            return None
        code, book, override = attempt.code, gathered.book, attempt.override
        believed = isinstance(code, ReadTicket)
        ticket = code.ticket
        entry = self._journal.append(
            moment,
            self._time.boot,
            EntryKind.BY_HAND if presented.by_hand else EntryKind.PRESENTATION,
            position=book.position if book else NOWHERE,
            event=ticket.event_number if believed and ticket else (book.number if book else 0),
            gate=attempt.gate.number if attempt.gate else 0,
            zone=gathered.zone,
            reader=presented.reader,
            ticket_id=ticket.ticket_id if believed and ticket else 0,
            issue=ticket.issue if believed and ticket else 0,
            code_hash=code.code_hash,
            direction=attempt.direction.value,
            mode=attempt.mode.value,
            admitted=verdict.admitted,
            reason=verdict.reason.value,
            notices=verdict.notices,
            override_by=override.by if override and verdict.overridden else 0,
            override_reason=override.reason if override and verdict.overridden else "",
            override_denial=verdict.overridden.value if verdict.overridden else "",
            details=_details(gathered, presented),
            along=self._sighting(gathered),
        )
        return entry.seq

    def _sighting(self, gathered: Gathered) -> Callable[[sqlite3.Connection, Entry], None] | None:
        """A later issue than any known was shown: from now on the earlier ones are replaced."""
        attempt = gathered.attempt
        if not isinstance(attempt.code, ReadTicket) or attempt.event is None or attempt.mode is Mode.TEST:
            return None
        ticket = attempt.code.ticket
        if ticket.issue <= max(attempt.highest_issue_seen, attempt.row.issue if attempt.row else 1):
            return None

        def sight(connection: sqlite3.Connection, entry: Entry) -> None:
            identity = (entry.device, entry.branch, entry.seq)
            # The entry's own movement, if there is one, already carries the issue; then this changes nothing.
            history.sight(connection, identity, ticket.ticket_id, ticket.issue, entry.event)

        return sight

    def _note_inside(self, gathered: Gathered, verdict: Verdict, moment: Moment) -> None:
        attempt, book = gathered.attempt, gathered.book
        if (
            book is None
            or not verdict.admitted
            or attempt.mode is Mode.TEST
            or not isinstance(attempt.code, ReadTicket)
        ):
            return
        self._gathering.recount(book, {attempt.code.ticket.ticket_id}, moment.at)

    def _tell_noise(self, moment: Moment) -> None:
        counted = self._noise.over(moment.monotonic)
        if not counted:
            return
        with suppress(StorageError):
            self._journal.tell_noise(moment, self._time.boot, counted)


def owed_since_restart(journal: Journal, time_keeper: TimeKeeper) -> Owed | None:
    """The admission that was written down when the power went, before its lamp was seen."""
    entry = journal.unlit()
    if entry is None:
        return None
    moment = time_keeper.now()
    same_boot = entry.boot == time_keeper.boot
    age = moment.monotonic - entry.monotonic if same_boot else moment.at - entry.wall - entry.offset
    if not 0 <= age < OWED_MS:
        return None
    return Owed(
        entry.ticket_id, entry.issue, entry.direction, entry.mode, moment.monotonic + OWED_MS - age, _told_again(entry)
    )


def _told_again(entry: Entry) -> dict[str, Any]:
    return {
        "verdict": "admit",
        "reason": entry.reason,
        "message": "Admitted just before this gate was interrupted. Let this guest in.",
        "notices": list(entry.notices),
        "ticket": {"id": f"{entry.ticket_id:016x}", "issue": entry.issue, "event": entry.event},
        "history": [],
        "seq": entry.seq,
        "decided_at": "",
        "committed": True,
        "direction": entry.direction,
        "mode": entry.mode,
        "gate": None,
        "event": None,
        "reader": entry.reader,
        "again": False,
    }


def _shown(code: ReadTicket | Refusal, presented: Presented, gathered: Gathered) -> Shown:
    attempt = gathered.attempt
    gate = attempt.gate.number if attempt.gate else 0
    return Shown(code_of(code, presented.text), presented.reader, attempt.direction.value, attempt.mode.value, gate)


def _details(gathered: Gathered, presented: Presented) -> dict[str, Any]:
    details: dict[str, Any] = {}
    code = gathered.attempt.code
    if isinstance(code, Refusal) and code.ticket is not None:
        claimed = code.ticket
        details["claims"] = [claimed.key_id, claimed.event_number, claimed.ticket_id, claimed.issue]
    if gathered.foreign:
        details["foreign"] = [[one.device, one.branch, one.seq] for one in gathered.foreign]
    if presented.at is not None:
        details["at"] = presented.at
    return details
