"""Puts all parts of one gate together over its home folder, for as long as a process holds the lock."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import Any

from gate_app.badges.queue import BadgeQueue
from gate_app.clock.time_keeper import Moment, TimeKeeper
from gate_app.installation.assignments import AssignmentStore, gate_at
from gate_app.installation.config import Config, read_config
from gate_app.installation.home import Home
from gate_app.installation.identity import Identity, load
from gate_app.journal.journal import Journal
from gate_app.journal.reading import is_damage
from gate_app.scanning.gate import Gate, Lamp
from gate_app.scanning.gathering import Gathering
from gate_app.scanning.parties import Parties
from gate_app.snapshots.roster import Roster
from gate_app.status import MEMORY_LOST, NOBODY, StatusSource, unposted
from gate_app.storage.database import Database, open_database
from gate_app.supervision.actions import SupervisorActions
from gate_app.supervision.desk import Desk
from gate_app.supervision.pins import Supervisors
from gate_app.supervision.screens import Screens
from gate_app.supervision.volume import Volume
from gate_app.sync.client import Client, Transport
from gate_app.sync.counters import Counters
from gate_app.sync.health import HealthTeller
from gate_app.sync.pull import Puller, SyncState
from gate_app.sync.push import Pusher
from gate_app.words import say
from hardware.machine import machine_state
from shared.admission import Readiness
from shared.clock import Clock, MonotonicClock
from shared.errors import Conflict, StorageError
from shared.ids import Entropy
from shared.journal.scans import EntryKind

REVOKED = "revoked"
PLACE = "place"
CHOSEN_GATE = "chosen_gate"
"""The gate that `run` was told to stand at, for a status read by another process."""


@dataclass(frozen=True, slots=True)
class HostEnvironment:
    """What the machine provides: clocks, entropy, the boot id, and the names of software and machine."""

    wall: Clock
    monotonic: MonotonicClock
    entropy: Entropy
    boot: bytes
    software: str
    machine: str = ""


@dataclass(slots=True)
class GateContext:
    """Every open part of one gate."""

    home: Home
    config: Config
    host: HostEnvironment
    identity: Identity | None
    database: Database
    assignments: AssignmentStore
    roster: Roster
    time: TimeKeeper
    journal: Journal
    gathering: Gathering
    supervisors: Supervisors
    gate: Gate
    sync_state: SyncState
    health: HealthTeller
    problems: list[str] = field(default_factory=list)

    def readiness(self) -> Readiness:
        """Row 0 of the admission table: whether this device may decide at all, and if not, why."""
        return readiness(
            self.identity,
            self.sync_state,
            bool(self.roster.snapshots),
            self.database.cannot_write or self.database.failing,
            unposted(self.assignments.by_event, self.roster.snapshots, self.gathering.chosen_gate),
        )

    def sync(self, transport: Transport, wait_s: float) -> tuple[Puller, Pusher]:
        """The downward and the upward half of synchronisation. Raises Conflict when this gate is not enrolled."""
        identity = self.require_enrolled()
        client = Client(identity, Counters(self.database), transport, self.time.monotonic_ms)
        puller = Puller(
            client=client,
            server_key=identity.server_key(),
            journal=self.journal,
            roster=self.roster,
            assignments=self.assignments,
            gathering=self.gathering,
            time_keeper=self.time,
            sync_state=self.sync_state,
            software=self.host.software,
            wait_s=wait_s,
            on_revoked=self._on_revoked,
            health=self.health,
        )
        return puller, Pusher(client, identity, self.journal, self.time, self.sync_state)

    def choose_gate(self, code: str) -> None:
        """Stands at this gate, or with an empty code at that of the settings. Raises NotFound or Forbidden."""
        self.require_gate(code)
        self.gathering.chosen_gate = code or self.config.gate
        with suppress(sqlite3.Error):  # a full disk; the status beside this process then names the gate of the settings
            self.database.put_unsynced(CHOSEN_GATE, code)

    def require_gate(self, code: str) -> None:
        """Raises NotFound or Forbidden for a gate at which this device may not be used at one of its events."""
        for event, assignment in self.assignments.by_event.items():
            if code and event in self.roster.snapshots:
                gate_at(assignment, self.roster.snapshots[event].rows.gates, code)

    def require_enrolled(self) -> Identity:
        """This gate's identity. Raises Conflict when it is not enrolled."""
        if self.identity is None:
            raise Conflict("This gate is not enrolled. Run: gatehouse-gate enrol URL CODE.", code="not_enrolled")
        return self.identity

    def status_source(self, peers: tuple[dict[str, Any], ...] = ()) -> StatusSource:
        """Everything that a status report is built from."""
        moment = self.time.now()
        return StatusSource(
            self.home.folder,
            self.config.least_free_mb,
            self.identity,
            self.assignments.by_event,
            dict(self.roster.snapshots),
            self.database.reading(),
            moment,
            self.readiness(),
            lambda snapshot: self.gathering.occupancy(snapshot, moment.at).count,
            self.sync_state.online,
            self.sync_state.revoked,
            (self.database.cannot_write, *self.problems, self.sync_state.message),
            peers=peers,
            gate=self.gathering.chosen_gate,
            unsent=self.journal.unsent(),
            training=self.gathering.training,
        )

    def supervisor_actions(self) -> SupervisorActions:
        """What a supervisor may do at this gate."""
        return SupervisorActions(
            journal=self.journal,
            roster=self.roster,
            assignments=self.assignments,
            gathering=self.gathering,
            time_keeper=self.time,
        )

    def desk(
        self,
        lamp: Lamp,
        tell: Callable[[str | None], None] = lambda _words: None,
        parties: Parties | None = None,
        taken_back: Callable[[int], None] = lambda _seq: None,
        *,
        badges: BadgeQueue | None = None,
        sound: Callable[[int], None] = lambda _percent: None,
    ) -> Desk:
        """What its people do at this gate, for pages and commands."""
        return Desk(
            parties=parties or Parties(self.gate, self.time.monotonic_ms),
            taken_back=taken_back,
            gate=self.gate,
            roster=self.roster,
            gathering=self.gathering,
            assignments=self.assignments,
            journal=self.journal,
            time=self.time,
            supervisors=self.supervisors,
            actions=self.supervisor_actions(),
            screens=Screens(self.database, self.host.entropy, lambda: self.time.now().at),
            lamp=lamp,
            choose_gate=self.choose_gate,
            volume=Volume(self.database, self.config.loudness, sound),
            tell=tell,
            badges=badges,
        )

    def close(self) -> None:
        """Records scans that were only counted, and closes the files. Safe to call twice."""
        with suppress(StorageError, sqlite3.Error):
            self.gate.finish()
        self.roster.close()
        self.database.close()

    def _on_revoked(self, message: str) -> None:
        self.database.put(REVOKED, message)
        self.problems.append(message)


