"""What stewards and supervisors do at a running gate; its pages and the command line ask for the same things."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gate_app.badges.queue import BadgeQueue
from gate_app.clock.time_keeper import TimeKeeper
from gate_app.installation.assignments import AssignmentStore
from gate_app.journal.journal import Journal
from gate_app.scanning.gate import Gate, Lamp, Presentation
from gate_app.scanning.gathering import Gathering, ScanOptions
from gate_app.scanning.parties import Parties
from gate_app.snapshots.roster import EventSnapshot, Roster
from gate_app.supervision import party_desk, screen_desk
from gate_app.supervision.actions import SupervisorActions
from gate_app.supervision.admitted import latest
from gate_app.supervision.fields import Answer, Fields, direction_of, done, hexadecimal, number_of, text_of
from gate_app.supervision.phones import Phones
from gate_app.supervision.pins import Supervisors
from gate_app.supervision.screens import OWNER, Role, Screen, Screens
from gate_app.supervision.search import search
from gate_app.supervision.volume import Volume
from gate_app.words import say
from hardware.ports import TypedPage
from shared.admission import Override
from shared.device_gates import usable
from shared.errors import Conflict, Forbidden, InvalidRequest, NotFound
from shared.journal.scans import Entry
from shared.verdicts.capacity import COUNTED_ZONES
from shared.wire.snapshot import SupervisorRow, TicketRow
from shared.words.numerals import whole

INFO_MS = 60_000
"""How long scans are only looked up; then the gate admits again, even if nobody switches back."""
READER = "by hand"
MOST_CORRECTED = 100_000


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
    volume: Volume
    tell: Callable[[str | None], None] = lambda _words: None
    """Shows on all screens that scans are only looked up, or with None that they count again."""
    taken_back: Callable[[int], None] = lambda _seq: None
    """Shows on all screens that an admission was annulled."""
    badges: BadgeQueue | None = None
    phones: Phones | None = None
    """The telephones that read tickets; None where no gate runs."""
    typed: TypedPage | None = None
    """What scanners type into the gate's own page goes there."""
    enrol: Callable[[str, str, str], Answer] | None = None
    """Enrols the running gate, by address, code and name; None where no gate runs."""
    address: str = ""
    """Where others find the screens; empty where there are none."""
    _info_until: int = field(default=0, init=False)

    def perform(self, action: str, fields: Fields, screen: Screen) -> Answer:
        """Does one thing for a screen. Raises what is wrong, in words for people."""
        known = _ACTIONS.get(action)
        if known is None:
            raise NotFound(say("desk.unknown"), code="unknown_action")
        if known.supervisor and screen.role is not Role.SUPERVISOR:
            raise Forbidden(say("desk.supervisors_only"), code="supervisors_only")
        if known.owner and screen is not OWNER:
            raise Forbidden(say("desk.supervisors_only"), code="supervisors_only")
        if screen.role is Role.READER and not known.reader:
            raise Forbidden(say("phone.only_reads"), code="only_reads")
        return known.does(self, fields, screen)

    def looking(self) -> bool:
        """Whether scans are only looked up at the moment."""
        if self._info_until and self.time.monotonic_ms() >= self._info_until:
            self._look_only(on=False)
        return bool(self._info_until)

    def take_identity(self, fields: Fields, _screen: Screen) -> Answer:
        """Makes the running gate a device of an organisation."""
        if self.enrol is None:
            raise Conflict(say("enrolling.already"), code="enrolled_already")
        return self.enrol(*(text_of(fields, name) for name in ("url", "code", "name")))

    # What stewards do without a PIN.

    def find(self, fields: Fields, screen: Screen) -> Answer:
        """Tickets by number, code, seat, or where this screen may show names, by name."""
        typed, names = text_of(fields, "query"), self.screens.shows_names(screen)
        found = [
            self._line(snapshot, row, names=names)
            for snapshot in list(self.roster.snapshots.values())
            for row in search(snapshot, typed, names=names)
        ]
        return {"tickets": found, "names": names}

    def look(self, fields: Fields, screen: Screen) -> Answer:
        """What the answer to this ticket would be; nothing is recorded."""
        return {"scan": self.seen(self.gate.look(self._by_hand(fields)), screen)}

    def admit(self, fields: Fields, screen: Screen) -> Answer:
        """A ticket without its code, such as with an empty telephone; by the same rules."""
        self.parties.require_free()
        return {"scan": self.seen(self.gate.handle(self._by_hand(fields), self.lamp), screen)}

    def latest(self, _fields: Fields, _screen: Screen) -> Answer:
        """The admissions that can be taken back."""
        return {"admissions": latest(self.journal.database.reading(), self.roster.snapshots, 20)}

    def info(self, fields: Fields, _screen: Screen) -> Answer:
        """For a minute the readers only look tickets up."""
        self._look_only(on=fields.get("on") is True)
        return self.state()

    def loudness(self, fields: Fields, _screen: Screen) -> Answer:
        """Makes the gate louder or quieter."""
        return self.volume.change(fields)

    def situation(self, _fields: Fields, screen: Screen) -> Answer:
        """How the gate stands, for the buttons of a page."""
        return self.state() | {"role": screen.role, "names": self.screens.shows_names(screen)}

    # What needs a PIN. Whether it can be done is asked first: what cannot be costs nobody a PIN.

    def override(self, fields: Fields, screen: Screen) -> Answer:
        """Admits in spite of a refusal, with a reason."""
        ticket, why = self._ticket(fields), text_of(fields, "reason")
        if not why:
            raise InvalidRequest(say("desk.why"), code="reason_missing")
        self.parties.require_free()
        options = ScanOptions(direction_of(fields), override=Override(self.supervisor(fields).number, why))
        result = self.gate.handle(Presentation("", READER, options, by_hand=True, ticket=ticket), self.lamp)
        return {"scan": self.seen(result, screen)}

    def annul(self, fields: Fields, _screen: Screen) -> Answer:
        """Takes back an admission of the last quarter of an hour."""
        seq = number_of(fields, "seq")
        taken_back = self.actions.admission(seq)
        by = self.supervisor(fields)
        entry = self.actions.annul(seq, text_of(fields, "reason"), by)
        self.taken_back(seq)
        return done(entry, say("desk.annulled", which=self.describe(taken_back), by=by.name))

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
        by = self.supervisor(fields)
        entry = self.actions.print_again(event, ticket_id, by)
        self.badges.recorded(entry.seq)
        return done(entry, say("printer.again", which=row.number, by=by.name))

    def doors(self, fields: Fields, _screen: Screen) -> Answer:
        """Opens the doors or a closed gate by hand, or undoes that."""
        event, gate, opened = self._event(fields), text_of(fields, "gate"), fields.get("opened") is True
        self.actions.gate_number(event, gate)
        by = self.supervisor(fields)
        entry = self.actions.open_doors(event, gate, by, opened=opened)
        what = f"desk.{'gate' if gate else 'doors'}_{'opened' if opened else 'as_set'}"
        return done(entry, say(what, gate=gate.upper(), event=self._name(event), by=by.name))

    def empty_house(self, fields: Fields, _screen: Screen) -> Answer:
        """Resets the count of people inside, on this device."""
        event = self._event(fields)
        by = self.supervisor(fields)
        return done(self.actions.empty_house(event, by), say("desk.house_emptied", event=self._name(event), by=by.name))

    def correct(self, fields: Fields, _screen: Screen) -> Answer:
        """Corrects how many people are inside by so many."""
        event, change, why = self._event(fields), fields.get("change"), text_of(fields, "reason")
        if type(change) is not int or not 0 < abs(change) <= MOST_CORRECTED:
            raise InvalidRequest(say("desk.how_many", n=MOST_CORRECTED), code="change_missing")
        if not why:
            raise InvalidRequest(say("desk.why_corrected"), code="reason_missing")
        zone = self._zone(event, fields.get("zone"))
        by = self.supervisor(fields)
        entry = self.actions.correct_count(event, change, zone, why, by)
        now = self.gathering.occupancy(self.roster.snapshots[event], self.time.now().at)
        what = "desk.corrected_below" if now.below else "desk.corrected"
        return done(entry, say(what, change=f"{change:+d}", n=now.count, below=now.below, by=by.name))

    def train(self, fields: Fields, _screen: Screen) -> Answer:
        """Makes every scan a test, or ends that."""
        training = fields.get("on") is True
        by = self.supervisor(fields)
        entry = self.actions.train(by, training=training)
        return done(entry, say("desk.training" if training else "desk.training_over", by=by.name))

    def stand_at(self, fields: Fields, _screen: Screen) -> Answer:
        """Moves this device to another gate."""
        gate = text_of(fields, "gate")
        for event in self.assignments.by_event:
            if event in self.roster.snapshots:
                self.actions.gate_number(event, gate)
        by = self.supervisor(fields)
        return done(
            self.actions.stand_at(gate, by, self.choose_gate), say("desk.stands_at", gate=gate.upper(), by=by.name)
        )

    def names(self, fields: Fields, screen: Screen) -> Answer:
        """Lets this screen show names for an hour."""
        by = self.supervisor(fields)
        entry = self.actions.show_names(by, screen.id)
        self.screens.show_names(screen.id)
        return done(entry, say("desk.names_shown", by=by.name))

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
            "inside": self._inside(event),
            "zones": self._zones(event),
            "doors_opened": self.gathering.opened_here(event),
            **self.volume.state(),
            "events": [{"event": one.event, "name": one.name} for one in self.assignments.by_event.values()],
        }

    def describe(self, entry: Entry) -> str:
        """An admission in words for a steward."""
        return describe_admission(self.roster, entry)

    def _inside(self, event: int) -> int | None:
        snapshot = self.roster.snapshots.get(event)
        return self.gathering.occupancy(snapshot, self.time.now().at).count if snapshot else None

    def _zones(self, event: int) -> list[dict[str, Any]]:
        """The zones in which people are counted, not seats."""
        snapshot = self.roster.snapshots.get(event)
        zones = snapshot.rows.zones.values() if snapshot else ()
        return [{"zone": one.number, "name": one.name} for one in zones if one.kind in COUNTED_ZONES]

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
        return Presentation("", READER, ScanOptions(direction_of(fields)), by_hand=True, ticket=self._ticket(fields))

    def _ticket(self, fields: Fields) -> tuple[int, int]:
        """The ticket that was found, or the one of an entry of the journal."""
        event, _, ticket = text_of(fields, "ticket").partition(":")
        if (number := whole(event, 2**31)) is not None and (found := hexadecimal(ticket)):
            return number, found
        entry = self.journal.entry(number_of(fields, "seq"))
        if entry is None or not entry.ticket_id:
            raise NotFound(say("desk.no_ticket"), code="ticket_gone")
        return entry.event, entry.ticket_id

    def _zone(self, event: int, number: object) -> int:
        """The number of a zone that is counted, 0 for the whole venue. Raises NotFound."""
        snapshot = self.roster.snapshots.get(event)
        if snapshot is None:
            raise NotFound(say("desk.gone"), code="no_tickets")
        if number in (None, 0):
            return 0
        if type(number) is not int or number not in snapshot.rows.zones:
            raise NotFound(say("desk.no_zone"), code="zone_not_found")
        return number

    def _event(self, fields: Fields) -> int:
        events = list(self.assignments.by_event)
        asked = fields.get("event")
        if asked is None and len(events) == 1:
            return events[0]
        if type(asked) is int and asked in events:
            return asked
        listed = ", ".join(map(str, events)) or "none"
        raise InvalidRequest(f"Name the event with --event. This gate serves: {listed}.", code="unknown_event")

    def supervisor(self, fields: Fields) -> SupervisorRow:
        """Who acts, by the PIN that was typed. Raises Forbidden."""
        return self.supervisors.require(text_of(fields, "pin"), self.roster, self.time.now().at)

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

    def seen(self, scan: Answer, screen: Screen) -> Answer:
        """What this screen may see of a scan."""
        if self.screens.shows_names(screen):
            return scan
        if (party := scan.get("party")) is not None:
            return scan | {"party": party | {"members": [self.seen(one, screen) for one in party["members"]]}}
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
    owner: bool = False
    """Whether only a command of this machine does it."""
    reader: bool = False
    """Whether a telephone that reads tickets does it, too."""


