"""Pulls assignments, rows and movements from the server; each batch is applied completely or not at all."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from gate_app.clock.time_keeper import Moment, TimeKeeper
from gate_app.installation.assignments import AssignmentStore, assignment_of
from gate_app.journal import forks, history
from gate_app.journal.journal import Journal
from gate_app.scanning import clashes
from gate_app.scanning.gathering import Gathering
from gate_app.snapshots.roster import Roster
from gate_app.snapshots.snapshot_file import SnapshotBuilder
from gate_app.status import MEMORY_LOST, memory_is_lost
from gate_app.sync.client import Client, VerifiedAnswer, naming
from gate_app.sync.exchange import Changed, Framed, Greeted, PullExchange, Refused, Said, Step
from gate_app.sync.health import HealthTeller
from gate_app.sync.prefetch import Prefetch
from shared.errors import GatehouseError, Unreadable
from shared.journal.scans import EntryKind
from shared.wire.protocol import Batch, EventAt, HelloAnswer, HelloRequest, Mark, require_signed
from shared.wire.snapshot import Movement, Position, Row, from_frame, movements_from_bytes

ANCHOR_EVERY_MS = 600_000
MOVEMENTS_AT_ONCE = 500
"""Movements of other gates are stored in small transactions, so that a scan never waits long."""


@dataclass(slots=True)
class SyncState:
    """The state of synchronisation with the server, for status and screens."""

    online: bool = False
    revoked: bool = False
    message: str = ""
    pulled: int = 0
    pushed: int = 0
    greeting: threading.Lock = field(default_factory=threading.Lock)
    """Held while a hello is under way: entries uploaded meanwhile would make the journal it claims look too short."""


class Puller:
    """Pulls from the server, one request at a time."""

    def __init__(
        self,
        *,
        client: Client,
        server_key: Ed25519PublicKey,
        journal: Journal,
        roster: Roster,
        assignments: AssignmentStore,
        gathering: Gathering,
        time_keeper: TimeKeeper,
        sync_state: SyncState,
        software: str,
        wait_s: float,
        on_revoked: Callable[[str], None],
        health: HealthTeller,
    ) -> None:
        self._client = client
        self._prefetch = Prefetch(client.send)
        self._server_key = server_key
        self._journal = journal
        self._roster = roster
        self._assignments = assignments
        self._gathering = gathering
        self._time = time_keeper
        self.sync_state = sync_state
        self._software = software
        self._on_revoked = on_revoked
        self._health = health
        self._builder: SnapshotBuilder | None = None
        self._anchored: tuple[int, int] | None = None  # (branch, monotonic ms)
        self.exchange = PullExchange(self._hello, wait_s, self._said)
        self.exchange.no_waiting = memory_is_lost(journal.database.connection)

    def run_once(self) -> None:
        """Applies the answer to one request. Raises what the client raises, and Refused."""
        answer = self._next_answer()
        moment = self._time.hear(answer.server_time, answer.sent, answer.received)
        try:
            with naming(answer.trace_id):
                step = self.exchange.receive(answer.status, answer.body)
        except Refused as why:
            self._refused(why)
            raise
        if isinstance(step, Framed) and not self.exchange.greets:
            self._fetch_on(step)
        self._apply_step(step)
        # Only after hello has compared the marks: an older image must not reuse entry numbers.
        self._anchor(answer, moment)
        self._note_contact(answer)

    def _fetch_on(self, step: Framed) -> None:
        if step.first:
            self._prefetch.drop()  # whatever was asked for an earlier snapshot
        self._prefetch.start(self.exchange.next_request(), self.exchange.guess())

    def _next_answer(self) -> VerifiedAnswer:
        """The answer to the request that was sent ahead, or else to one that is sent now."""
        if self.exchange.greets:
            self._prefetch.drop()
        with self.sync_state.greeting if self.exchange.greets else nullcontext():
            return self._prefetch.take() or self._client.send(self.exchange.next_request())

    def _apply_step(self, step: Step) -> None:
        match step:
            case Greeted():
                self._greeted(step.answer)
            case Framed():
                self._framed(step)
            case Changed():
                self._changed(step)

    def mark_offline(self) -> None:
        """Records that the server could not be reached, also for a status read by another process."""
        if self.sync_state.online or self._journal.database.get("online"):
            self.sync_state.online = False
            with suppress(sqlite3.Error):
                self._journal.database.put("online", 0)

    def _hello(self) -> HelloRequest:
        moment = self._time.now()
        return HelloRequest(
            branch=self._journal.branch.number,
            last_seq=self._journal.head.seq,
            head=self._journal.head.hash,
            software=self._software,
            rows=[self._at(event) for event in self._roster.snapshots],
            unsent=self._journal.unsent(),
            clock_offset=moment.offset,
            clock_uncertainty=moment.uncertainty,
            health=self._health.now(),
        )

    def _said(self) -> Said:
        return Said(self._journal.branch.number, self._journal.unsent(), self._health.news())

    def _greeted(self, answer: HelloAnswer) -> None:
        self.sync_state.message = answer.words
        self._client.wait_at(answer.waits_at)
        if answer.forked:
            forks.note_twin(self._journal)
        else:
            forks.forget_twin(self._journal)
        self._check_mark(answer.mark)
        if answer.revoked:
            self._revoked(answer.words)
            return
        self._journal.write_start_entry()
        left = self._assignments.assign([assignment_of(assignment) for assignment in answer.assignments])
        self._record_assignments()
        for event in left | (set(self._roster.snapshots) - set(self._assignments.by_event)):
            self._roster.drop(event)
        held = {event: self._at(event) for event in self._assignments.by_event if event in self._roster.snapshots}
        self.exchange.serve(held, [event for event in self._assignments.by_event if event not in held])

    def _record_assignments(self) -> None:
        """Records gate, direction and mode in the journal whenever they change."""
        recorded = repr(list(self._assignments.by_event.values()))
        if self._journal.database.get("posts_told") == recorded:
            return
        moment = self._time.now()
        for assignment in self._assignments.by_event.values():
            at = {"gates_allowed": list(assignment.gates_allowed), "zones": list(assignment.zones)}
            self._journal.append(
                moment,
                self._time.boot,
                EntryKind.MODE,
                event=assignment.event,
                gate=assignment.gate or 0,
                direction=assignment.direction,
                mode=assignment.mode,
                details=at,
            )
        self._journal.database.put("posts_told", recorded)

    def _check_mark(self, mark: Mark | None) -> None:
        """Begins a new branch if the journal lacks, or contradicts, what the server has from it."""
        if mark is None:
            # The server has nothing of this branch: it is new, or the server was restored.
            self._journal.acknowledge(self._journal.branch, 0)
            return
        if self._journal.agrees(self._journal.branch, mark.seq, mark.head):
            self._journal.acknowledge(self._journal.branch, mark.seq, mark.head)
            return
        self.sync_state.message = forks.leave(self._journal, self._time.now(), self._time.boot)

    def _framed(self, step: Framed) -> None:
        answer = step.answer
        if step.first or self._builder is None:
            self._abandon()
            self._builder = self._roster.builder(answer.event)
        try:
            rows = from_frame(answer.frame)
            self._builder.add(rows)
        except (GatehouseError, sqlite3.Error):
            # Without this frame the others are of no use, and neither is a file of which half a frame was written.
            self._begin_again(answer.event)
            raise
        self.sync_state.pulled += len(rows)

    def _changed(self, step: Changed) -> None:
        if step.answer.forked:
            forks.note_twin(self._journal)
        for batch in step.answer.events:
            require_signed(batch, self._server_key)
            if step.completes is not None:
                self._complete(batch)
            elif batch.resync or batch.event not in self._roster.snapshots:
                self.exchange.lost(batch.event)
            else:
                self._apply(batch)

        if step.completes is None and not any(batch.resync or batch.movements for batch in step.answer.events):
            self._clear_memory_lost()

    def _clear_memory_lost(self) -> None:
        """Clears the lost-memory flag once every movement the server knows has been received."""
        if self.exchange.no_waiting and self.exchange.idle:
            self._journal.database.put(MEMORY_LOST, 0)
            self.exchange.no_waiting = False

    def _complete(self, batch: Batch) -> None:
        """Applies the changes since the first frame; installs the snapshot when it is complete."""
        builder = self._builder
        if batch.resync or builder is None:
            self._begin_again(batch.event)
            return
        builder.change(_rows(batch))
        after = _after(batch)
        if builder.digest == batch.digest:
            self._builder = None
            self._install(batch.event, builder, after, batch.as_of)
            self._store_movements(batch)
            self.exchange.holds(self._at(batch.event))
        elif batch.to_revision > batch.from_revision:
            self.exchange.continues(
                EventAt(event=batch.event, lineage=batch.lineage, revision=batch.to_revision, heard=0)
            )
        else:
            self._begin_again(batch.event)
            raise Unreadable(
                "The snapshot received does not match the server. It was discarded and will be fetched again."
            )

    def _install(self, event: int, builder: SnapshotBuilder, after: Position, as_of: int) -> None:
        before = self._roster.snapshots.get(event)
        restored = before is not None and before.position.lineage != after.lineage
        self._roster.install(event, builder, after, as_of)
        if restored:
            # The server may have lost entries that it acknowledged, so all are sent again.
            self._journal.offer_everything()

    def _apply(self, batch: Batch) -> None:
        snapshot = self._roster.snapshot(batch.event)
        if (batch.lineage, batch.from_revision) != (snapshot.position.lineage, snapshot.position.revision):
            self.exchange.lost(batch.event)
            return
        rows = _rows(batch)
        if not rows and batch.to_revision == batch.from_revision:
            self._roster.touch(batch.event, batch.as_of)
        elif not self._roster.apply(batch.event, rows, _after(batch), batch.as_of):
            self.exchange.lost(batch.event)
            return
        self.sync_state.pulled += len(rows)
        self._store_movements(batch)
        self.exchange.holds(self._at(batch.event))

    def _begin_again(self, event: int) -> None:
        self._prefetch.drop()
        self._abandon()
        self.exchange.lost(event)

    def _abandon(self) -> None:
        if self._builder is not None:
            self._builder.abandon()
            self._builder = None

    def _store_movements(self, batch: Batch) -> None:
        movements = movements_from_bytes(batch.movements) if batch.movements else []
        self.sync_state.pulled += len(movements)
        for start in range(0, len(movements), MOVEMENTS_AT_ONCE):
            self._store(batch.event, movements[start : start + MOVEMENTS_AT_ONCE])
        if movements or self._arrival(batch.event, batch.lineage) != batch.heard:
            self._store_arrival(batch)

    def _store(self, event: int, movements: list[Movement]) -> None:
        database, snapshot = self._journal.database, self._roster.snapshot(event)
        with database.writing() as connection:
            history.add_many(connection, movements, event)
            tickets = {movement.ticket_id for movement in movements}
            clashes.note(connection, snapshot, tickets, self._journal.device)
        self._gathering.recount(snapshot, tickets, self._time.now().at)

    def _store_arrival(self, batch: Batch) -> None:
        """Called after all movements are stored: after a power cut they come again, which is harmless."""
        with self._journal.database.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO heard VALUES (?, ?, ?)", (batch.event, batch.lineage, batch.heard)
            )

    def _arrival(self, event: int, lineage: bytes) -> int:
        with self._journal.database.lock:
            found = self._journal.database.connection.execute(
                "SELECT arrival FROM heard WHERE event = ? AND lineage = ?", (event, lineage)
            ).fetchone()
        return int(found[0]) if found else 0

    def _at(self, event: int) -> EventAt:
        position = self._roster.snapshot(event).position
        heard, gate = self._arrival(event, position.lineage), self._gathering.gate_of(event)
        return EventAt(
            event=event,
            lineage=position.lineage,
            revision=position.revision,
            heard=heard,
            gate=gate.number if gate else None,
        )

    def _anchor(self, answer: VerifiedAnswer, moment: Moment) -> None:
        branch = self._journal.branch.number
        due = self._anchored is None or self._anchored[0] != branch
        if due or (self._anchored is not None and moment.monotonic - self._anchored[1] >= ANCHOR_EVERY_MS):
            rtt = answer.received - answer.sent
            details = {"server": answer.server_time, "monotonic": answer.sent + rtt // 2, "rtt": rtt}
            self._journal.append(moment, self._time.boot, EntryKind.TIME_ANCHOR, details=details)
            self._anchored = (branch, moment.monotonic)

    def _note_contact(self, answer: VerifiedAnswer) -> None:
        moment = self._time.now()
        self.sync_state.online = True
        # For the status only: after a power cut it does not matter, and a card wears out by what is synced.
        self._journal.database.put_unsynced("last_sync", moment.at)
        self._journal.database.put_unsynced("online", 1)
        if not self.exchange.idle:
            return
        with self._journal.database.lock:
            for occupancy in self._gathering.occupancies.values():
                occupancy.heard(answer.received)

    def _refused(self, why: Refused) -> None:
        if why.error_code == "device_revoked":
            self._revoked(why.message)
        elif why.error_code != "unavailable":
            self.sync_state.message = why.message
            self.exchange.skip()

    def _revoked(self, message: str) -> None:
        self.sync_state.revoked = True
        self._roster.wipe()
        self._assignments.assign([])
        self.exchange.serve({}, [])
        self._on_revoked(message or "This device was revoked by the organiser.")


def _after(batch: Batch) -> Position:
    return Position(batch.lineage, batch.to_revision, batch.digest)


def _rows(batch: Batch) -> list[Row]:
    return from_frame(batch.rows) if batch.rows else []
