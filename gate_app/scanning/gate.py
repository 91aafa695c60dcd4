"""Handles one presented ticket, always in this order: read, look up, decide, record, and only then act."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

from msgspec import Struct, structs

from gate_app.clock.time_format import iso
from gate_app.clock.time_keeper import Moment, TimeKeeper
from gate_app.journal import history
from gate_app.journal.journal import NOWHERE, Journal
from gate_app.scanning.answers import answer
from gate_app.scanning.gathering import DEFAULT_OPTIONS, Gathered, Gathering, ScanOptions, as_code, as_member
from gate_app.scanning.lane import OWED_MS, Lane, Owed, Shown, code_of
from gate_app.scanning.noise import MINUTE_MS, Noise
from gate_app.snapshots.roster import DamagedRows, Roster
from gate_app.words import say
from shared.admission import Mode, Readiness, Verdict, decide
from shared.errors import NotFound, StorageError
from shared.journal.scans import Entry, EntryKind
from shared.reasons import Reason
from shared.tickets import ReadParty, ReadTicket, Refusal, read_party_or_ticket

SHORTEST_PARTY = 200
"""Characters: the code of two tickets has 206. Everything shorter is one ticket at most, and is read once."""
ScanResult = dict[str, Any]
"""The JSON object of one scan."""


class Lamp(Protocol):
    """Shows the verdict to staff and guest. Called once the entry is on the disk; returns when it has been shown."""

    def show(self, result: ScanResult, verdict: Verdict, mode: Mode) -> None:
        """A new verdict: lamp, sound, barrier."""
        ...

    def repeat(self, result: ScanResult) -> None:
        """The same ticket again a moment later: the verdict stands."""
        ...


class Presentation(Struct, frozen=True):
    """A code at a reader, and the options of the scan."""

    text: str
    reader: str
    options: ScanOptions = DEFAULT_OPTIONS
    by_hand: bool = False
    at: int | None = None  # time travel, for training and tests
    ticket: tuple[int, int] | None = None  # by hand: event and id of a ticket that was looked up
    member: int = 0  # of a party: the id of the ticket that is meant
    shown_later: bool = False  # whoever presents it says when it was shown: once the guest has gone through


class Gate:
    """Turns presentations into verdicts, one at a time however many readers there are."""

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
        """Continues where the last process stopped, including an admission that was recorded but never shown."""
        self._journal = journal
        self._roster = roster
        self._gathering = gathering
        self._time = time_keeper
        self._organisation = organisation
        self._ready = ready
        self._repeat_ms = repeat_ms
        self._noise = Noise(counted=journal.noise_counted())
        self.one_at_a_time = threading.RLock()
        """Held while a ticket is judged; a party without a turnstile is judged as one."""
        self.lane = Lane(owed_since_restart(journal, time_keeper))

    def handle(self, presentation: Presentation, lamp: Lamp) -> ScanResult:
        """The result of one presentation: on the disk before the lamp shows it, marked as shown afterwards."""
        with self.one_at_a_time:
            moment = self._moment(presentation)
            self._record_noise(moment)
            code = self._read(presentation)
            gathered = self._gather(code, presentation, moment)
            shown = _shown(code, presentation, gathered)
            result = self._repeat_of(shown, presentation, moment, lamp)
            return result or self._judge(shown, presentation, gathered, moment, lamp)

    def look(self, presentation: Presentation) -> ScanResult:
        """What the answer would be. Nobody is admitted, nothing is recorded, and no lamp lights."""
        with self.one_at_a_time:
            gathered = self._gather(self._read(presentation), presentation, self._moment(presentation))
            return answer(gathered, decide(gathered.attempt), presentation.reader) | {"looked": True}

    def party_of(self, text: str) -> ReadParty | None:
        """The party that this code is good for; None for every other text."""
        if len(text) < SHORTEST_PARTY:
            return None
        found = read_party_or_ticket(text, self._roster.ring)
        return found if isinstance(found, ReadParty) else None

    def is_owed(self, presentation: Presentation) -> bool:
        """Whether this ticket was admitted just before the gate was interrupted, and not shown."""
        with self.one_at_a_time:
            moment, code = self._moment(presentation), self._read(presentation)
            return self.lane.owes(
                _shown(code, presentation, self._gather(code, presentation, moment)), moment.monotonic
            )

    def just_went(self, presentation: Presentation) -> bool:
        """Whether this ticket has gone this way in the time in which an interrupted party goes on."""
        with self.one_at_a_time:
            attempt = self._gather(self._read(presentation), presentation, self._moment(presentation)).attempt
            last = max(attempt.history, key=lambda passage: passage.at, default=None)
            return last is not None and last.direction == attempt.direction and attempt.now - last.at < OWED_MS

    def shown(self, seq: int) -> None:
        """Marks an admission as shown, of which its presentation said that this comes later."""
        self._journal.lamp_lit(seq)

    def finish(self) -> None:
        """Records unreadable texts that were only counted so far."""
        with self.one_at_a_time:
            self._noise.since -= MINUTE_MS
            self._record_noise(self._time.now())

    def _gather(self, code: ReadTicket | Refusal, presentation: Presentation, moment: Moment) -> Gathered:
        with self._roster.lock:
            try:
                return self._gathering.gather(code, presentation.options, moment, self._ready())
            except DamagedRows as why:
                self._roster.discard_damaged(why.details["event"], why.message)
                return self._gathering.gather(code, presentation.options, moment, self._ready())

    def _moment(self, presentation: Presentation) -> Moment:
        moment = self._time.now()
        return moment if presentation.at is None else structs.replace(moment, at=presentation.at, uncertainty=0)

    def _read(self, presentation: Presentation) -> ReadTicket | Refusal:
        if not presentation.by_hand:
            return self._shown_code(presentation)
        if presentation.ticket is not None:
            return self._looked_up(*presentation.ticket)
        for snapshot in self._roster.snapshots.values():
            found = snapshot.find(presentation.text)
            if len(found) == 1:
                return as_code(snapshot, found[0], self._organisation)
        raise NotFound("No ticket has this number or confirmation code. Check it letter by letter.")

    def _shown_code(self, presentation: Presentation) -> ReadTicket | Refusal:
        found = read_party_or_ticket(presentation.text, self._roster.ring)
        if not isinstance(found, ReadParty):
            return found
        snapshot = self._roster.snapshots.get(found.event_number)
        member = next((one for one in found.members if one.ticket_id == presentation.member), found.members[0])
        return as_member(found, member, snapshot.ticket(member.ticket_id) if snapshot else None)

    def _looked_up(self, event: int, ticket_id: int) -> ReadTicket:
        snapshot = self._roster.snapshots.get(event)
        row = snapshot.ticket(ticket_id) if snapshot else None
        if snapshot is None or row is None:
            raise NotFound(say("desk.gone"), code="ticket_gone")
        return as_code(snapshot, row, self._organisation)

    def _repeat_of(self, shown: Shown, presentation: Presentation, moment: Moment, lamp: Lamp) -> ScanResult | None:
        # A supervisor's override is always judged again, whatever the answer was a moment ago.
        if presentation.options.override is not None:
            return None
        owed = self.lane.settle(shown, moment.monotonic)
        if owed is not None:
            return self._settle(owed, shown, moment, lamp, later=presentation.shown_later)
        result = self.lane.again(shown, moment.monotonic, self.repeat_window())
        if result is None:
            return None
        result = result | {"again": True}
        lamp.repeat(result)
        return result

    def _settle(self, owed: ScanResult, shown: Shown, moment: Moment, lamp: Lamp, *, later: bool) -> ScanResult:
        """The admission is recorded but was never shown: lamp, sound and barrier now, and no second entry."""
        result = owed | {"again": True, "decided_at": iso(moment.at), "reader": shown.reader}
        self.lane.remember(shown, moment.monotonic, result)
        lamp.show(
            result, Verdict(Reason(result["reason"]), result["message"], tuple(result["notices"])), Mode(result["mode"])
        )
        if not later:
            self._journal.lamp_lit(result["seq"])
        return result

    def repeat_window(self) -> int:
        """For how long the same code at the same reader is the same presentation, in ms."""
        if self._repeat_ms is not None:
            return self._repeat_ms
        return min((snapshot.rows.policy.repeat_ms for snapshot in self._roster.snapshots.values()), default=5_000)

    def _judge(
        self, shown: Shown, presentation: Presentation, gathered: Gathered, moment: Moment, lamp: Lamp
    ) -> ScanResult:
        verdict = decide(gathered.attempt)
        # Built before the disk is waited for: afterwards the processor's caches are cold, and the guest waits.
        result = answer(gathered, verdict, presentation.reader)
        try:
            seq = self._record(presentation, gathered, verdict, moment)
            committed = True
        except StorageError:
            # An admission that cannot be recorded is no admission.
            verdict = decide(structs.replace(gathered.attempt, readiness=Readiness(can_record=False)))
            result = answer(gathered, verdict, presentation.reader)
            seq, committed = None, False
        result["seq"], result["committed"] = seq, committed
        lamp.show(result, verdict, gathered.attempt.mode)
        # The guest has seen the lamp; nothing below delays anybody.
        if verdict.admitted and seq is not None and not presentation.shown_later:
            self._journal.lamp_lit(seq)
        if committed:
            self.lane.remember(shown, moment.monotonic, result)
            self._note_inside(gathered, verdict, moment)
        return result

    def _record(self, presentation: Presentation, gathered: Gathered, verdict: Verdict, moment: Moment) -> int | None:
        attempt = gathered.attempt
        if verdict.reason is Reason.UNREADABLE and not self._noise.writes(presentation.text):
            self._journal.count_noise(self._noise.counted)
            return None
        code, snapshot, override = attempt.code, gathered.snapshot, attempt.override
        trusted = isinstance(code, ReadTicket)
        ticket = code.ticket
        entry = self._journal.append(
            moment,
            self._time.boot,
            EntryKind.BY_HAND if presentation.by_hand else EntryKind.PRESENTATION,
            position=snapshot.position if snapshot else NOWHERE,
            event=ticket.event_number if trusted and ticket else (snapshot.number if snapshot else 0),
            gate=attempt.gate.number if attempt.gate else 0,
            zone=gathered.zone,
            reader=presentation.reader,
            ticket_id=ticket.ticket_id if trusted and ticket else 0,
            issue=ticket.issue if trusted and ticket else 0,
            code_hash=code.code_hash,
            direction=str(attempt.direction),
            mode=str(attempt.mode),
            admitted=verdict.admitted,
            reason=str(verdict.reason),
            notices=verdict.notices,
            override_by=override.by if override and verdict.overridden else 0,
            override_reason=override.reason if override and verdict.overridden else "",
            override_denial=verdict.overridden.value if verdict.overridden else "",
            details=_details(gathered, presentation),
            also_write=self._sighting(gathered),
        )
        return entry.seq

    def _sighting(self, gathered: Gathered) -> Callable[[sqlite3.Connection, Entry], None] | None:
        """Records that a later issue than any known was shown: from now on the earlier ones are replaced."""
        attempt = gathered.attempt
        if not isinstance(attempt.code, ReadTicket) or attempt.event is None or attempt.mode is Mode.TEST:
            return None
        ticket = attempt.code.ticket
        if ticket.issue <= max(attempt.highest_issue_seen, attempt.row.issue if attempt.row else 1):
            return None

        def sight(connection: sqlite3.Connection, entry: Entry) -> None:
            identity = (entry.device, entry.branch, entry.seq)
            # If the entry has a movement of its own, that already carries the issue and this changes nothing.
            history.sight(connection, identity, ticket.ticket_id, ticket.issue, entry.event)

        return sight

    def _note_inside(self, gathered: Gathered, verdict: Verdict, moment: Moment) -> None:
        attempt, snapshot = gathered.attempt, gathered.snapshot
        if (
            snapshot is None
            or not verdict.admitted
            or attempt.mode is Mode.TEST
            or not isinstance(attempt.code, ReadTicket)
        ):
            return
        self._gathering.recount(snapshot, {attempt.code.ticket.ticket_id}, moment.at)

    def _record_noise(self, moment: Moment) -> None:
        counted = self._noise.over(moment.monotonic)
        if not counted:
            return
        with suppress(StorageError):
            self._journal.record_noise(moment, self._time.boot, counted)


def owed_since_restart(journal: Journal, time_keeper: TimeKeeper) -> tuple[Owed, ...]:
    """The admissions that were recorded just before a power cut and never shown: of a party there may be several."""
    found = (_owed(entry, time_keeper) for entry in journal.unlit() if not _taken_back(journal, entry))
    return tuple(owed for owed in found if owed)


def _taken_back(journal: Journal, entry: Entry) -> bool:
    movements, _ = history.of_ticket(journal.database.connection, entry.ticket_id)
    return any(movement.annuls == (entry.device, entry.branch, entry.seq) for movement in movements)


def _owed(entry: Entry, time_keeper: TimeKeeper) -> Owed | None:
    moment = time_keeper.now()
    same_boot = entry.boot == time_keeper.boot
    age = moment.monotonic - entry.monotonic if same_boot else moment.at - entry.wall - entry.offset
    if not 0 <= age < OWED_MS:
        return None
    return Owed(
        entry.ticket_id,
        entry.issue,
        entry.direction,
        entry.mode,
        moment.monotonic + OWED_MS - age,
        _result_again(entry),
    )


def _result_again(entry: Entry) -> dict[str, Any]:
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


def _shown(code: ReadTicket | Refusal, presentation: Presentation, gathered: Gathered) -> Shown:
    attempt = gathered.attempt
    gate = attempt.gate.number if attempt.gate else 0
    return Shown(code_of(code, presentation.text), presentation.reader, str(attempt.direction), str(attempt.mode), gate)


def _details(gathered: Gathered, presentation: Presentation) -> dict[str, Any]:
    details: dict[str, Any] = {}
    code = gathered.attempt.code
    if isinstance(code, Refusal) and code.ticket is not None:
        claimed = code.ticket
        details["claims"] = [claimed.key_id, claimed.event_number, claimed.ticket_id, claimed.issue]
    if gathered.foreign:
        details["foreign"] = [[one.device, one.branch, one.seq] for one in gathered.foreign]
    if isinstance(code, ReadTicket) and code.party:
        details["party"] = code.party
    if presentation.at is not None:
        details["at"] = presentation.at
    return details
