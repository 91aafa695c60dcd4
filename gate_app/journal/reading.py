"""Reads a journal through any connection, also beside the process that writes it and around damaged parts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from msgspec import Struct

from gate_app.journal.chain_survey import ChainSurvey, LostRange
from shared.errors import Unreadable
from shared.journal import scans
from shared.journal.scans import Entry, EntryKind, entry_hash

SEQ_BITS = 40
"""`place` combines the branch's local number and the entry's number in one integer, so appending never seeks."""
SEQ_MASK = (1 << SEQ_BITS) - 1
SHOWN = frozenset({EntryKind.PRESENTATION, EntryKind.BY_HAND})
AT_ONCE = 500

Stored = tuple[int, bytes]
"""An entry's number in its branch, and its body."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One unbroken chain of this home's entries."""

    local: int
    device: int
    number: int
    begun_from: bytes
    acknowledged: int


class Head(Struct, frozen=True):
    """The last entry of a branch, which the next one names as its predecessor."""

    seq: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class ChainCheck:
    """The result of checking the whole journal; `lost` lists ranges as branch/first-last."""

    entries: int
    ok: bool
    broken_at: str | None
    lost: tuple[str, ...] = ()


def branches_in(connection: sqlite3.Connection) -> list[Branch]:
    """All branches, oldest first."""
    rows = connection.execute(f"{BRANCHES} ORDER BY local").fetchall()
    return [Branch(*row) for row in rows]


def head_in(connection: sqlite3.Connection, branch: Branch) -> Head:
    """The last entry of a branch."""
    seq = last_seq(connection, branch.local)
    body = body_at(connection, branch.local, seq) if seq else None
    return Head(seq, entry_hash(body)) if body is not None else Head(0, branch.begun_from)


def last_seq(connection: sqlite3.Connection, local: int) -> int:
    """The number of a branch's last entry, 0 if there is none."""
    low = local << SEQ_BITS
    (last,) = connection.execute(
        "SELECT max(place) FROM journal WHERE place > ? AND place <= ?", (low, low | SEQ_MASK)
    ).fetchone()
    return int(last) & SEQ_MASK if last else 0


def body_at(connection: sqlite3.Connection, local: int, seq: int) -> bytes | None:
    """The body at one place; None if there is none, empty if the file is damaged there."""
    try:
        row = connection.execute("SELECT body FROM journal WHERE place = ?", (local << SEQ_BITS | seq,)).fetchone()
    except sqlite3.DatabaseError as why:
        if not is_damage(why):
            raise
        return b""
    return _as_bytes(row[0]) if row else None


def stored(connection: sqlite3.Connection, local: int, after: int, limit: int) -> list[Stored]:
    """The next readable entries, in order; around a damaged part of the file they are read one by one."""
    low = local << SEQ_BITS
    try:
        rows = connection.execute(
            "SELECT place, body FROM journal WHERE place > ? AND place <= ? ORDER BY place LIMIT ?",
            (low | after, low | SEQ_MASK, limit),
        ).fetchall()
    except sqlite3.DatabaseError as why:
        if not is_damage(why):
            raise
        return list(_one_by_one(connection, local, after, limit))
    return [(place & SEQ_MASK, _as_bytes(body)) for place, body in rows]


def is_damage(why: Exception) -> bool:
    """Whether the file itself is damaged, not only busy, full or closed."""
    text = f"{why} {why.__cause__}"
    return any(sign in text for sign in ("malformed", "not a database", "no such table", "corrupt"))


def entries_in(connection: sqlite3.Connection) -> Iterator[Entry]:
    """Every readable entry, oldest first."""
    for branch in branches_in(connection):
        for _, body in all_stored(connection, branch):
            entry = read(body)
            if entry is not None:
                yield entry


def verify_in(connection: sqlite3.Connection) -> ChainCheck:
    """Checks every entry of every branch."""
    total, broken = 0, list[str]()
    lost = list[str]()
    for branch in branches_in(connection):
        survey = survey_of(connection, branch)
        total += survey.entries
        broken += [f"{branch.number}/{survey.broken_at}"] if survey.broken_at else []
        lost += format_ranges(branch, survey.lost)
    return ChainCheck(total, not broken, broken[0] if broken else None, tuple(lost))


def survey_of(connection: sqlite3.Connection, branch: Branch) -> ChainSurvey:
    """The survey of one whole branch."""
    survey = ChainSurvey(branch.device, branch.number, 0, branch.begun_from)
    for seq, body in all_stored(connection, branch):
        survey.meet(seq, body)
    return survey


def all_stored(connection: sqlite3.Connection, branch: Branch) -> Iterator[Stored]:
    """All entries of a branch, read in batches."""
    after = 0
    while found := stored(connection, branch.local, after, AT_ONCE):
        yield from found
        after = found[-1][0]


def format_ranges(branch: Branch, lost: list[LostRange]) -> list[str]:
    """Lost ranges as branch/first-last."""
    return [f"{branch.number}/{first}-{last}" for first, last in lost]


def read(body: bytes) -> Entry | None:
    """The decoded entry; None if the bytes are not one."""
    try:
        return scans.decode(body)
    except Unreadable:
        return None


def _one_by_one(connection: sqlite3.Connection, local: int, after: int, limit: int) -> Iterator[Stored]:
    found = 0
    for seq in range(after + 1, last_seq(connection, local) + 1):
        body = body_at(connection, local, seq)
        if body is not None:
            yield seq, body
            found += 1
        if found == limit:
            return


def _as_bytes(body: object) -> bytes:
    # In a damaged file a body may be of any type.
    return body if isinstance(body, bytes) else b""


BRANCHES = "SELECT local, device, branch, begun_from, acknowledged FROM branches"
