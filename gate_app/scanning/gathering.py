"""Gathers what one decision depends on: the event's rows, the ticket's row, its history and who is inside."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from msgspec import Struct

from gate_app.clock.time_format import local_time
from gate_app.clock.time_keeper import Moment
from gate_app.installation.assignments import AssignmentStore, EventAssignment, gate_at, stands_at
from gate_app.journal import history
from gate_app.scanning.occupancy import Correction, Occupancy, Share
from gate_app.snapshots.roster import EventSnapshot, Roster
from gate_app.storage.database import Database
from shared.attempts import Attempt, Direction, Mode, Override, Passage, Readiness, Room
from shared.movements import History, passages
from shared.parties import Member
from shared.tickets import ReadParty, ReadTicket, Refusal, Ticket
from shared.verdicts.scene import type_of, zone_of
from shared.wire.snapshot import DeviceRow, EventRow, GateRow, Movement, PolicyRow, TicketRow, ZoneRow
from shared.words.as_printed import as_printed
from shared.words.local_moments import local_moment
from shared.words.messages import say

NO_POLICY = PolicyRow()
_NO_HISTORY = History()
_COUNTED = frozenset({"ga_seated", "ga_standing", "vip_standing"})


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """What the operator or the command line asks for besides the code."""

    direction: str | None = None
    mode: str | None = None
    gate: str = ""
    override: Override | None = None


DEFAULT_OPTIONS = ScanOptions()


class ScanSetting(Struct, frozen=True):
    """Where, when and how a code was shown."""

    moment: Moment
    direction: Direction
    mode: Mode
    gate: GateRow | None
    override: Override | None
    readiness: Readiness


class Gathered(Struct, frozen=True):
    """The attempt to decide, and what is needed to record it."""

    attempt: Attempt
    snapshot: EventSnapshot | None
    assignment: EventAssignment | None
    zone: int = 0
    foreign: tuple[Movement, ...] = ()


class Gathering:
    """Reads everything one decision needs; it changes nothing."""

    def __init__(
        self,
        database: Database,
        roster: Roster,
        assignments: AssignmentStore,
        *,
        organisation: str,
        device: int,
        gate: str = "",
    ) -> None:
        """`device` is this device's number, `gate` the code of the gate its operator has chosen."""
        self._database = database
        self._roster = roster
        self._assignments = assignments
        self._organisation = organisation
        self._device = device
        self.chosen_gate = gate
        self.training = False
        """Whether every scan is a test, because a supervisor trains with this gate; it ends with the program."""
        self._opened: set[tuple[int, int]] = set()
        self._emptied: dict[int, int] = {}
        self.occupancies: dict[int, Occupancy] = {}
        self.reload_supervisor_actions()

    def reload_supervisor_actions(self) -> None:
        """Reads what supervisors decided here: doors (gate 0) and gates opened, and counts reset."""
        rows = self._database.connection.execute("SELECT event, gate FROM openings").fetchall()
        self._opened = {(event, gate) for event, gate in rows}
        self._emptied = emptied_here(self._database.connection)

    def opened_here(self, event: int) -> list[int]:
        """What supervisors opened here by hand: gates by number, 0 for the doors."""
        return sorted(gate for one, gate in self._opened if one == event)

    def gather(
        self, code: ReadTicket | Refusal, options: ScanOptions, moment: Moment, readiness: Readiness
    ) -> Gathered:
        """Everything about this presentation. Raises NotFound or Forbidden for a gate this device may not use."""
        assignment = self._assignment_of(code)
        direction = direction_of(options, assignment)
        mode = Mode.TEST if self.training else mode_of(options, assignment)
        snapshot = self._roster.snapshots.get(assignment.event) if assignment else None
        if assignment is not None and snapshot is None and readiness.ready and readiness.can_record:
            readiness = Readiness(
                False, f"This gate has no tickets for {assignment.name or 'this event'} yet. Let it sync"
            )
        gate, missing = self._gate(options.gate, assignment, snapshot)
        if missing and direction is Direction.ENTRY and readiness.ready:
            # Nobody is kept in: who leaves is recorded without a gate.
            readiness = Readiness(False, missing, readiness.can_record)
        setting = ScanSetting(moment, direction, mode, gate, options.override, readiness)
        if isinstance(code, Refusal) or assignment is None or snapshot is None:
            return Gathered(self._without_snapshot(code, setting, snapshot), snapshot, assignment)
        return self._from_snapshot(code, setting, snapshot, assignment)

    def gate_of(self, event: int) -> GateRow | None:
        """Where this device stands at an event."""
        return self._gate("", self._assignments.by_event.get(event), self._roster.snapshots.get(event))[0]

    def _gate(
        self, requested: str, assignment: EventAssignment | None, snapshot: EventSnapshot | None
    ) -> tuple[GateRow | None, str]:
        if assignment is None or snapshot is None:
            return None, ""
        if requested:
            return gate_at(assignment, snapshot.rows.gates, requested), ""
        return stands_at(assignment, snapshot.rows.gates, self.chosen_gate)

    def event_of(self, snapshot: EventSnapshot) -> EventRow | None:
        """The event's row, with `counts_from` moved on if a supervisor here has reset the count."""
        return since_emptied(snapshot, self._emptied)

    def occupancy(self, snapshot: EventSnapshot, now: int) -> Occupancy:
        """Who is inside at this event; counted on first use."""
        event = self.event_of(snapshot)
        with self._database.lock:
            occupancy = self.occupancies.get(snapshot.number)
            if occupancy is None:
                occupancy = self.occupancies[snapshot.number] = Occupancy()
                if event is not None:
                    connection, number = self._database.connection, snapshot.number
                    occupancy.fill(everybody(connection, number), event, now, corrections(connection, number))
            if event is not None:
                occupancy.roll_over_day(event, now)
            return occupancy

    def correct(self, snapshot: EventSnapshot, correction: Correction, now: int) -> None:
        """Takes a supervisor's count into account."""
        event = self.event_of(snapshot)
        occupancy = self.occupancies.get(snapshot.number)
        if event is not None and occupancy is not None:
            with self._database.lock:
                occupancy.correct(correction, event, now)

    def recount(self, snapshot: EventSnapshot, ticket_ids: set[int], now: int) -> None:
        """Counts these tickets again after their movements changed."""
        occupancy, event = self.occupancies.get(snapshot.number), self.event_of(snapshot)
        if occupancy is None or event is None:
            return
        with self._database.lock:
            for ticket_id in ticket_ids:
                movements, _ = history.of_ticket(self._database.connection, ticket_id)
                occupancy.note(ticket_id, passages(movements, None, None).passages, event, now)

    def _assignment_of(self, code: ReadTicket | Refusal) -> EventAssignment | None:
        """The assignment for the ticket's event; for a code that is not our ticket, the only assignment, if any."""
        assignments = self._assignments.by_event
        if isinstance(code, ReadTicket):
            return assignments.get(code.ticket.event_number)
        return next(iter(assignments.values())) if len(assignments) == 1 else None

    def _without_snapshot(
        self,
        code: ReadTicket | Refusal,
        setting: ScanSetting,
        snapshot: EventSnapshot | None,
    ) -> Attempt:
        """An attempt that rows 0 to 4 will refuse, so it needs no rows."""
        event = snapshot.rows.event if snapshot else None
        return Attempt(
            now=setting.moment.at,
            direction=setting.direction,
            mode=setting.mode,
            code=code,
            organisation=self._organisation,
            event=None,
            gate=setting.gate,
            zone=None,
            row=None,
            ticket_type=None,
            history=(),
            policy=NO_POLICY,
            snapshot_as_of=self._roster.oldest_as_of() or 0,
            uncertainty=setting.moment.uncertainty,
            readiness=setting.readiness,
            other_event=self._other_event(code),
            local_time=local_time(event.timezone) if event else local_moment,
        )

    def _from_snapshot(
        self, code: ReadTicket, setting: ScanSetting, snapshot: EventSnapshot, assignment: EventAssignment
    ) -> Gathered:
        rows, ticket, event = snapshot.rows, code.ticket, self.event_of(snapshot)
        row = snapshot.ticket(ticket.ticket_id)
        with self._database.lock:
            movements, highest = history.of_ticket(self._database.connection, ticket.ticket_id)
        # A ticket looked up by hand has no code to compare with.
        history_found = passages(movements, code.code_hash or None, ticket.issue) if movements else _NO_HISTORY
        zone = rows.zones.get(zone_of(ticket, row))
        gate = narrowed(setting.gate, assignment.zones)
        attempt = Attempt(
            now=setting.moment.at,
            direction=setting.direction,
            mode=setting.mode,
            code=code,
            organisation=self._organisation,
            event=event,
            gate=gate,
            zone=zone,
            row=row,
            ticket_type=rows.types.get(type_of(ticket, row)),
            history=history_found.passages,
            policy=rows.policy,
            snapshot_as_of=snapshot.as_of,
            uncertainty=setting.moment.uncertainty,
            highest_issue_seen=max(highest, snapshot.later_issue(ticket.ticket_id)),
            readiness=setting.readiness,
            zone_room=self._zone_room(snapshot, zone, setting.moment),
            gate_room=self._gate_room(snapshot, gate, setting.moment),
            gates=tuple(rows.gates.values()),
            override=setting.override,
            doors_opened=(assignment.event, 0) in self._opened,
            gate_opened=gate is not None and (assignment.event, gate.number) in self._opened,
            local_time=local_time(event.timezone) if event else local_moment,
        )
        return Gathered(attempt, snapshot, assignment, zone.number if zone else 0, history_found.foreign)

    def _zone_room(self, snapshot: EventSnapshot, zone: ZoneRow | None, moment: Moment) -> Room | None:
        if zone is None or zone.capacity is None or zone.kind not in _COUNTED:
            return None
        share = share_among(self._device, snapshot.rows.devices)
        occupancy = self.occupancy(snapshot, moment.at)
        return occupancy.zone_room(zone.number, zone.capacity, moment.monotonic, share)

    def _gate_room(self, snapshot: EventSnapshot, gate: GateRow | None, moment: Moment) -> Room | None:
        if gate is None or gate.capacity is None:
            return None
        share = share_among(self._device, snapshot.rows.devices)
        return self.occupancy(snapshot, moment.at).gate_room(gate.number, gate.capacity, moment.monotonic, share)

    def _other_event(self, code: ReadTicket | Refusal) -> str:
        """Name and time of another event, if this gate still holds its rows."""
        if not isinstance(code, ReadTicket):
            return ""
        snapshot = self._roster.snapshots.get(code.ticket.event_number)
        event = snapshot.rows.event if snapshot else None
        if event is None:
            return ""
        return say("barred.other_event", event=event.name, when=local_time(event.timezone)(event.starts_at, 0))


