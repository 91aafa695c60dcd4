"""All the parts of one gate put together over one home, for as long as a process holds it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from gate_app.config import Config, read_config
from gate_app.database import Database, open_database
from gate_app.decisions import Decisions
from gate_app.gate import Gate
from gate_app.gathering import Gathering
from gate_app.home import Home
from gate_app.identity import Identity, load
from gate_app.journal import Journal
from gate_app.journal_reading import is_damage
from gate_app.posting import Posts
from gate_app.roster import Roster
from gate_app.status import FORGOTTEN, View
from gate_app.supervisors import Supervisors
from gate_app.sync.client import Client, Wire
from gate_app.sync.counters import Counters
from gate_app.sync.pull import Puller, Standing
from gate_app.sync.push import Pusher
from gate_app.time_keeper import Moment, TimeKeeper
from shared.admission import Readiness
from shared.clock import Clock, MonotonicClock
from shared.errors import Conflict, StorageError
from shared.ids import Entropy
from shared.scans import EntryKind

REVOKED = "revoked"
PLACE = "place"


@dataclass(frozen=True, slots=True)
class World:
    """What the parts cannot know by themselves: clocks, chance, and the run of this machine."""

    wall: Clock
    monotonic: MonotonicClock
    entropy: Entropy
    boot: bytes
    software: str
    machine: str = ""


@dataclass(slots=True)
class Lodge:
    """One gate, opened."""

    home: Home
    config: Config
    world: World
    identity: Identity | None
    database: Database
    posts: Posts
    roster: Roster
    time: TimeKeeper
    journal: Journal
    gathering: Gathering
    supervisors: Supervisors
    gate: Gate
    standing: Standing
    complaints: list[str] = field(default_factory=list)

    def readiness(self) -> Readiness:
        """Row 0: may this device decide at all, and if not, why."""
        return readiness(self.identity, self.standing, bool(self.roster.books), not self.database.cannot_write)

    def sync(self, wire: Wire, wait_s: float) -> tuple[Puller, Pusher]:
        """The two directions of talking with the server. Raises Conflict when this home is nobody's yet."""
        identity = self.require_enrolled()
        client = Client(identity, Counters(self.database), wire, self.time.monotonic_ms)
        puller = Puller(
            client=client,
            server_key=identity.server_key(),
            journal=self.journal,
            roster=self.roster,
            posts=self.posts,
            gathering=self.gathering,
            time_keeper=self.time,
            standing=self.standing,
            software=self.world.software,
            wait_s=wait_s,
            on_revoked=self._on_revoked,
        )
        return puller, Pusher(client, identity, self.journal, self.time, self.standing)

    def require_enrolled(self) -> Identity:
        """Who we are."""
        if self.identity is None:
            raise Conflict("This gate is not enrolled. Run: gatehouse-gate enrol URL CODE.", code="not_enrolled")
        return self.identity

    def view(self, peers: tuple[dict[str, Any], ...] = ()) -> View:
        """What a status is made from."""
        moment = self.time.now()
        return View(
            self.home.folder,
            self.config.least_free_mb,
            self.identity,
            self.posts.by_event,
            dict(self.roster.books),
            self.database.reading(),
            moment,
            self.readiness(),
            lambda book: len(self.gathering.house(book, moment.at).inside),
            self.standing.online,
            self.standing.revoked,
            (self.database.cannot_write, *self.complaints, self.standing.words),
            peers=peers,
        )

    def decisions(self) -> Decisions:
        """What a supervisor may do here."""
        return Decisions(
            journal=self.journal,
            roster=self.roster,
            posts=self.posts,
            gathering=self.gathering,
            time_keeper=self.time,
        )

    def close(self) -> None:
        """Writes down what was only counted, and closes the files. Safe to call twice."""
        with suppress(StorageError, sqlite3.Error):
            self.gate.finish()
        self.roster.close()
        self.database.close()

    def _on_revoked(self, words: str) -> None:
        self.database.mark(REVOKED, words)
        self.complaints.append(words)


@contextmanager
def opened(home: Home, world: World, doing: str) -> Iterator[Lodge]:
    """Holds the home and opens everything in it. Raises Conflict, SettingsError or StorageError with words."""
    home.ready()
    config = read_config(home.settings)
    with home.held(doing):
        lodge = open_lodge(home, config, world)
        try:
            yield lodge
        finally:
            lodge.close()


