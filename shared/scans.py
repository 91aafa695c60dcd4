"""The journal entry, its canonical bytes, and the hash chain that binds entries together."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class EntryKind(StrEnum):
    """What an entry tells of. Unknown kinds are kept, chained, passed on, and ignored in decisions."""

    PRESENTATION = "presentation"
    BY_HAND = "by_hand"
    ANNULMENT = "annulment"
    DOORS = "doors"
    MODE = "mode"
    OPERATOR = "operator"
    TIME_ANCHOR = "time_anchor"
    BOOT = "boot"
    GAP = "gap"
    COUNT_CORRECTION = "count_correction"
    SEAT_ASSIGNED = "seat_assigned"
    PIN_FAILURE = "pin_failure"
    LAMP = "lamp"  # never chained: the mark lives beside the entry
    BRANCH = "branch"
    SUPPRESSED = "suppressed"  # how many identical unreadable texts were not written one by one


GENESIS = bytes(32)
"""What the first entry of a branch that continues nothing names as its predecessor."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a device's journal. The place of a field is its place in the canonical bytes; fields are only appended."""

    device: int
    branch: int
    seq: int
    kind: str
    event: int  # event number, 0: none
    gate: int
    reader: str
    operator: str
    ticket_id: int  # 0: none
    issue: int
    code_hash: bytes  # 16 bytes, b"" where there was no code of ours
    direction: str
    mode: str
    admitted: bool
    reason: str
    notices: tuple[str, ...]
    override_by: int  # supervisor's number, 0: none
    override_reason: str
    override_denial: str  # the reason that was overridden
    wall: int  # device wall clock, ms
    monotonic: int  # ms since boot
    boot: bytes  # 8 bytes
    offset: int  # estimated true time minus wall, ms
    uncertainty: int  # ms
    lineage: bytes
    revision: int
    digest: bytes
    previous: bytes  # 32 bytes
    details: dict[str, Any] = field(default_factory=dict)