def emptied_here(connection: sqlite3.Connection) -> dict[int, int]:
    """When supervisors here reset the count, by event."""
    return dict(connection.execute("SELECT event, at FROM emptied").fetchall())


def corrections(connection: sqlite3.Connection, event: int) -> list[Correction]:
    """What supervisors here have counted, oldest first."""
    found = connection.execute(
        "SELECT at, change, gate, zone FROM corrections WHERE event = ? ORDER BY branch, seq", (event,)
    )
    return [Correction(*row) for row in found]


def since_emptied(snapshot: EventSnapshot, emptied: Mapping[int, int]) -> EventRow | None:
    """The event's row, with `counts_from` moved on if a supervisor here has reset the count."""
    event, at = snapshot.rows.event, emptied.get(snapshot.number)
    if event is None or at is None or (event.counts_from or 0) >= at:
        return event
    return replace(event, counts_from=at)


def everybody(connection: sqlite3.Connection, event: int) -> Iterator[tuple[int, tuple[Passage, ...]]]:
    """Every ticket that was scanned at an event, with the passages that count."""
    for ticket, movements in history.of_event(connection, event):
        yield ticket, passages(movements, None, None).passages


def direction_of(options: ScanOptions, assignment: EventAssignment | None) -> Direction:
    """The requested direction, else the assigned one; a gate for both ways is an entrance unless exit is requested."""
    requested = options.direction or (assignment.direction if assignment else "")
    return Direction.EXIT if requested == Direction.EXIT else Direction.ENTRY


