"""Checks the entries of an upload, and how far a journal is complete: pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from shared.errors import Unreadable
from shared.journal.scans import Entry, EntryKind, decode, entry_hash

MAX_SEQ = 2**53


class Status(StrEnum):
    """What the server did with one entry."""

    ACCEPTED = "accepted"
    KNOWN = "known"
    QUARANTINED = "quarantined"


class QuarantineReason(StrEnum):
    """Why an entry is quarantined; shown on the organiser's page."""

    UNREADABLE = "unreadable"
    WRONG_DEVICE = "wrong_device"
    WRONG_BRANCH = "wrong_branch"
    FOREIGN_EVENT = "foreign_event"
    BROKEN_CHAIN = "broken_chain"
    WRONG_HEAD = "wrong_head"
    REVOKED_DEVICE = "revoked_device"
    EVENT_PUT_AWAY = "event_put_away"


class Line(Struct, frozen=True):
    """One entry of an upload: its number, its content, and why it is quarantined, if it is."""

    seq: int
    hash: bytes
    body: bytes
    entry: Entry | None
    why: str = ""
    event_id: str | None = None


class HeldEntry(Struct, frozen=True):
    """An entry that the server has already."""

    hash: bytes
    quarantined: bool
    why: str = ""


HeldBySeq = Mapping[int, Sequence[HeldEntry]]


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a journal is complete, and the hash of the last entry."""

    seq: int
    head: bytes


def read_batch(device: int, branch: int, bodies: Sequence[bytes], expected: int) -> list[Line]:
    """Decode the entries of an upload; an unreadable one gets the number after its predecessor."""
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
        return Line(expected, digest, body, None, QuarantineReason.UNREADABLE)
    if entry.device != device:
        return Line(expected, digest, body, entry, QuarantineReason.WRONG_DEVICE)
    if entry.branch != branch:
        return Line(expected, digest, body, entry, QuarantineReason.WRONG_BRANCH)
    return Line(entry.seq, digest, body, entry)


def with_events(
    lines: Iterable[Line], own_events: Mapping[int, str], put_away: Collection[str] = frozenset()
) -> list[Line]:
    """Name the events by their ids; quarantine entries of unknown events and of other organisations' events.

    Those of an event that is put away wait in quarantine until it is brought back.
    """
    return [_with_event(line, own_events, put_away) for line in lines]


def _with_event(line: Line, own_events: Mapping[int, str], put_away: Collection[str]) -> Line:
    if line.entry is None or not line.entry.event:
        return line
    event_id = own_events.get(line.entry.event)
    late = QuarantineReason.EVENT_PUT_AWAY if event_id in put_away else ""
    why = QuarantineReason.FOREIGN_EVENT if event_id is None else late
    return replace(line, event_id=event_id, why=line.why or why)


def with_head_checked(lines: Sequence[Line], seq: int, head: bytes) -> list[Line]:
    """Quarantine the entry at the signed head if its hash is not the signed one."""
    return [
        replace(line, why=QuarantineReason.WRONG_HEAD)
        if line.seq == seq and line.hash != head and not line.why
        else line
        for line in lines
    ]


def with_chain_checked(lines: Iterable[Line], held: HeldBySeq) -> list[Line]:
    """Quarantine entries that do not name their predecessor, where that one is stored and good."""
    before: dict[int, list[HeldEntry]] = {seq: list(some) for seq, some in held.items()}
    checked: list[Line] = []
    for line in lines:
        if line.entry is not None and not line.why and not _continues(line.entry, before):
            checked.append(replace(line, why=QuarantineReason.BROKEN_CHAIN))
        else:
            checked.append(line)
        before.setdefault(line.seq, []).append(HeldEntry(line.hash, bool(checked[-1].why)))
    return checked


def _continues(entry: Entry, before: Mapping[int, Sequence[HeldEntry]]) -> bool:
    """Whether an entry continues the chain; after a quarantined entry any may, so that one bad entry blocks nothing."""
    predecessors = before.get(last_before(entry), ())
    if not predecessors or any(each.quarantined for each in predecessors):
        return True
    return any(each.hash == entry.previous for each in predecessors)


def last_before(entry: Entry) -> int:
    """The number of the entry that this one must name; a gap names the last one before the gap."""
    gap = declared_gap(entry)
    return entry.seq - 1 if gap is None else gap[0] - 1


def declared_gap(entry: Entry) -> tuple[int, int] | None:
    """The first and last number that a gap entry declares lost."""
    if entry.kind != EntryKind.GAP:
        return None
    first, last = entry.details.get("first"), entry.details.get("last")
    if not isinstance(first, int) or not isinstance(last, int) or not 0 < first <= last < entry.seq:
        return None
    return first, last


def declared_gaps(lines: Iterable[Line]) -> list[tuple[int, int]]:
    """The gaps that these lines declare and that count."""
    gaps = (declared_gap(line.entry) for line in lines if line.entry is not None and not line.why)
    return [gap for gap in gaps if gap is not None]


def advance(mark: Mark, held: Sequence[tuple[int, bytes]], gaps: Iterable[tuple[int, int]]) -> Mark:
    """Advance the mark over stored entries, in order of number, and over declared gaps."""
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
