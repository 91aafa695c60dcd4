"""Brings down what the server says: assignments, rows and movements, each applied whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from gate_app import clashes, history
from gate_app.database import set_mark
from gate_app.gathering import Gathering
from gate_app.journal import Journal
from gate_app.posting import Posts, post_of
from gate_app.roster import Roster
from gate_app.snapshot_file import SnapshotBuilder
from gate_app.status import FORGOTTEN, has_forgotten
from gate_app.sync.client import Answer, Client
from gate_app.sync.exchange import Changed, Framed, Greeted, PullExchange, Refused
from gate_app.time_keeper import Moment, TimeKeeper
from shared.errors import Unreadable
from shared.protocol import Batch, EventAt, HelloAnswer, HelloRequest, Mark, require_signed
from shared.scans import EntryKind
from shared.snapshot import Movement, Position, Row, from_frame, movements_from_bytes

ANCHOR_EVERY_MS = 600_000
MOVEMENTS_AT_ONCE = 500
"""Heard movements are kept in small transactions, so that a scan never waits long for its own."""


@dataclass(slots=True)
class Standing:
    """What this gate is to its server at the moment, for status and screens."""

    online: bool = False
    revoked: bool = False
    words: str = ""
    pulled: int = 0
    pushed: int = 0


class Puller:
    """Runs the downward conversation one request at a time."""

    def __init__(
        self,
        *,
        client: Client,
        server_key: Ed25519PublicKey,
        journal: Journal,
        roster: Roster,
        posts: Posts,
        gathering: Gathering,
        time_keeper: TimeKeeper,
        standing: Standing,
        software: str,
        wait_s: float,
        on_revoked: Callable[[str], None],
    ) -> None:
        """Nothing is asked yet."""
        self._client = client
        self._server_key = server_key
        self._journal = journal
        self._roster = roster
        self._posts = posts
        self._gathering = gathering
        self._time = time_keeper
        self.standing = standing
        self._software = software
        self._on_revoked = on_revoked
        self._builder: SnapshotBuilder | None = None
        self._anchored: tuple[int, int] | None = None  # (branch, monotonic ms)
        self.exchange = PullExchange(self._hello, wait_s)
        self.exchange.in_a_hurry = has_forgotten(journal.database.connection)

    def run_once(self) -> None:
        """One request and what follows from it. Raises what the client raises, and Refused."""
        answer = self._client.send(self.exchange.next_request())
        moment = self._time.hear(answer.server_time, answer.sent, answer.received)
        try:
            step = self.exchange.receive(answer.status, answer.body)
        except Refused as why:
            self._refused(why)
            raise
        match step:
            case Greeted():
                self._greeted(step.answer)
            case Framed():
                self._framed(step)
            case Changed():
                self._changed(step)
        # Not before the greeting has compared the marks: an older image must write nothing under numbers in use.
        self._anchor(answer, moment)
        self._heard(answer)

    def silent(self) -> None:
        """The server could not be reached: also whoever only looks at this home is told."""
        if self.standing.online or self._journal.database.marked("online"):
            self.standing.online = False
            self._journal.database.mark("online", 0)

    # -- hello --------------------------------------------------------------------------------------------------

    def _hello(self) -> HelloRequest:
        moment = self._time.now()
        return HelloRequest(
            branch=self._journal.branch.number,
            last_seq=self._journal.head.seq,
            head=self._journal.head.hash,
            software=self._software,
            rows=[self._at(event) for event in self._roster.books],
            unsent=self._journal.unsent(),
            clock_offset=moment.offset,
            clock_uncertainty=moment.uncertainty,
        )

    def _greeted(self, answer: HelloAnswer) -> None:
        self.standing.words = answer.words
        self._check_mark(answer.mark)
        if answer.revoked:
            self._revoked(answer.words)
            return
        self._journal.begin()
        left = self._posts.assign([post_of(assignment) for assignment in answer.assignments])
        self._tell_posts()
        for event in left | (set(self._roster.books) - set(self._posts.by_event)):
            self._roster.drop(event)
        held = {event: self._at(event) for event in self._posts.by_event if event in self._roster.books}
        self.exchange.serve(held, [event for event in self._posts.by_event if event not in held])

    def _tell_posts(self) -> None:
        """Where this device stands, and in which mode, belongs into the journal whenever it changes."""
        told = repr(list(self._posts.by_event.values()))
        if self._journal.database.marked("posts_told") == told:
            return
        moment = self._time.now()
        for post in self._posts.by_event.values():
            at = {"gates_allowed": list(post.gates_allowed), "zones": list(post.zones)}
            self._journal.append(
                moment,
                self._time.boot,
                EntryKind.MODE,
                event=post.event,
                gate=post.gate or 0,
                direction=post.direction,
                mode=post.mode,
                details=at,
            )
        self._journal.database.mark("posts_told", told)

    def _check_mark(self, mark: Mark | None) -> None:
        """A journal that is shorter than, or other than, what the server saw goes on as a new branch."""
        if mark is None:
            # Nothing of this branch is there: a new branch, or a server that was restored.
            self._journal.acknowledge(self._journal.branch, 0)
            return
        if self._journal.agrees(self._journal.branch, mark.seq, mark.head):
            self._journal.acknowledge(self._journal.branch, mark.seq, mark.head)
            return
        self.standing.words = self._journal.leave_fork(self._time.now(), self._time.boot)

    # -- rows ---------------------------------------------------------------------------------------------------

    def _framed(self, step: Framed) -> None:
        answer = step.answer
        if step.first or self._builder is None:
            self._abandon()
            self._builder = self._roster.builder(answer.event)
        rows = from_frame(answer.frame)
        self._builder.add(rows)
        self.standing.pulled += len(rows)

    def _changed(self, step: Changed) -> None:
        for batch in step.answer.events:
            require_signed(batch, self._server_key)
            if step.completes is not None:
                self._complete(batch)
            elif batch.resync or batch.event not in self._roster.books:
                self.exchange.lost(batch.event)
            else:
                self._apply(batch)

        if step.completes is None and not any(batch.resync or batch.movements for batch in step.answer.events):
            self._remember()

    def _remember(self) -> None:
        """Everything that the server knows of who came in was heard: what this gate had forgotten is made good."""
        if self.exchange.in_a_hurry and self.exchange.idle:
            self._journal.database.mark(FORGOTTEN, 0)
            self.exchange.in_a_hurry = False

    def _complete(self, batch: Batch) -> None:
        """The changes since the first frame make the new snapshot whole, or the next ones will."""
        builder = self._builder
        if batch.resync or builder is None:
            self._begin_again(batch.event)
            return
        builder.change(_rows(batch))
        after = _after(batch)
        if builder.digest == batch.digest:
            self._builder = None
            self._install(batch.event, builder, after, batch.as_of)
            self._keep_movements(batch)
            self.exchange.holds(self._at(batch.event))
        elif batch.to_revision > batch.from_revision:
            self.exchange.continues(
                EventAt(event=batch.event, lineage=batch.lineage, revision=batch.to_revision, heard=0)
            )
        else:
            self._begin_again(batch.event)
            raise Unreadable(
                "The snapshot that arrived is not what the server holds. It was thrown away and is fetched again."
            )

    def _install(self, event: int, builder: SnapshotBuilder, after: Position, as_of: int) -> None:
        before = self._roster.books.get(event)
        restored = before is not None and before.position.lineage != after.lineage
        self._roster.install(event, builder, after, as_of)
        if restored:
            # The server may have lost entries that it once acknowledged: all are offered again.
            self._journal.offer_everything()

    def _apply(self, batch: Batch) -> None:
        book = self._roster.book(batch.event)
        if (batch.lineage, batch.from_revision) != (book.position.lineage, book.position.revision):
            self.exchange.lost(batch.event)
            return
        rows = _rows(batch)
        if not rows and batch.to_revision == batch.from_revision:
            self._roster.touch(batch.event, batch.as_of)
        elif not self._roster.apply(batch.event, rows, _after(batch), batch.as_of):
            self.exchange.lost(batch.event)
            return
        self.standing.pulled += len(rows)
        self._keep_movements(batch)
        self.exchange.holds(self._at(batch.event))

    def _begin_again(self, event: int) -> None:
        self._abandon()
        self.exchange.lost(event)

    def _abandon(self) -> None:
        if self._builder is not None:
            self._builder.abandon()
            self._builder = None

    # -- movements ----------------------------------------------------------------------------------------------

    def _keep_movements(self, batch: Batch) -> None:
        movements = movements_from_bytes(batch.movements) if batch.movements else []
        self.standing.pulled += len(movements)
        for start in range(0, len(movements), MOVEMENTS_AT_ONCE):
            self._keep(batch.event, movements[start : start + MOVEMENTS_AT_ONCE])
        if movements or self._arrival(batch.event, batch.lineage) != batch.heard:
            self._mark_heard(batch)

    def _keep(self, event: int, movements: list[Movement]) -> None:
        database, book = self._journal.database, self._roster.book(event)
        with database.writing() as connection:
            history.add_many(connection, movements, event)
            tickets = {movement.ticket_id for movement in movements}
            clashes.note(connection, book, tickets, self._journal.device)
        self._gathering.recount(book, tickets, self._time.now().at)

    def _mark_heard(self, batch: Batch) -> None:
        """Only after all of them are kept: after a power cut in between they come again, which changes nothing."""
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
        position = self._roster.book(event).position
        heard = self._arrival(event, position.lineage)
        return EventAt(event=event, lineage=position.lineage, revision=position.revision, heard=heard)

    # -- time and standing ---------------------------------------------------------------------------------------

    def _anchor(self, answer: Answer, moment: Moment) -> None:
        branch = self._journal.branch.number
        due = self._anchored is None or self._anchored[0] != branch
        if due or (self._anchored is not None and moment.monotonic - self._anchored[1] >= ANCHOR_EVERY_MS):
            rtt = answer.received - answer.sent
            details = {"server": answer.server_time, "monotonic": answer.sent + rtt // 2, "rtt": rtt}
            self._journal.append(moment, self._time.boot, EntryKind.TIME_ANCHOR, details=details)
            self._anchored = (branch, moment.monotonic)

    def _heard(self, answer: Answer) -> None:
        moment = self._time.now()
        self.standing.online = True
        with self._journal.database.writing() as connection:
            set_mark(connection, "last_sync", moment.at)
            set_mark(connection, "online", 1)
        if not self.exchange.idle:
            return
        with self._journal.database.lock:
            for house in self._gathering.houses.values():
                house.heard(answer.received)

    def _refused(self, why: Refused) -> None:
        if why.error_code == "device_revoked":
            self._revoked(why.message)
        elif why.error_code != "unavailable":
            self.standing.words = why.message
            self.exchange.skip()

    def _revoked(self, words: str) -> None:
        self.standing.revoked = True
        self._roster.wipe()
        self._posts.assign([])
        self.exchange.serve({}, [])
        self._on_revoked(words or "This device was revoked by the organiser.")


def _after(batch: Batch) -> Position:
    return Position(batch.lineage, batch.to_revision, batch.digest)


def _rows(batch: Batch) -> list[Row]:
    return from_frame(batch.rows) if batch.rows else []