def mode_of(options: ScanOptions, assignment: EventAssignment | None) -> Mode:
    """The requested mode, else the assigned one; a mode this program does not know is treated as a test."""
    requested = options.mode or (assignment.mode if assignment else Mode.REAL)
    return Mode.REAL if requested == Mode.REAL else Mode.TEST


def share_among(device: int, devices: dict[int, DeviceRow]) -> Share:
    """This device's rank among those that may let people in, and their number."""
    numbers = sorted({row.number for row in devices.values() if not row.revoked} | {device})
    return Share(numbers.index(device), len(numbers))


def narrowed(gate: GateRow | None, zones: tuple[int, ...]) -> GateRow | None:
    """The gate as this device serves it: an assignment may name fewer zones than the gate has."""
    if gate is None or not zones:
        return gate
    kept = tuple(zone for zone in zones if not gate.zones or zone in gate.zones)
    return replace(gate, zones=kept or (0,))


def as_member(party: ReadParty, member: Member, row: TicketRow | None) -> ReadTicket:
    """One ticket of a party, as if its own code had been scanned.

    A party's code says nothing of a ticket but its issue: one whose row is not here ought to be known.
    """
    if row is None:
        ticket = Ticket(0, party.event_number, member.ticket_id, member.issue, issued_at=0)
    else:
        ticket = as_printed(row, party.event_number, issue=member.issue, issued_at=party.issued_at)
    # Its own code was not shown: what is recorded names the party's instead.
    return ReadTicket(ticket, party.organisation, party.key_distrusted, b"", party.code_hash)


def as_code(snapshot: EventSnapshot, row: TicketRow, organisation: str) -> ReadTicket:
    """A ticket that a steward looked up, as if its code had been scanned."""
    return ReadTicket(as_printed(row, snapshot.number), organisation, False, b"")
