"""The journal: every presentation of every code, append-only, chained by hashes, on the disk before any lamp lights."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from gate_app import history
from gate_app.database import Database, int_mark, set_mark
from gate_app.time_keeper import Moment
from shared import scans
from shared.errors import StorageError
from shared.ids import Entropy
from shared.scans import GENESIS, Entry, EntryKind
from shared.snapshot import Position

SEQ_BITS = 40
"""A place in the file is the branch's local number and the entry's number in one integer: appending never seeks."""
_SEQ_MASK = (1 << SEQ_BITS) - 1
_LAMP = "lamp"
_NOISE = "noise"
FORKS = "forks"
FORK_WORDS = (
    "The server holds other entries under this gate's numbers: another machine has the same key, or an older copy of"
    " its memory was put back. Scanning goes on as a new branch. If there is a second machine, switch one of them off."
)
_BRANCH_WORDS = "branch_words"
NOWHERE = Position(b"", 0, b"")

Along = Callable[[sqlite3.Connection, Entry], None]
"""What else belongs to the same transaction as an entry."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One unbroken chain of this home's entries."""

    local: int
    device: int
    number: int
    begun_from: bytes
    acknowledged: int


@dataclass(frozen=True, slots=True)
class Head:
    """The last entry of a branch: what the next one names as its predecessor."""

    seq: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class Chain:
    """What checking the whole journal found."""

    entries: int
    ok: bool
    broken_at: str | None


