"""What stewards and supervisors do at a running gate; its pages and the command line ask for the same things."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gate_app.assignments import AssignmentStore
from gate_app.badges.queue import BadgeQueue
from gate_app.journal.journal import Journal
from gate_app.journal.lines import clean, entry_line
from gate_app.scanning.gate import Gate, Lamp, Presentation
from gate_app.scanning.gathering import Gathering, ScanOptions
from gate_app.scanning.parties import Parties
from gate_app.snapshots.roster import EventSnapshot, Roster
from gate_app.supervision.actions import SupervisorActions
from gate_app.supervision.admitted import latest
from gate_app.supervision.pins import Supervisors
from gate_app.supervision.screens import Role, Screen, Screens
from gate_app.supervision.search import search
from gate_app.time_keeper import TimeKeeper
from gate_app.words import say
from shared.admission import Override
from shared.device_gates import usable
from shared.errors import Conflict, Forbidden, InvalidRequest, NotFound
from shared.numerals import whole
from shared.scans import Entry
from shared.snapshot import SupervisorRow, TicketRow

Fields = Mapping[str, Any]
Answer = dict[str, Any]
INFO_MS = 60_000
"""How long scans are only looked up; then the gate admits again, even if nobody switches back."""
READER = "by hand"


@dataclass(slots=True)
class Desk:
    """The running gate, as its people use it. A PIN says which supervisor acts; every act is one journal entry."""

    gate: Gate
    parties: Parties
    roster: Roster
    gathering: Gathering
    assignments: AssignmentStore
    journal: Journal
    time: TimeKeeper
    supervisors: Supervisors
    actions: SupervisorActions
    screens: Screens
    lamp: Lamp
    choose_gate: Callable[[str], None]
    tell: Callable[[str | None], None] = lambda _words: None
    """Shows on all screens that scans are only looked up, or with None that they count again."""
    taken_back: Callable[[int], None] = lambda _seq: None
    """Shows on all screens that an admission was annulled."""
    badges: BadgeQueue | None = None
    _info_until: int = field(default=0, init=False)

    def perform(self, action: str, fields: Fields, screen: Screen) -> Answer:
        """Does one thing for a screen. Raises what is wrong, in words for people."""
        known = _ACTIONS.get(action)
        if known is None:
            raise NotFound(say("desk.unknown"), code="unknown_action")
        if known.supervisor and screen.role is not Role.SUPERVISOR:
            raise Forbidden(say("desk.supervisors_only"), code="supervisors_only")
        return known.does(self, fields, screen)

    def looking(self) -> bool:
        """Whether scans are only looked up at the moment."""
        if self._info_until and self.time.monotonic_ms() >= self._info_until:
            self._look_only(on=False)
        return bool(self._info_until)

    # What stewards do without a PIN.

    def find(self, fields: Fields, screen: Screen) -> Answer:
        """Tickets by number, code, seat, or where this screen may show names, by name."""
        typed, names = _text(fields, "query"), self.screens.shows_names(screen)
        found = [
            self._line(snapshot, row, names=names)
            for snapshot in list(self.roster.snapshots.values())
            for row in search(snapshot, typed, names=names)
        ]
        return {"tickets": found, "names": names}

    def look(self, fields: Fields, screen: Screen) -> Answer:
        """What the answer to this ticket would be; nothing is recorded."""
        return {"scan": self._seen(self.gate.look(self._by_hand(fields)), screen)}

    def admit(self, fields: Fields, screen: Screen) -> Answer:
        """A ticket without its code, such as with an empty telephone; by the same rules."""
        self.parties.require_free()
        return {"scan": self._seen(self.gate.handle(self._by_hand(fields), self.lamp), screen)}

    def party_listed(self, _fields: Fields, screen: Screen) -> Answer:
        """The tickets of the party that is listed now."""
        listed = self.parties.listed
        if listed is None:
            raise NotFound(say("party.over"), code="party_over")
        return {"party": listed | {"members": [self._seen(one, screen) for one in listed["members"]]}}

    def party(self, fields: Fields, screen: Screen) -> Answer:
        """Lets all or some of the party in whose tickets are listed."""
        named = fields.get("tickets")
        tickets = [_hexadecimal(one) for one in named if isinstance(one, str)] if isinstance(named, list) else None
        let_in = self.parties.chosen(_number(fields, "party"), tickets, self.lamp)
        if not self.parties.takes_turns:
            return {"scan": self._seen(let_in(), screen)}
        threading.Thread(target=let_in, name="party", daemon=True).start()
        return {"party": self.parties.listed}

    def party_end(self, fields: Fields, _screen: Screen) -> Answer:
        """Takes the list of a party away."""
        self.parties.dismiss(_number(fields, "party"))
        return {}

    def latest(self, _fields: Fields, _screen: Screen) -> Answer:
        """The admissions that can be taken back."""
        return {"admissions": latest(self.journal.database.reading(), self.roster.snapshots, 20)}

    def info(self, fields: Fields, _screen: Screen) -> Answer:
        """For a minute the readers only look tickets up."""
        self._look_only(on=fields.get("on") is True)
        return self.state()

    def situation(self, _fields: Fields, screen: Screen) -> Answer:
        """How the gate stands, for the buttons of a page."""
        return self.state() | {"role": screen.role, "names": self.screens.shows_names(screen)}

    # What needs a PIN. Whether it can be done is asked first: what cannot be costs nobody a PIN.

    def override(self, fields: Fields, screen: Screen) -> Answer:
        """Admits in spite of a refusal, with a reason."""
        ticket, why = self._ticket(fields), _text(fields, "reason")
        if not why:
            raise InvalidRequest(say("desk.why"), code="reason_missing")
        self.parties.require_free()
        options = ScanOptions(_direction(fields), override=Override(self._supervisor(fields).number, why))
        result = self.gate.handle(Presentation("", READER, options, by_hand=True, ticket=ticket), self.lamp)
        return {"scan": self._seen(result, screen)}

    def annul(self, fields: Fields, _screen: Screen) -> Answer:
        """Takes back an admission of the last quarter of an hour."""
        seq = _number(fields, "seq")
        taken_back = self.actions.admission(seq)
        by = self._supervisor(fields)
        entry = self.actions.annul(seq, _text(fields, "reason"), by)
        self.taken_back(seq)
        return _done(entry, say("desk.annulled", which=self.describe(taken_back), by=by.name))

    def print_again(self, fields: Fields, _screen: Screen) -> Answer:
        """Prints a ticket's badge once more, whatever became of the one of its admission."""
        event, ticket_id = self._ticket(fields)
        if self.badges is None:
            raise Conflict(say("printer.none"), code="no_printer")
        snapshot = self.roster.snapshots.get(event)
        row = snapshot.ticket(ticket_id) if snapshot else None
        if snapshot is None or row is None:
            raise NotFound(say("desk.gone"), code="ticket_gone")
        kind = snapshot.rows.types.get(row.ticket_type)
        if kind is None or not kind.badge:
            raise Conflict(say("printer.no_layout", type=kind.name if kind else ""), code="no_layout")
        by = self._supervisor(fields)
        entry = self.actions.print_again(event, ticket_id, by)
        self.badges.recorded(entry.seq)
        return _done(entry, say("printer.again", which=row.number, by=by.name))

    def doors(self, fields: Fields, _screen: Screen) -> Answer:
        """Opens the doors or a closed gate by hand, or undoes that."""
        event, gate, opened = self._event(fields), _text(fields, "gate"), fields.get("opened") is True
        self.actions.gate_number(event, gate)
        by = self._supervisor(fields)
        entry = self.actions.open_doors(event, gate, by, opened=opened)
        what = f"desk.{'gate' if gate else 'doors'}_{'opened' if opened else 'as_set'}"
        return _done(entry, say(what, gate=gate.upper(), event=self._name(event), by=by.name))

    def empty_house(self, fields: Fields, _screen: Screen) -> Answer:
        """Resets the count of people inside, on this device."""
        event = self._event(fields)
        by = self._supervisor(fields)
        return _done(
            self.actions.empty_house(event, by), say("desk.house_emptied", event=self._name(event), by=by.name)
        )

    def train(self, fields: Fields, _screen: Screen) -> Answer:
        """Makes every scan a test, or ends that."""
        training = fields.get("on") is True
        by = self._supervisor(fields)
        entry = self.actions.train(by, training=training)
        return _done(entry, say("desk.training" if training else "desk.training_over", by=by.name))

    def stand_at(self, fields: Fields, _screen: Screen) -> Answer:
        """Moves this device to another gate."""
        gate = _text(fields, "gate")
        for event in self.assignments.by_event:
            if event in self.roster.snapshots:
                self.actions.gate_number(event, gate)
        by = self._supervisor(fields)
        return _done(
            self.actions.stand_at(gate, by, self.choose_gate), say("desk.stands_at", gate=gate.upper(), by=by.name)
        )

    def names(self, fields: Fields, screen: Screen) -> Answer:
        """Lets this screen show names for an hour."""
        by = self._supervisor(fields)
        entry = self.actions.show_names(by, screen.id)
        self.screens.show_names(screen.id)
        return _done(entry, say("desk.names_shown", by=by.name))

    # What only a supervisor's screen does.

    def pair(self, fields: Fields, _screen: Screen) -> Answer:
        """A link for another screen."""
        try:
            role = Role(_text(fields, "role"))
        except ValueError:
            role = Role.KIOSK
        if role is Role.KIOSK:
            raise InvalidRequest(say("desk.which_role"), code="unknown_role")
        if role is Role.SUPERVISOR:
            self._supervisor(fields)
        return {"token": self.screens.link(role), "role": role}

    def paired(self, _fields: Fields, screen: Screen) -> Answer:
        """The screens that are paired."""
        lines = [
            {"id": one.id, "role": one.role, "paired_at": one.paired_at, "this": one.id == screen.id}
            for one in self.screens.paired()
        ]
        return {"screens": lines}

    def unpair(self, fields: Fields, screen: Screen) -> Answer:
        """Ends a screen, such as that of a lost telephone."""
        self.screens.remove(_text(fields, "screen"))
        return self.paired(fields, screen)

    # The parts of all this.

    def state(self) -> Answer:
        """How the gate stands, without any guest."""
        event = next(iter(self.assignments.by_event), 0)
        gate = self.gathering.gate_of(event)
        return {
            "info": self.looking(),
            "printer": self.badges is not None,
            "training": self.gathering.training,
            "gate": gate.code if gate else "",
            "gates": self._gates(event),
            "doors_opened": self.gathering.opened_here(event),
            "events": [{"event": one.event, "name": one.name} for one in self.assignments.by_event.values()],
        }

    def describe(self, entry: Entry) -> str:
        """An admission in words for a steward."""
        return describe_admission(self.roster, entry)

    def _gates(self, event: int) -> list[str]:
        assignment, snapshot = self.assignments.by_event.get(event), self.roster.snapshots.get(event)
        if assignment is None or snapshot is None:
            return []
        gates = snapshot.rows.gates
        return [gates[number].code for number in usable(assignment.gate, assignment.gates_allowed, sorted(gates))]

    def _look_only(self, *, on: bool) -> None:
        self._info_until = self.time.monotonic_ms() + INFO_MS if on else 0
        self.tell(say("desk.info_on") if on else None)

    def _by_hand(self, fields: Fields) -> Presentation:
        return Presentation("", READER, ScanOptions(_direction(fields)), by_hand=True, ticket=self._ticket(fields))

    def _ticket(self, fields: Fields) -> tuple[int, int]:
        """The ticket that was found, or the one of an entry of the journal."""
        event, _, ticket = _text(fields, "ticket").partition(":")
        if (number := whole(event, 2**31)) is not None and (found := _hexadecimal(ticket)):
            return number, found
        entry = self.journal.entry(_number(fields, "seq"))
        if entry is None or not entry.ticket_id:
            raise NotFound(say("desk.no_ticket"), code="ticket_gone")
        return entry.event, entry.ticket_id

    def _event(self, fields: Fields) -> int:
        events = list(self.assignments.by_event)
        asked = fields.get("event")
        if asked is None and len(events) == 1:
            return events[0]
        if type(asked) is int and asked in events:
            return asked
        listed = ", ".join(map(str, events)) or "none"
        raise InvalidRequest(f"Name the event with --event. This gate serves: {listed}.", code="unknown_event")

    def _supervisor(self, fields: Fields) -> SupervisorRow:
        return self.supervisors.require(_text(fields, "pin"), self.roster, self.time.now().at)

    def _name(self, event: int) -> str:
        return self.assignments.by_event[event].name

    def _line(self, snapshot: EventSnapshot, row: TicketRow, *, names: bool) -> Answer:
        kind, zone = snapshot.rows.types.get(row.ticket_type), snapshot.rows.zones.get(row.zone)
        return {
            "ticket": f"{snapshot.number}:{row.ticket_id:016x}",
            "number": row.number,
            "type": kind.name if kind else "",
            "zone": zone.name if zone else "",
            "row": row.seat_row,
            "seat": row.seat_number,
            "state": row.state.name.lower(),
            "event": snapshot.rows.event.name if snapshot.rows.event else "",
            "name": row.name if names else "",
        }

    def _seen(self, scan: Answer, screen: Screen) -> Answer:
        """What this screen may see of a scan."""
        if self.screens.shows_names(screen):
            return scan
        if (party := scan.get("party")) is not None:
            return scan | {"party": party | {"members": [self._seen(one, screen) for one in party["members"]]}}
        if scan.get("ticket") is None:
            return scan
        kept = {name: value for name, value in scan["ticket"].items() if name not in {"name", "notes"}}
        return scan | {"ticket": kept}


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that can be done at the desk."""

    does: Callable[[Desk, Fields, Screen], Answer]
    supervisor: bool = False
    """Whether only a supervisor's screen offers it."""


