"""What people at the gate decide beside the codes: doors opened, admissions taken back, the clock set."""

from __future__ import annotations

import sqlite3

from gate_app import history
from gate_app.clockface import iso
from gate_app.gathering import Gathering
from gate_app.journal import Journal
from gate_app.posting import Posts, gate_at
from gate_app.roster import Roster
from gate_app.time_keeper import IMPLAUSIBLE_MS, Moment, TimeKeeper
from shared.admission import Mode
from shared.errors import Conflict, InvalidRequest, NotFound
from shared.scans import Entry, EntryKind
from shared.snapshot import SupervisorRow


class Decisions:
    """Only supervisors reach this: the caller has asked for a PIN."""

    def __init__(
        self, *, journal: Journal, roster: Roster, posts: Posts, gathering: Gathering, time_keeper: TimeKeeper
    ) -> None:
        """Changes nothing yet."""
        self._journal = journal
        self._roster = roster
        self._posts = posts
        self._gathering = gathering
        self._time = time_keeper

    def open_doors(self, event: int, gate_code: str, by: SupervisorRow, *, opened: bool) -> Entry:
        """Opens an event's doors (no gate named) or a closed gate, on this device only; or takes that back."""
        gate = self.gate_number(event, gate_code)

        def keep(connection: sqlite3.Connection, _entry: Entry) -> None:
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
            along=keep,
        )
        self._gathering.read_decisions()
        return entry

    def empty_house(self, event: int, by: SupervisorRow) -> Entry:
        """Nobody is inside any more, whatever was counted: from now on entries count anew, on this device."""
        moment = self._time.now()

        def keep(connection: sqlite3.Connection, _entry: Entry) -> None:
            connection.execute("INSERT OR REPLACE INTO emptied VALUES (?, ?)", (event, moment.at))

        entry = self._journal.append(
            moment,
            self._time.boot,
            EntryKind.COUNT_CORRECTION,
            event=event,
            operator=by.name,
            override_by=by.number,
            details={"counts_from": moment.at},
            along=keep,
        )
        self._gathering.read_decisions()
        return entry

    def annul(self, seq: int, why: str, by: SupervisorRow) -> Entry:
        """Takes back an admission of this gate that never became one: the guest did not walk in."""
        taken_back = self.admission(seq)
        moment = self._time.now()
        entry = self._journal.append(
            moment,
            self._time.boot,
            EntryKind.ANNULMENT,
            event=taken_back.event,
            gate=taken_back.gate,
            operator=by.name,
            ticket_id=taken_back.ticket_id,
            issue=taken_back.issue,
            code_hash=taken_back.code_hash,
            direction=taken_back.direction,
            mode=taken_back.mode,
            override_by=by.number,
            override_reason=why,
            details={"annuls": [taken_back.device, taken_back.branch, taken_back.seq]},
        )
        book = self._roster.books.get(taken_back.event)
        if book is not None:
            self._gathering.recount(book, {taken_back.ticket_id}, moment.at)
        return entry

    def require_plausible(self, true: int) -> None:
        """Raises InvalidRequest for a time that can only be a slip of the finger."""
        floor = self._time.floor
        if floor and not floor <= true <= floor + IMPLAUSIBLE_MS:
            raise InvalidRequest(
                f"It cannot be {iso(true)}: the server told this gate that it was {iso(floor)} already. Look at the"
                " year, the month and the time zone. Nothing was changed."
            )

    def set_clock(self, true: int, by: SupervisorRow) -> Moment:
        """A person's word for the time, for a gate that hears no server; the entry tells the old and the new."""
        self.require_plausible(true)
        before = self._time.now()
        after = self._time.set_by_hand(true)
        details = {"before": before.at, "after": after.at}
        self._journal.append(
            after, self._time.boot, EntryKind.OPERATOR, operator=by.name, override_by=by.number, details=details
        )
        return after

    def gate_number(self, event: int, gate_code: str) -> int:
        """The gate that is meant, 0 for the event's doors. Raises NotFound or Forbidden."""
        post, book = self._posts.by_event.get(event), self._roster.books.get(event)
        if post is None or book is None:
            raise NotFound("This gate holds nothing of that event.")
        found = gate_at(post, book.facts.gates, gate_code) if gate_code else None
        return found.number if found else 0

    def admission(self, seq: int) -> Entry:
        """The admission that may be taken back. Raises NotFound, InvalidRequest or Conflict."""
        entry = self._journal.entry(seq)
        if entry is None or not entry.admitted or not entry.ticket_id:
            raise NotFound(f"Entry {seq} is no admission of this gate. Look it up with: gatehouse-gate journal.")
        if entry.mode != Mode.REAL:
            raise InvalidRequest(f"Entry {seq} was a test: it never counted.")
        movements, _ = history.of_ticket(self._journal.database.connection, entry.ticket_id)
        if any(movement.annuls == (entry.device, entry.branch, seq) for movement in movements):
            raise Conflict(f"Entry {seq} was taken back already. Nothing was changed.", code="already_annulled")
        return entry


_CLOSE = "DELETE FROM openings WHERE event = ? AND gate = ?"
