"""What supervisors can do at the gate: open doors, reset the count, take back admissions, set the clock."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

from gate_app.badges import due as badges
from gate_app.clock.time_format import iso
from gate_app.clock.time_keeper import IMPLAUSIBLE_MS, Moment, TimeKeeper
from gate_app.installation.assignments import AssignmentStore, gate_at
from gate_app.journal import history
from gate_app.journal.journal import Journal
from gate_app.scanning.gathering import Gathering
from gate_app.scanning.occupancy import Correction
from gate_app.snapshots.roster import Roster
from gate_app.words import say
from shared.admission import Mode
from shared.errors import Conflict, InvalidRequest, NotFound
from shared.journal.scans import Entry, EntryKind
from shared.wire.snapshot import SupervisorRow

ANNUL_WITHIN_MS = 15 * 60_000
"""How long an admission can be taken back at the gate; afterwards the guest may be long inside, or gone."""


NOT_TURNED = "not_turned"
"""In the details of an annulment: no supervisor took the admission back, but the policy for barriers."""


class SupervisorActions:
    """Actions for supervisors only: the caller has checked a PIN."""

    def __init__(
        self,
        *,
        journal: Journal,
        roster: Roster,
        assignments: AssignmentStore,
        gathering: Gathering,
        time_keeper: TimeKeeper,
    ) -> None:
        self._journal = journal
        self._roster = roster
        self._assignments = assignments
        self._gathering = gathering
        self._time = time_keeper

    def open_doors(self, event: int, gate_code: str, by: SupervisorRow, *, opened: bool) -> Entry:
        """Opens an event's doors (without a gate) or a closed gate, on this device only; or undoes that."""
        gate = self.gate_number(event, gate_code)

        def write(connection: sqlite3.Connection, _entry: Entry) -> None:
            statement = "INSERT OR IGNORE INTO openings VALUES (?, ?)" if opened else _CLOSE
            connection.execute(statement, (event, gate))

        entry = self._journal.append(
            self._time.now(),
            self._time.boot,
            EntryKind.DOORS,
            event=event,
            gate=gate,
            operator=by.name,
            override_by=by.number,
            details={"opened": opened, "gate": gate_code},
            also_write=write,
        )
        self._gathering.reload_supervisor_actions()
        return entry

    def empty_house(self, event: int, by: SupervisorRow) -> Entry:
        """Resets the count of people inside, on this device."""
        moment = self._time.now()

        def write(connection: sqlite3.Connection, _entry: Entry) -> None:
            connection.execute("INSERT OR REPLACE INTO emptied VALUES (?, ?)", (event, moment.at))

        entry = self._journal.append(
            moment,
            self._time.boot,
            EntryKind.COUNT_CORRECTION,
            event=event,
            operator=by.name,
            override_by=by.number,
            details={"counts_from": moment.at},
            also_write=write,
        )
        self._gathering.reload_supervisor_actions()
        return entry

    def correct_count(self, event: int, change: int, zone: int, why: str, by: SupervisorRow) -> Entry:
        """Records how many more or fewer people are inside than were scanned."""
        moment, gate = self._time.now(), self._gathering.gate_of(event)
        number = gate.number if gate else 0

        def write(connection: sqlite3.Connection, entry: Entry) -> None:
            values = (entry.seq, entry.branch, event, moment.at, change, number, zone)
            connection.execute("INSERT INTO corrections VALUES (?, ?, ?, ?, ?, ?, ?)", values)

        entry = self._journal.append(
            moment,
            self._time.boot,
            EntryKind.COUNT_CORRECTION,
            event=event,
            gate=number,
            zone=zone,
            operator=by.name,
            override_by=by.number,
            override_reason=why,
            details={"change": change},
            also_write=write,
        )
        snapshot = self._roster.snapshots.get(event)
        if snapshot is not None:
            self._gathering.correct(snapshot, Correction(moment.at, change, number, zone), moment.at)
        return entry

    def annul(self, seq: int, why: str, by: SupervisorRow) -> Entry:
        """Takes back an admission at this gate: the guest did not go in."""
        return self._take_back(seq, by.name, {"override_by": by.number, "override_reason": why}, {})

    def take_back_unturned(self, seq: int) -> Entry:
        """Takes back an admission by the organiser's policy: the barrier says that nobody went through."""
        return self._take_back(seq, "", {}, {"policy": NOT_TURNED})

    def _take_back(self, seq: int, operator: str, by: dict[str, Any], details: dict[str, Any]) -> Entry:
        taken_back = self.admission(seq)
        moment = self._time.now()
        entry = self._journal.append(
            moment,
            self._time.boot,
            EntryKind.ANNULMENT,
            event=taken_back.event,
            gate=taken_back.gate,
            operator=operator,
            ticket_id=taken_back.ticket_id,
            issue=taken_back.issue,
            code_hash=taken_back.code_hash,
            direction=taken_back.direction,
            mode=taken_back.mode,
            details=details | {"annuls": [taken_back.device, taken_back.branch, taken_back.seq]},
            **by,
        )
        snapshot = self._roster.snapshots.get(taken_back.event)
        if snapshot is not None:
            self._gathering.recount(snapshot, {taken_back.ticket_id}, moment.at)
        return entry

    def train(self, by: SupervisorRow, *, training: bool) -> Entry:
        """Makes every scan a test until it is switched off again or the program ends."""
        entry = self._note(EntryKind.MODE, by, mode="test" if training else "", details={"training": training})
        self._gathering.training = training
        return entry

    def stand_at(self, gate_code: str, by: SupervisorRow, choose: Callable[[str], None]) -> Entry:
        """Moves this device to another of the gates where it may be used. Raises NotFound or Forbidden."""
        choose(gate_code)
        event = next(iter(self._assignments.by_event), 0)
        gate = self._gathering.gate_of(event)
        return self._note(
            EntryKind.MODE, by, event=event, gate=gate.number if gate else 0, details={"chosen": gate_code}
        )

    def show_names(self, by: SupervisorRow, screen: str) -> Entry:
        """Records who let a screen show names."""
        return self._note(EntryKind.OPERATOR, by, details={"names_at": screen})

    def print_again(self, event: int, ticket_id: int, by: SupervisorRow) -> Entry:
        """Records who asked for a ticket's badge once more; the gate's printer takes it from there."""
        details = badges.request(event, ticket_id)
        return self._note(EntryKind.OPERATOR, by, event=event, ticket_id=ticket_id, details=details)

    def _note(self, kind: EntryKind, by: SupervisorRow, **fields: Any) -> Entry:
        return self._journal.append(
            self._time.now(), self._time.boot, kind, operator=by.name, override_by=by.number, **fields
        )

    def require_plausible(self, true: int) -> None:
        """Raises InvalidRequest for a time that can only be a typing mistake."""
        floor = self._time.floor
        if floor and not floor <= true <= floor + IMPLAUSIBLE_MS:
            raise InvalidRequest(
                f"It cannot be {iso(true)}: the last time from the server was {iso(floor)}. Check the year, month and"
                " time zone. Nothing was changed."
            )

    def set_clock(self, true: int, by: SupervisorRow) -> Moment:
        """Sets the time of a gate that cannot reach the server; the entry records the old and the new time."""
        self.require_plausible(true)
        before = self._time.now()
        after = self._time.set_by_hand(true)
        details = {"before": before.at, "after": after.at}
        self._journal.append(
            after, self._time.boot, EntryKind.OPERATOR, operator=by.name, override_by=by.number, details=details
        )
        return after

    def gate_number(self, event: int, gate_code: str) -> int:
        """The number of the named gate, 0 for the event's doors. Raises NotFound or Forbidden."""
        assignment, snapshot = self._assignments.by_event.get(event), self._roster.snapshots.get(event)
        if assignment is None or snapshot is None:
            raise NotFound("This gate has no tickets for that event.")
        gate = gate_at(assignment, snapshot.rows.gates, gate_code) if gate_code else None
        return gate.number if gate else 0

    def admission(self, seq: int) -> Entry:
        """The admission to take back. Raises NotFound, InvalidRequest or Conflict."""
        entry = self._journal.entry(seq)
        if entry is None or not entry.admitted or not entry.ticket_id:
            raise NotFound(f"Entry {seq} is not an admission at this gate. Look it up with: gatehouse-gate annul.")
        if entry.mode != Mode.REAL:
            raise InvalidRequest(f"Entry {seq} was a test and never counted.")
        if not 0 <= age_of(entry, self._time.now(), self._time.boot) <= ANNUL_WITHIN_MS:
            raise Conflict(say("desk.too_late", number=seq), code="too_late_to_annul")
        movements, _ = history.of_ticket(self._journal.database.connection, entry.ticket_id)
        if any(movement.annuls == (entry.device, entry.branch, seq) for movement in movements):
            raise Conflict(f"Entry {seq} was taken back already. Nothing was changed.", code="already_annulled")
        return entry


def age_of(entry: Entry, now: Moment, boot: bytes) -> int:
    """How long ago an entry was written, in ms: by the steady clock, unless the machine was restarted since."""
    same_boot = entry.boot == boot
    return now.monotonic - entry.monotonic if same_boot else now.at - entry.wall - entry.offset


_CLOSE = "DELETE FROM openings WHERE event = ? AND gate = ?"