_ACTIONS = {
    "find": Action(Desk.find),
    "look": Action(Desk.look),
    "admit": Action(Desk.admit),
    "party": Action(Desk.party),
    "party-listed": Action(Desk.party_listed),
    "party-end": Action(Desk.party_end),
    "latest": Action(Desk.latest),
    "info": Action(Desk.info),
    "situation": Action(Desk.situation),
    "override": Action(Desk.override),
    "annul": Action(Desk.annul),
    "names": Action(Desk.names),
    "print": Action(Desk.print_again),
    "doors": Action(Desk.doors, supervisor=True),
    "empty-house": Action(Desk.empty_house, supervisor=True),
    "train": Action(Desk.train, supervisor=True),
    "stand": Action(Desk.stand_at, supervisor=True),
    "pair": Action(Desk.pair, supervisor=True),
    "paired": Action(Desk.paired, supervisor=True),
    "unpair": Action(Desk.unpair, supervisor=True),
}


def describe_admission(roster: Roster, entry: Entry) -> str:
    """An admission in words for a steward."""
    snapshot = roster.snapshots.get(entry.event)
    row = snapshot.ticket(entry.ticket_id) if snapshot else None
    seat = row and row.seat_number and f"{row.seat_row} {row.seat_number}".strip()
    number = row.number if row and row.number else f"{entry.ticket_id:016x}"
    return f"{number} ({seat})" if seat else number


def _done(entry: Entry, words: str) -> Answer:
    return {"entry": entry_line(entry), "message": words}


def _text(fields: Fields, name: str) -> str:
    value = fields.get(name)
    return clean(value).strip() if isinstance(value, str) else ""


def _number(fields: Fields, name: str) -> int:
    value = fields.get(name)
    if type(value) is not int or not 0 < value < 2**62:
        raise InvalidRequest(say("desk.no_ticket"), code="number_missing")
    return value


def _hexadecimal(text: str) -> int:
    try:
        return int(text, 16) if len(text) <= 16 else 0
    except ValueError:
        return 0


def _direction(fields: Fields) -> str | None:
    return {"entry": "entry", "exit": "exit"}.get(_text(fields, "direction"))
