"""The journal: an append-only, hash-chained record of every presentation, on the disk before any lamp lights."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile
from typing import Any

from gate_app.clock.time_keeper import Moment
from gate_app.journal import history
from gate_app.journal.chain_survey import ChainSurvey, entry_at
from gate_app.journal.reading import (
    BRANCHES,
    SEQ_BITS,
    SHOWN,
    Branch,
    ChainCheck,
    Head,
    Stored,
    body_at,
    branches_in,
    entries_in,
    head_in,
    is_damage,
    read,
    stored,
    verify_in,
)
from gate_app.storage.database import Database, get_int, put_value
from shared.errors import StorageError
from shared.ids import Entropy
from shared.journal import scans
from shared.journal.scans import GENESIS, Entry, EntryKind
from shared.wire.snapshot import Position

_LAMP = "lamp"
_NOISE = "noise"
_BRANCH_MESSAGE = "branch_words"
NOWHERE = Position(b"", 0, b"")

ExtraWrite = Callable[[sqlite3.Connection, Entry], None]
"""Writes something else in the same transaction as an entry."""


class Journal:
    """Appends and reads entries; all threads of the process share the database's lock."""

    def __init__(self, database: Database, device: int, entropy: Entropy) -> None:
        """Continues this device's last branch, or begins its first."""
        self.database = database
        self.device = device
        self._entropy = entropy
        self._unstored: dict[int, int] = {}  # the server's marks, where the disk did not take them
        self.branch = self._last_branch() or self._create_branch(GENESIS)
        self.head = self.head_of(self.branch)
        self._opening: tuple[Moment, bytes, dict[str, Any]] | None = None

    def defer_start_entry(self, moment: Moment, boot: bytes, details: dict[str, Any]) -> None:
        """Prepares the entry for this start; it is written before the next entry, or once the server has been heard.

        A gate started from an older image must not reuse entry numbers that the server already has from it.
        """
        self._opening = moment, boot, details

    def write_start_entry(self) -> None:
        """Writes the deferred entry for this start, if any. On StorageError it stays deferred."""
        with self.database.lock:
            opening, self._opening = self._opening, None
            if opening is None:
                return
            try:
                self.append(opening[0], opening[1], EntryKind.BOOT, details=opening[2])
            except StorageError:
                self._opening = opening
                raise

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
        also_write: ExtraWrite | None = None,
    ) -> Entry:
        """Appends an entry and the movement it implies, in one transaction. Raises StorageError."""
        details = details or {}
        if zone:
            details["zone"] = zone
        if self._opening is not None and kind != EntryKind.BRANCH:
            self.write_start_entry()
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
                    _store_movement(connection, entry, moment.at)
                if also_write is not None:
                    also_write(connection, entry)
                head = Head(entry.seq, scans.entry_hash(body))
            # The head is what is on the disk: after a failed commit the next entry takes the same number.
            self.head = head
        except sqlite3.Error as why:
            raise StorageError(f"The journal cannot be written: {why}. Free some space or replace the card.") from why
        return entry

    def lamp_lit(self, seq: int) -> None:
        """Marks an entry as shown; otherwise the admission is shown once more after a restart."""
        with suppress(sqlite3.Error):
            self.database.put_unsynced(_LAMP, self.branch.local << SEQ_BITS | seq)

    def count_noise(self, counted: int) -> None:
        """Stores how many texts have been counted instead of recorded. Raises StorageError."""
        try:
            self.database.put_unsynced(_NOISE, counted)
        except sqlite3.Error as why:
            raise StorageError(f"The journal cannot be written: {why}.") from why

    def noise_counted(self) -> int:
        """The count that has not been recorded as an entry yet."""
        with self.database.lock:
            return get_int(self.database.connection, _NOISE)

    def record_noise(self, moment: Moment, boot: bytes, counted: int) -> None:
        """Records the count as an entry."""
        self.append(moment, boot, EntryKind.SUPPRESSED, details={"count": counted}, also_write=_forget_noise)

    def begin_branch(self, moment: Moment, boot: bytes, why: str) -> Entry:
        """Leaves the current chain as it is and begins another, recording why."""
        with self.database.lock:
            before, head = self.branch, self.head
            left = {"device": before.device, "branch": before.number, "seq": head.seq, "head": head.hash, "why": why}
            self.branch = self._create_branch(head.hash)
            self.head = Head(0, head.hash)
            self.database.put(_BRANCH_MESSAGE, why)
            return self.append(moment, boot, EntryKind.BRANCH, details=left)

    def gaps_of(self, branch: Branch) -> list[tuple[int, int, int]]:
        """(seq of the entry, first, last) of each gap declared in this branch."""
        with self.database.lock:
            return self.database.connection.execute(
                "SELECT seq, first, last FROM gaps WHERE local = ? ORDER BY first", (branch.local,)
            ).fetchall()

    def branch_message(self) -> str:
        """Why the current branch was begun, for the operator; empty for the first."""
        message = self.database.get(_BRANCH_MESSAGE)
        return message if isinstance(message, str) else ""

    def acknowledge(self, branch: Branch, seq: int, head: bytes = b"") -> None:
        """Stores the server's mark, below which nothing needs sending, and its hash there; the mark may go down.

        If the disk does not take it, it is kept in memory: sending must go on behind it.
        """
        self._unstored[branch.local] = seq
        with suppress(sqlite3.Error), self.database.writing() as connection:
            connection.execute("UPDATE branches SET acknowledged = ? WHERE local = ?", (seq, branch.local))
            put_value(connection, _head_mark(branch), seq.to_bytes(8, "big") + head)
            del self._unstored[branch.local]
        if branch.local == self.branch.local:
            self.branch = self._branch(branch.local)

    def offer_everything(self) -> None:
        """Forgets all acknowledgements, because a restored server may lack entries of any branch."""
        with self.database.writing() as connection:
            connection.execute("UPDATE branches SET acknowledged = 0")
            self._unstored.clear()
            self.branch = self._branch(self.branch.local)

    def agrees(self, branch: Branch, seq: int, head: bytes) -> bool:
        """Whether this journal has, or had before damage, the entry that the server's mark names."""
        if seq == 0 or any(first <= seq <= last for _, first, last in self.gaps_of(branch)):
            return True
        body = self._body(branch.local, seq)
        if body is not None and scans.entry_hash(body) == head:
            return True
        if body is None or entry_at(branch.device, branch.number, seq, body) is None:
            return seq <= self.head_of(branch).seq
        after = self._entry(branch.local, seq + 1)
        return after is not None and after.previous == head

    def quarantine(self, branch: Branch, refused: list[tuple[int, str]]) -> None:
        """Remembers the entries that the server quarantined, and why; the server knows it anyway."""
        lines = [(branch.device, branch.number, seq, why) for seq, why in refused]
        with suppress(sqlite3.Error), self.database.writing() as connection:
            connection.executemany("INSERT OR REPLACE INTO quarantined VALUES (?, ?, ?, ?)", lines)

    def branches(self) -> list[Branch]:
        """All branches of this home, oldest first."""
        with self.database.lock:
            return [self._marked(branch) for branch in branches_in(self.database.connection)]

    def unsent_branches(self) -> list[Branch]:
        """The branches of this device with unsent entries, oldest first."""
        mine = (branch for branch in self.branches() if branch.device == self.device)
        return [branch for branch in mine if self.head_of(branch).seq > branch.acknowledged]

    def next_unsent(self) -> Branch | None:
        """The oldest branch with unsent entries."""
        return next(iter(self.unsent_branches()), None)

    def stored(self, branch: Branch, after: int, limit: int) -> list[Stored]:
        """The encoded entries after `after`, in order, each with its number."""
        with self.database.lock:
            return stored(self.database.connection, branch.local, after, limit)

    def bodies(self, branch: Branch, after: int, limit: int) -> list[bytes]:
        """The encoded entries after `after`, in order."""
        return [body for _, body in self.stored(branch, after, limit)]

    def survey(self, branch: Branch, after: int) -> ChainSurvey:
        """A survey of a branch that begins behind entry `after`."""
        return ChainSurvey(branch.device, branch.number, after, self.hash_before(branch, after + 1) or None)

    def unsent(self) -> int:
        """How many entries of this device the server has not acknowledged."""
        mine = (branch for branch in self.branches() if branch.device == self.device)
        return sum(max(0, self.head_of(branch).seq - branch.acknowledged) for branch in mine)

    def entries(self) -> Iterator[Entry]:
        """Every readable entry, oldest first; `verify` names the others."""
        return entries_in(self.database.connection)

    def entry(self, seq: int) -> Entry | None:
        """One entry of the current branch; None if there is none."""
        return self._entry(self.branch.local, seq) if 0 < seq <= self.head.seq else None

    def last_boot(self) -> bytes:
        """The boot id in the last entry."""
        entry = self._entry(self.branch.local, self.head.seq)
        return entry.boot if entry else b""

    def unlit(self) -> list[Entry]:
        """The last presentation, if it was admitted and not marked as shown; of a party all that were not."""
        try:
            rows = self._after_last_shown()
        except sqlite3.DatabaseError as why:
            if not is_damage(why):
                raise
            return []
        shown = (entry for entry in (read(row[0]) for row in rows) if entry and entry.kind in SHOWN)
        last = next(shown, None)
        if last is None or not last.admitted:
            return []
        party = last.details.get("party")
        return [last, *takewhile(lambda one: one.admitted and party and one.details.get("party") == party, shown)]

    def _after_last_shown(self) -> list[tuple[bytes]]:
        with self.database.lock:
            lit = get_int(self.database.connection, _LAMP)
            return self.database.connection.execute(
                "SELECT body FROM journal WHERE place > ? ORDER BY place DESC LIMIT 500", (lit,)
            ).fetchall()

    def check_tail(self, depth: int = 200) -> str:
        """Checks the end of the chain at every start; returns a message, empty if it is intact."""
        survey = self.survey(self.branch, max(0, self.head.seq - depth))
        for seq, body in self.stored(self.branch, survey.seq, depth):
            survey.meet(seq, body)
        if survey.broken_at is None:
            return ""
        return f"The journal is damaged near entry {survey.broken_at} of branch {self.branch.number}."

    def verify(self) -> ChainCheck:
        """Checks every entry of every branch."""
        return verify_in(self.database.connection)

    def head_of(self, branch: Branch) -> Head:
        """The last entry of a branch."""
        with self.database.lock:
            return head_in(self.database.connection, branch)

    def hash_before(self, branch: Branch, seq: int) -> bytes:
        """The hash that the entry at `seq` must carry; empty if its predecessor is damaged and its hash unknown."""
        if seq == 1:
            return branch.begun_from
        body = self._body(branch.local, seq - 1)
        if body is not None and entry_at(branch.device, branch.number, seq - 1, body) is not None:
            return scans.entry_hash(body)
        stored_head = self.database.get(_head_mark(branch))
        return (
            stored_head[8:]
            if isinstance(stored_head, bytes) and stored_head[:8] == (seq - 1).to_bytes(8, "big")
            else b""
        )

    def _entry(self, local: int, seq: int) -> Entry | None:
        body = self._body(local, seq)
        return read(body) if body is not None else None

    def _body(self, local: int, seq: int) -> bytes | None:
        with self.database.lock:
            return body_at(self.database.connection, local, seq)

    def _last_branch(self) -> Branch | None:
        row = self.database.connection.execute(
            f"{BRANCHES} WHERE device = ? ORDER BY local DESC LIMIT 1", (self.device,)
        ).fetchone()
        return Branch(*row) if row else None

    def _branch(self, local: int) -> Branch:
        row = self.database.connection.execute(f"{BRANCHES} WHERE local = ?", (local,)).fetchone()
        return self._marked(Branch(*row))

    def _marked(self, branch: Branch) -> Branch:
        return replace(branch, acknowledged=self._unstored.get(branch.local, branch.acknowledged))

    def _create_branch(self, begun_from: bytes) -> Branch:
        with self.database.writing() as connection:
            cursor = connection.execute(
                "INSERT INTO branches (device, branch, begun_from) VALUES (?, ?, ?)",
                (self.device, self._fresh_number(), begun_from),
            )
            local = cursor.lastrowid or 0
        return self._branch(local)

    def _fresh_number(self) -> int:
        # Random, so that two copies of one home that both begin a branch do not choose the same number.
        taken = {branch.number for branch in self.branches()}
        while (number := int.from_bytes(self._entropy(4), "big") % 0x7FFFFFFE + 1) in taken:
            continue
        return number


def _forget_noise(connection: sqlite3.Connection, _entry: Entry) -> None:
    put_value(connection, _NOISE, 0)


def _store_movement(connection: sqlite3.Connection, entry: Entry, at: int) -> None:
    movement = scans.movement_of(entry, at)
    if movement is not None:
        history.add(connection, movement, entry.event)


def _head_mark(branch: Branch) -> str:
    return f"acknowledged_head:{branch.local}"