@contextmanager
def opened(home: Home, host: HostEnvironment, doing: str, *, create: bool = False) -> Iterator[GateContext]:
    """Locks the home and opens everything in it. Raises NotFound, Conflict, SettingsError or StorageError.

    With `create`, a folder that does not exist is made, and removed again if the block fails.
    """
    made = create and not home.folder.exists()
    try:
        (home if create else home.require_gate()).ready()
        config = read_config(home.settings)
        with home.held(doing):
            context = open_gate_context(home, config, host)
            try:
                yield context
            finally:
                context.close()
    except BaseException:
        if made:
            rmtree(home.folder, ignore_errors=True)
        raise


def open_gate_context(home: Home, config: Config, host: HostEnvironment) -> GateContext:
    """Opens everything in a home that the caller has locked."""
    problems: list[str] = []
    identity = load(home.identity)
    database = _open_or_replace_database(home, identity, problems)
    sync_state = SyncState(revoked=bool(database.get(REVOKED)), message=str(database.get(REVOKED) or ""))
    time_keeper = TimeKeeper(database, host.wall, host.monotonic, host.boot)
    device, organisation = (identity.device_number, identity.organisation) if identity else (NOBODY, "")
    journal = Journal(database, device, host.entropy)
    roster = Roster(database, home.snapshots, host.entropy)
    assignments = AssignmentStore(home.assignments)
    gathering = Gathering(database, roster, assignments, organisation=organisation, device=device, gate=config.gate)
    gate = Gate(
        journal=journal,
        roster=roster,
        gathering=gathering,
        time_keeper=time_keeper,
        organisation=organisation,
        ready=lambda: readiness(identity, sync_state, bool(roster.snapshots), database.cannot_write),
        repeat_ms=config.repeat_ms,
    )
    supervisors = Supervisors(database, _pin_failure(journal, time_keeper))
    # One list, so that problems the roster finds later are reported too.
    roster.problems[:0] = problems
    problems = roster.problems
    context = GateContext(
        home,
        config,
        host,
        identity,
        database,
        assignments,
        roster,
        time_keeper,
        journal,
        gathering,
        supervisors,
        gate,
        sync_state,
        HealthTeller(home.folder, config.least_free_mb, machine_state, time_keeper.monotonic_ms),
        problems,
    )
    _start(context)
    return context