def open_lodge(home: Home, config: Config, world: World) -> Lodge:
    """Opens everything in a home that the caller holds."""
    complaints: list[str] = []
    identity = load(home.identity)
    database = _sound_database(home, identity, complaints)
    standing = Standing(revoked=bool(database.marked(REVOKED)), words=str(database.marked(REVOKED) or ""))
    time_keeper = TimeKeeper(database, world.wall, world.monotonic, world.boot)
    device, organisation = (identity.device_number, identity.organisation) if identity else (0, "")
    journal = Journal(database, device, world.entropy)
    database.seal()
    roster = Roster(database, home.snapshots, world.entropy)
    posts = Posts(home.posts)
    gathering = Gathering(database, roster, posts, organisation, device)
    gate = Gate(
        journal=journal,
        roster=roster,
        gathering=gathering,
        time_keeper=time_keeper,
        organisation=organisation,
        ready=lambda: readiness(identity, standing, bool(roster.books), not database.cannot_write),
        repeat_ms=config.repeat_ms,
    )
    supervisors = Supervisors(database, _pin_failure(journal, time_keeper))
    # One list: what the roster finds later is told too.
    roster.complaints[:0] = complaints
    complaints = roster.complaints
    lodge = Lodge(
        home,
        config,
        world,
        identity,
        database,
        posts,
        roster,
        time_keeper,
        journal,
        gathering,
        supervisors,
        gate,
        standing,
        complaints,
    )
    _begin_work(lodge)
    return lodge


def readiness(identity: Identity | None, standing: Standing, has_rows: bool, can_record: bool = True) -> Readiness:
    """Row 0: may this device decide at all, and if not, why."""
    if not can_record:
        return Readiness(can_record=False)
    if identity is None:
        return Readiness(False, "This gate is not enrolled yet")
    if standing.revoked:
        return Readiness(False, standing.words or "This device was revoked by the organiser")
    if not has_rows:
        return Readiness(False, "This gate holds no event's tickets yet. Connect it to the server once")
    return Readiness()


def _begin_work(lodge: Lodge) -> None:
    """Leaves a chain that does not hold, and tells of a new run of the machine; a full disk is told scan by scan."""
    if lodge.database.cannot_write:
        return
    words = lodge.journal.check_tail()
    moment = lodge.time.now()
    with suppress(StorageError, sqlite3.Error):
        if words:
            lodge.complaints.append(f"{words} Scanning goes on as a new branch; nothing was deleted.")
            lodge.journal.begin_branch(moment, lodge.world.boot, words)
        _tell_start(lodge, moment)


def _tell_start(lodge: Lodge, moment: Moment) -> None:
    """A start in the home's own place waits for the server's word; one in a copied home is written at once.

    Two machines that work from one home must be found out: both write on under the same numbers.
    """
    place = _place_of(lodge)
    before = lodge.database.marked(PLACE)
    copied = before is not None and before != place
    if lodge.identity is not None and (copied or lodge.journal.last_boot() != lodge.world.boot):
        details: dict[str, Any] = {"software": lodge.world.software, "source": str(moment.source)}
        lodge.journal.open_with(moment, lodge.world.boot, details | ({"moved": True} if copied else {}))
        if copied:
            lodge.journal.begin()
    if before != place:
        lodge.database.mark(PLACE, place)


def _place_of(lodge: Lodge) -> bytes:
    """By what a copy is told from the original: the machine, and the folder on it."""
    return sha256(f"{lodge.world.machine}\0{lodge.home.folder.resolve()}".encode(errors="replace")).digest()[:8]


def _sound_database(home: Home, identity: Identity | None, complaints: list[str]) -> Database:
    """The database; one that cannot be read is set aside whole, for the doors must open and somebody may look later."""
    path, lost = home.database, not home.database.exists()
    try:
        database = open_database(path)
        database.connection.execute("SELECT count(*) FROM branches, marks").fetchone()
        database.connection.execute("SELECT place FROM journal ORDER BY place DESC LIMIT 1").fetchone()
    except (StorageError, sqlite3.DatabaseError) as why:
        if not is_damage(why):
            raise StorageError(str(why)) from why
        aside, lost = _set_aside(path), True
        complaints.append(
            f"The gate's memory could not be read and was set aside as {aside}. Scanning goes on as a new branch;"
            " tell the operator: scans that the server had not received are in that file only."
        )
        database = open_database(path)
    if lost and identity is not None and not database.cannot_write and any(home.snapshots.glob("event-*.rows")):
        # It can open doors with these rows, though it knows nothing of who came in.
        database.mark(FORGOTTEN, 1)
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
    def tell(details: dict[str, Any], count: Callable[[sqlite3.Connection], None]) -> None:
        journal.append(
            time_keeper.now(),
            time_keeper.boot,
            EntryKind.PIN_FAILURE,
            details=details,
            along=lambda connection, _entry: count(connection),
        )

    return tell
