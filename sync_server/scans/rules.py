"""How a batch of journal entries is sorted, and how far a journal reaches without a hole: pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from shared.errors import Unreadable
from shared.scans import Entry, EntryKind, decode, entry_hash

MAX_SEQ = 2**53


class Status(StrEnum):
    """What the server did with one entry."""

    ACCEPTED = "accepted"
    KNOWN = "known"
    QUARANTINED = "quarantined"


class Why(StrEnum):
    """Why an entry is kept apart; the words are for the organiser's page."""

    UNREADABLE = "unreadable"
    WRONG_DEVICE = "wrong_device"
    WRONG_BRANCH = "wrong_branch"
    FOREIGN_EVENT = "foreign_event"
    BROKEN_CHAIN = "broken_chain"
    WRONG_HEAD = "wrong_head"
    REVOKED_DEVICE = "revoked_device"


@dataclass(frozen=True, slots=True)
class Line:
    """One entry of a batch: where it stands, what it says, and why it is kept apart, if it is."""

    seq: int
    hash: bytes
    body: bytes
    entry: Entry | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Held:
    """An entry that the server has already."""

    hash: bytes
    quarantined: bool
    why: str = ""


HeldBySeq = Mapping[int, Sequence[Held]]


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a journal is held without a hole, and the hash of the entry there."""

    seq: int
    head: bytes


def read_batch(device: int, branch: int, bodies: Sequence[bytes], expected: int) -> list[Line]:
    """The entries of an upload; what cannot be read takes the place after its neighbour."""
    lines: list[Line] = []
    for body in bodies:
        line = _read(device, branch, body, expected)
        lines.append(line)
        expected = line.seq + 1
    return lines


def _read(device: int, branch: int, body: bytes, expected: int) -> Line:
    digest = entry_hash(body)
    try:
        entry = decode(body)
    except Unreadable:
        entry = None
    if entry is None or entry.seq >= MAX_SEQ:
        return Line(expected, digest, body, None, Why.UNREADABLE)
    if entry.device != device:
        return Line(expected, digest, body, entry, Why.WRONG_DEVICE)
    if entry.branch != branch:
        return Line(expected, digest, body, entry, Why.WRONG_BRANCH)
    return Line(entry.seq, digest, body, entry)


def without_foreign(lines: Iterable[Line], own_events: Collection[int]) -> list[Line]:
    """Entries that speak of an event of nobody, or of another organisation, are kept apart."""
    return [
        replace(line, why=Why.FOREIGN_EVENT)
        if line.entry is not None and not line.why and line.entry.event and line.entry.event not in own_events
        else line
        for line in lines
    ]


def with_head_checked(lines: Sequence[Line], seq: int, head: bytes) -> list[Line]:
    """The entry that the device signed for must be the one it sends."""
    return [
        replace(line, why=Why.WRONG_HEAD) if line.seq == seq and line.hash != head and not line.why else line
        for line in lines
    ]


def with_chain_checked(lines: Iterable[Line], held: HeldBySeq) -> list[Line]:
    """An entry must name the one before it, where that one is held and was good."""
    before: dict[int, list[Held]] = {seq: list(some) for seq, some in held.items()}
    checked: list[Line] = []
    for line in lines:
        if line.entry is not None and not line.why and not _continues(line.entry, before):
            checked.append(replace(line, why=Why.BROKEN_CHAIN))
        else:
            checked.append(line)
        before.setdefault(line.seq, []).append(Held(line.hash, bool(checked[-1].why)))
    return checked


def _continues(entry: Entry, before: Mapping[int, Sequence[Held]]) -> bool:
    """Behind an entry that is kept apart the chain starts anew: one bad entry blocks nothing behind it."""
    predecessors = before.get(last_before(entry), ())
    if not predecessors or any(each.quarantined for each in predecessors):
        return True
    return any(each.hash == entry.previous for each in predecessors)


def last_before(entry: Entry) -> int:
    """The number of the entry that this one must name: a gap names the last one before the hole."""
    hole = declared_gap(entry)
    return entry.seq - 1 if hole is None else hole[0] - 1


def declared_gap(entry: Entry) -> tuple[int, int] | None:
    """The first and last number that a gap entry says will never come."""
    if entry.kind != EntryKind.GAP:
        return None
    first, last = entry.details.get("first"), entry.details.get("last")
    if not isinstance(first, int) or not isinstance(last, int) or not 0 < first <= last < entry.seq:
        return None
    return first, last


def advance(mark: Mark, held: Sequence[tuple[int, bytes]], gaps: Iterable[tuple[int, int]]) -> Mark:
    """The mark after all that is held behind it, in order of number; it steps over declared gaps."""
    ends = dict(gaps)
    seq, head = mark.seq, mark.head
    for number, digest in held:
        while seq + 1 in ends and number > seq + 1:
            seq = ends[seq + 1]
        if number > seq + 1:
            break
        if number == seq + 1:
            seq, head = number, digest
    return Mark(seq, head)