def readiness(
    identity: Identity | None, sync_state: SyncState, has_rows: bool, cannot_write: str = "", no_gate: str = ""
) -> Readiness:
    """Row 0 of the admission table: whether this device may decide at all, and if not, why."""
    if cannot_write:
        return Readiness(why=cannot_write, can_record=False)
    if identity is None:
        return Readiness(False, say("trouble.not_enrolled"))
    if sync_state.revoked:
        return Readiness(False, sync_state.message or say("trouble.revoked"))
    if not has_rows:
        return Readiness(False, say("trouble.no_tickets"))
    return Readiness(False, no_gate) if no_gate else Readiness()


def _start(context: GateContext) -> None:
    """Begins a new branch after a broken chain, and records a reboot; a full disk is reported with each scan."""
    if context.database.cannot_write:
        return
    message = context.journal.check_tail()
    moment = context.time.now()
    with suppress(StorageError, sqlite3.Error):
        if message:
            context.problems.append(f"{message} Scanning continues on a new branch; nothing was deleted.")
            context.journal.begin_branch(moment, context.host.boot, message)
        _record_start(context, moment)


def _record_start(context: GateContext, moment: Moment) -> None:
    """Records a start: at once in a copied home, otherwise only after the server has been heard.

    Two machines working from copies of one home must be detected: both would use the same entry numbers.
    """
    place = _place_of(context)
    before = context.database.get(PLACE)
    copied = before is not None and before != place
    if context.identity is not None and (copied or context.journal.last_boot() != context.host.boot):
        details: dict[str, Any] = {"software": context.host.software, "source": str(moment.source)}
        context.journal.defer_start_entry(moment, context.host.boot, details | ({"moved": True} if copied else {}))
        if copied:
            context.journal.write_start_entry()
    if before != place:
        context.database.put(PLACE, place)


def _place_of(context: GateContext) -> bytes:
    """Tells a copied home from the original: a hash of the machine id and the folder."""
    return sha256(f"{context.host.machine}\0{context.home.folder.resolve()}".encode(errors="replace")).digest()[:8]


def _open_or_replace_database(home: Home, identity: Identity | None, problems: list[str]) -> Database:
    """The database. A damaged one is set aside untouched for later inspection, because the gate must open."""
    path, lost = home.database, not home.database.exists()
    try:
        database = open_database(path)
        database.connection.execute("SELECT count(*) FROM branches, marks").fetchone()
        database.connection.execute("SELECT place FROM journal ORDER BY place DESC LIMIT 1").fetchone()
    except (StorageError, sqlite3.DatabaseError) as why:
        if not is_damage(why):
            raise StorageError(str(why)) from why
        aside, lost = _set_aside(path), True
        problems.append(
            f"The gate's database could not be read and was set aside as {aside}. Scanning continues on a new branch."
            " Tell the operator: scans that had not been sent to the server are in that file only."
        )
        database = open_database(path)
    if lost and identity is not None and not database.cannot_write and any(home.snapshots.glob("event-*.rows")):
        # The rows are there, so it can admit; but it does not know who has already come in.
        database.put(MEMORY_LOST, 1)
    return database


def _set_aside(path: Path) -> str:
    number = 1 + sum(1 for _ in path.parent.glob(f"{path.stem}-damaged-*.db"))
    aside = path.with_name(f"{path.stem}-damaged-{number}.db")
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(aside.with_name(aside.name + suffix))
    return aside.name


def _pin_failure(
    journal: Journal, time_keeper: TimeKeeper
) -> Callable[[dict[str, Any], Callable[[sqlite3.Connection], None]], None]:
    def record(details: dict[str, Any], count: Callable[[sqlite3.Connection], None]) -> None:
        journal.append(
            time_keeper.now(),
            time_keeper.boot,
            EntryKind.PIN_FAILURE,
            details=details,
            also_write=lambda connection, _entry: count(connection),
        )

    return record
