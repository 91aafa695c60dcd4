"""The journal on both sides: entries, their chain, corrected times, and the movements they imply."""

from __future__ import annotations

from typing import Any

from shared.journal.chains import ChainReport, check_chain, follows, gap_of, head_message, sign_head, verify_head
from shared.journal.journal_entries import (
    GENESIS,
    MAX_ENTRY_BYTES,
    MAX_TEXT,
    Entry,
    EntryKind,
    decode,
    encode,
    entry_hash,
)
from shared.journal.journal_time import UNKNOWN_MS, Anchor, Boot, Timeline, anchor_of, boots_of, correct
from shared.wire.rows import Movement, MovementKind

__all__ = [
    "GENESIS",
    "MAX_ENTRY_BYTES",
    "MAX_TEXT",
    "UNKNOWN_MS",
    "Anchor",
    "Boot",
    "ChainReport",
    "Entry",
    "EntryKind",
    "Timeline",
    "anchor_of",
    "annulled_by",
    "boots_of",
    "check_chain",
    "correct",
    "decode",
    "encode",
    "entry_hash",
    "follows",
    "gap_of",
    "head_message",
    "movement_of",
    "sign_head",
    "verify_head",
    "zone_of",
]

_WALKS = frozenset({EntryKind.PRESENTATION, EntryKind.BY_HAND})


def movement_of(entry: Entry, corrected_at: int) -> Movement | None:
    """The movement an entry implies: an admitted entry or exit, or an annulment; None for all others and tests."""
    if entry.mode != "real" or not entry.ticket_id:
        return None
    annuls = annulled_by(entry)
    if annuls:
        return _movement(entry, MovementKind.ANNULMENT, corrected_at, annuls)
    if entry.kind not in _WALKS or not entry.admitted:
        return None
    return _movement(entry, _WAY.get(entry.direction), corrected_at, None)


_WAY = {"entry": MovementKind.ENTRY, "exit": MovementKind.EXIT}


def annulled_by(entry: Entry) -> tuple[int, int, int] | None:
    """(device, branch, seq) of the entry that this annulment takes back; None for any other entry."""
    named: Any = entry.details.get("annuls") if entry.kind == EntryKind.ANNULMENT else None
    match named:
        case [device, branch, seq] if all(type(number) is int and 0 <= number < 2**63 for number in named):
            return device, branch, seq
    return None


def zone_of(entry: Entry) -> int:
    """The zone that was entered or left; 0 if unknown."""
    zone = entry.details.get("zone", 0)
    return zone if type(zone) is int and 0 <= zone < 2**31 else 0


def _movement(entry: Entry, kind: MovementKind | None, at: int, annuls: tuple[int, int, int] | None) -> Movement | None:
    if kind is None:
        return None
    return Movement(
        entry.device,
        entry.branch,
        entry.seq,
        kind,
        entry.ticket_id,
        entry.issue,
        entry.code_hash,
        at,
        entry.gate,
        zone_of(entry),
        annuls,
    )