class Journal:
    """Appends and reads; one process per home, one lock for all its threads (the database's)."""

    def __init__(self, database: Database, device: int, entropy: Entropy) -> None:
        """Continues the last branch of this device, or begins its first."""
        self.database = database
        self.device = device
        self._entropy = entropy
        self.branch = self._last_branch() or self._begin(GENESIS)
        self.head = self.head_of(self.branch)

    # -- writing -------------------------------------------------------------------------------------------------

    def append(
        self,
        moment: Moment,
        boot: bytes,
        kind: str,
        *,
        position: Position = NOWHERE,
        event: int = 0,
        gate: int = 0,
        zone: int = 0,
        reader: str = "",
        operator: str = "",
        ticket_id: int = 0,
        issue: int = 0,
        code_hash: bytes = b"",
        direction: str = "",
        mode: str = "",
        admitted: bool = False,
        reason: str = "",
        notices: tuple[str, ...] = (),
        override_by: int = 0,
        override_reason: str = "",
        override_denial: str = "",
        details: dict[str, Any] | None = None,
        along: Along | None = None,
    ) -> Entry:
        """One more entry, and the movement it tells of, in one transaction. Raises StorageError."""
        details = details or {}
        if zone:
            details["zone"] = zone
        try:
            with self.database.writing() as connection:
                head = self.head
                entry = Entry(
                    self.device,
                    self.branch.number,
                    head.seq + 1,
                    kind,
                    event,
                    gate,
                    reader,
                    operator,
                    ticket_id,
                    issue,
                    code_hash,
                    direction,
                    mode,
                    admitted,
                    reason,
                    notices,
                    override_by,
                    override_reason,
                    override_denial,
                    moment.wall,
                    moment.monotonic,
                    boot,
                    moment.at - moment.wall,
                    moment.uncertainty,
                    position.lineage,
                    position.revision,
                    position.digest,
                    head.hash,
                    details,
                )
                body = scans.encode(entry)
                connection.execute(
                    "INSERT INTO journal VALUES (?, ?)", (self.branch.local << SEQ_BITS | entry.seq, body)
                )
                if admitted or kind == EntryKind.ANNULMENT:
                    _keep_movement(connection, entry, moment.at)
                if along is not None:
                    along(connection, entry)
            # Only what is on the disk is the head: after a failed commit the next entry takes the same number.
            self.head = Head(entry.seq, scans.entry_hash(body))
        except sqlite3.Error as why:
            raise StorageError(f"The journal cannot be written: {why}. Free some space or change the card.") from why
        return entry

    def lamp_lit(self, seq: int) -> None:
        """The mark that the lamp of this entry was seen; without it, a restart shows the admission once more."""
        with suppress(sqlite3.Error):
            self.database.note(_LAMP, self.branch.local << SEQ_BITS | seq)

    def count_noise(self, counted: int) -> None:
        """How many texts were not written one by one since the last count; raises StorageError."""
        try:
            self.database.note(_NOISE, counted)
        except sqlite3.Error as why:
            raise StorageError(f"The journal cannot be written: {why}.") from why

    def noise_counted(self) -> int:
        """What the last process had counted and not told yet."""
        with self.database.lock:
            return int_mark(self.database.connection, _NOISE)

    def tell_noise(self, moment: Moment, boot: bytes, counted: int) -> None:
        """The count becomes an entry."""
        self.append(moment, boot, EntryKind.SUPPRESSED, details={"count": counted}, along=_forget_noise)

    def begin_branch(self, moment: Moment, boot: bytes, why: str) -> Entry:
        """Leaves the present chain where it is and begins another, telling why."""
        with self.database.lock:
            before, head = self.branch, self.head
            left = {"device": before.device, "branch": before.number, "seq": head.seq, "head": head.hash, "why": why}
            self.branch = self._begin(head.hash)
            self.head = Head(0, head.hash)
            self.database.mark(_BRANCH_WORDS, why)
            return self.append(moment, boot, EntryKind.BRANCH, details=left)

    def leave_fork(self, moment: Moment, boot: bytes) -> str:
        """The server holds other entries under our numbers; answers words for the operator."""
        with self.database.lock:
            self.database.mark(FORKS, int_mark(self.database.connection, FORKS) + 1)
            self.begin_branch(moment, boot, FORK_WORDS)
        return FORK_WORDS

    def branch_words(self) -> str:
        """Why the present branch was begun, for the operator; empty for the first."""
        words = self.database.marked(_BRANCH_WORDS)
        return words if isinstance(words, str) else ""

    # -- what the server knows -----------------------------------------------------------------------------------

    def acknowledge(self, branch: Branch, seq: int) -> None:
        """What the server's mark says need not be sent again; it may fall."""
        with self.database.writing() as connection:
            connection.execute("UPDATE branches SET acknowledged = ? WHERE local = ?", (seq, branch.local))
        if branch.local == self.branch.local:
            self.branch = self._branch(branch.local)

    def offer_everything(self) -> None:
        """A restored server may lack what it had acknowledged, of any branch."""
        with self.database.writing() as connection:
            connection.execute("UPDATE branches SET acknowledged = 0")
            self.branch = self._branch(self.branch.local)

    def agrees(self, branch: Branch, seq: int, head: bytes) -> bool:
        """Whether the entry that the server's mark names is the one that stands here."""
        if seq == 0:
            return True
        body = self._body(branch.local, seq)
        return body is not None and scans.entry_hash(body) == head

    def quarantine(self, branch: Branch, refused: list[tuple[int, str]]) -> None:
        """Counts the entries that the server keeps apart, and why."""
        lines = [(branch.device, branch.number, seq, why) for seq, why in refused]
        with self.database.writing() as connection:
            connection.executemany("INSERT OR REPLACE INTO quarantined VALUES (?, ?, ?, ?)", lines)

    def branches(self) -> list[Branch]:
        """All branches of this home, oldest first."""
        with self.database.lock:
            rows = self.database.connection.execute(f"{_BRANCHES} ORDER BY local").fetchall()
        return [Branch(*row) for row in rows]

    def next_unsent(self) -> Branch | None:
        """The oldest branch of this device of which the server lacks something."""
        mine = (branch for branch in self.branches() if branch.device == self.device)
        return next((branch for branch in mine if self.head_of(branch).seq > branch.acknowledged), None)

    def bodies(self, branch: Branch, after: int, limit: int) -> list[bytes]:
        """Entries as they were hashed, in order."""
        low = branch.local << SEQ_BITS
        with self.database.lock:
            rows = self.database.connection.execute(
                "SELECT body FROM journal WHERE place > ? AND place <= ? ORDER BY place LIMIT ?",
                (low | after, low | _SEQ_MASK, limit),
            ).fetchall()
        return [row[0] for row in rows]

    def unsent(self) -> int:
        """How many entries of this device the server has not acknowledged."""
        mine = (branch for branch in self.branches() if branch.device == self.device)
        return sum(max(0, self.head_of(branch).seq - branch.acknowledged) for branch in mine)

    # -- reading -------------------------------------------------------------------------------------------------

    def entries(self) -> Iterator[Entry]:
        """Everything, oldest first; a body that cannot be read is left out (`verify` names it)."""
        return entries_in(self.database.connection)

    def entry(self, seq: int) -> Entry | None:
        """One entry of the present branch."""
        return self._entry(self.branch.local, seq) if 0 < seq <= self.head.seq else None

    def last_boot(self) -> bytes:
        """The run of the machine in which the last entry was written."""
        entry = self._entry(self.branch.local, self.head.seq)
        return entry.boot if entry else b""

    def unlit(self) -> Entry | None:
        """The last admitted presentation, when no lamp was marked after it."""
        with self.database.lock:
            lit = int_mark(self.database.connection, _LAMP)
            rows = self.database.connection.execute(
                "SELECT body FROM journal WHERE place > ? ORDER BY place DESC LIMIT 500", (lit,)
            ).fetchall()
        shown = (entry for entry in (_read(row[0]) for row in rows) if entry and entry.kind in SHOWN)
        last = next(shown, None)
        return last if last and last.admitted else None

    def check_tail(self, depth: int = 200) -> str:
        """Words about a chain that does not hold near its end, empty when it does: asked at every start."""
        start = max(0, self.head.seq - depth)
        before = self.branch.begun_from if start == 0 else self._hash_at(start)
        bodies = self.bodies(self.branch, start, depth)
        report = scans.check_chain(bodies, before)
        if report.ok and len(bodies) == self.head.seq - start:
            return ""
        return f"The journal is damaged near entry {report.broken_at or start + 1} of branch {self.branch.number}."

    def verify(self) -> Chain:
        """Checks every entry of every branch."""
        return verify_in(self.database.connection)

    def head_of(self, branch: Branch) -> Head:
        """The end of a branch."""
        low = branch.local << SEQ_BITS
        with self.database.lock:
            row = self.database.connection.execute(
                "SELECT place, body FROM journal WHERE place > ? AND place <= ? ORDER BY place DESC LIMIT 1",
                (low, low | _SEQ_MASK),
            ).fetchone()
        return Head(row[0] & _SEQ_MASK, scans.entry_hash(row[1])) if row else Head(0, branch.begun_from)

    def _hash_at(self, seq: int) -> bytes:
        body = self._body(self.branch.local, seq)
        return scans.entry_hash(body) if body is not None else b""

    def _entry(self, local: int, seq: int) -> Entry | None:
        body = self._body(local, seq)
        return _read(body) if body is not None else None

    def _body(self, local: int, seq: int) -> bytes | None:
        with self.database.lock:
            row = self.database.connection.execute(
                "SELECT body FROM journal WHERE place = ?", (local << SEQ_BITS | seq,)
            ).fetchone()
        return row[0] if row else None

    def _last_branch(self) -> Branch | None:
        row = self.database.connection.execute(
            f"{_BRANCHES} WHERE device = ? ORDER BY local DESC LIMIT 1", (self.device,)
        ).fetchone()
        return Branch(*row) if row else None

    def _branch(self, local: int) -> Branch:
        row = self.database.connection.execute(f"{_BRANCHES} WHERE local = ?", (local,)).fetchone()
        return Branch(*row)

    def _begin(self, begun_from: bytes) -> Branch:
        with self.database.writing() as connection:
            cursor = connection.execute(
                "INSERT INTO branches (device, branch, begun_from) VALUES (?, ?, ?)",
                (self.device, self._fresh_number(), begun_from),
            )
            local = cursor.lastrowid or 0
        return self._branch(local)

    def _fresh_number(self) -> int:
        # Random, not counted: two copies of one home that both begin a branch must not begin the same one.
        taken = {branch.number for branch in self.branches()}
        while (number := int.from_bytes(self._entropy(4), "big") % 0x7FFFFFFE + 1) in taken:
            continue
        return number