_ACTIONS = {
    "find": Action(Desk.find),
    "look": Action(Desk.look),
    "admit": Action(Desk.admit),
    "party": Action(party_desk.choose, reader=True),
    "party-listed": Action(party_desk.listed, reader=True),
    "party-end": Action(party_desk.dismiss, reader=True),
    "latest": Action(Desk.latest),
    "info": Action(Desk.info),
    "loudness": Action(Desk.loudness),
    "situation": Action(Desk.situation),
    "override": Action(Desk.override),
    "annul": Action(Desk.annul),
    "names": Action(Desk.names),
    "print": Action(Desk.print_again),
    "doors": Action(Desk.doors, supervisor=True),
    "empty-house": Action(Desk.empty_house, supervisor=True),
    "correct": Action(Desk.correct, supervisor=True),
    "train": Action(Desk.train, supervisor=True),
    "stand": Action(Desk.stand_at, supervisor=True),
    "enrol": Action(Desk.take_identity, supervisor=True, owner=True),
    "pair": Action(screen_desk.pair, supervisor=True),
    "paired": Action(screen_desk.paired, supervisor=True),
    "unpair": Action(screen_desk.unpair, supervisor=True),
}


def describe_admission(roster: Roster, entry: Entry) -> str:
    """An admission in words for a steward."""
    snapshot = roster.snapshots.get(entry.event)
    row = snapshot.ticket(entry.ticket_id) if snapshot else None
    seat = row and row.seat_number and f"{row.seat_row} {row.seat_number}".strip()
    number = row.number if row and row.number else f"{entry.ticket_id:016x}"
    return f"{number} ({seat})" if seat else number