SHOWN = frozenset({EntryKind.PRESENTATION, EntryKind.BY_HAND})
_BRANCHES = "SELECT local, device, branch, begun_from, acknowledged FROM branches"


def entries_in(connection: sqlite3.Connection) -> Iterator[Entry]:
    """Every readable entry, oldest first, through any connection."""
    for (body,) in connection.execute("SELECT body FROM journal ORDER BY place"):
        entry = _read(body)
        if entry is not None:
            yield entry


def verify_in(connection: sqlite3.Connection) -> Chain:
    """Checks every entry of every branch, through any connection."""
    total, broken = 0, None
    for row in connection.execute(f"{_BRANCHES} ORDER BY local").fetchall():
        branch = Branch(*row)
        low = branch.local << SEQ_BITS
        found = connection.execute(
            "SELECT body FROM journal WHERE place > ? AND place <= ? ORDER BY place", (low, low | _SEQ_MASK)
        )
        report = scans.check_chain((body for (body,) in found), branch.begun_from)
        total += report.entries
        if not report.ok and broken is None:
            broken = f"{branch.number}/{report.broken_at}"
    return Chain(total, broken is None, broken)


def _read(body: bytes) -> Entry | None:
    try:
        return scans.decode(body)
    except Exception:
        return None


def _forget_noise(connection: sqlite3.Connection, _entry: Entry) -> None:
    set_mark(connection, _NOISE, 0)


def _keep_movement(connection: sqlite3.Connection, entry: Entry, at: int) -> None:
    movement = scans.movement_of(entry, at)
    if movement is not None:
        history.add(connection, movement, entry.event)
