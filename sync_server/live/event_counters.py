"""The live counters of one event: admissions, occupancy, refusals, and devices that are silent."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.movements import span_of_today
from shared.snapshot import GateRow, RowKind, unpack
from sync_server.devices import queries as devices
from sync_server.devices.rules import is_silent
from sync_server.events.queries import EventHead
from sync_server.events.rules import Mark, mark
from sync_server.plumbing.event_key import EventKey
from sync_server.revisions import queries as revisions
from sync_server.scans import queries as scans
from sync_server.scans.attendance import inside
from sync_server.scans.queries import Count

_ADMITTED = frozenset({"admitted", "admitted_reentry", "admitted_override"})
_PASSED = _ADMITTED | {"exited"}


@dataclass(frozen=True, slots=True)
class GateCounters:
    """The counters of one gate."""

    number: int
    code: str
    name: str
    open: bool
    entries: int = 0
    exits: int = 0
    refused: int = 0
    inside: int = 0


@dataclass(frozen=True, slots=True)
class ZoneCounters:
    """How many are inside with tickets of one zone; 0 are those without one."""

    number: int
    inside: int


@dataclass(frozen=True, slots=True)
class EventCounters:
    """The counters of one event; `version` changes whenever any of them does."""

    version: str
    status: str
    mark: Mark | None
    entries: int
    exits: int
    refused: int
    inside: int
    conflicts: int
    devices: int
    silent: int
    silent_since: Millis | None
    gates: tuple[GateCounters, ...]
    refusals: dict[str, int] = field(default_factory=dict)
    zones: tuple[ZoneCounters, ...] = ()


def event_counters(session: Session, facts: EventHead, now: Millis) -> EventCounters:
    """The counters of an event now; the caller has checked who may see it."""
    counts = scans.counts(session, facts.key)
    occupancy = inside.occupancy(session, facts.key, _counts_from(session, facts.key, now))
    conflicts = scans.open_conflict_count(session, facts.key)
    enrolled, silent, since = _silence(session, facts, now)
    gates = _gates(session, facts.key, counts, occupancy.by_gate)
    entries, exits, refused = _sums(counts)
    numbers = (
        facts.status,
        mark(facts),
        entries,
        exits,
        refused,
        occupancy.inside,
        sorted(occupancy.by_zone.items()),
        conflicts,
        enrolled,
        silent,
        _gates_state(gates),
    )
    return EventCounters(
        version="-".join(map(str, numbers)),
        status=facts.status,
        mark=mark(facts),
        entries=entries,
        exits=exits,
        refused=refused,
        inside=occupancy.inside,
        conflicts=conflicts,
        devices=enrolled,
        silent=silent,
        silent_since=since,
        gates=gates,
        refusals=_refusals(counts),
        zones=tuple(ZoneCounters(*each) for each in sorted(occupancy.by_zone.items())),
    )


def _gates_state(gates: tuple[GateCounters, ...]) -> str:
    return "".join("o" if gate.open else "c" for gate in gates)


def _counts_from(session: Session, event: EventKey, now: Millis) -> Millis:
    """From when guests count as inside: the start of the event day, if the event empties at cut-over."""
    event_row = revisions.event_row(session, event)
    if event_row is None:
        return 0
    day_start = span_of_today(event_row.days, now)[0] if event_row.cutover_empties else 0
    return max(day_start, event_row.counts_from or 0)


def _silence(session: Session, facts: EventHead, now: Millis) -> tuple[int, int, Millis | None]:
    """How many devices are enrolled, how many of them are silent, and when one of those was last seen."""
    last_seen = devices.last_seen_at_event(session, facts.key)
    silent = [at for at in last_seen if is_silent(now, at)]
    return len(last_seen), len(silent), max((at for at in silent if at is not None), default=None)


def _sums(counts: list[Count]) -> tuple[int, int, int]:
    entries = sum(count.n for count in counts if count.reason in _ADMITTED)
    exits = sum(count.n for count in counts if count.reason == "exited")
    return entries, exits, sum(count.n for count in counts if count.reason not in _PASSED)


def _refusals(counts: list[Count]) -> dict[str, int]:
    refusals: Counter[str] = Counter()
    for count in counts:
        if count.reason not in _PASSED:
            refusals[count.reason] += count.n
    return dict(refusals.most_common())


def _gates(session: Session, event: EventKey, counts: list[Count], inside: dict[int, int]) -> tuple[GateCounters, ...]:
    rows = [unpack(row) for row in revisions.rows_now(session, event, RowKind.GATE)]
    gates = {row.number: row for row in rows if isinstance(row, GateRow)}
    numbers = sorted({*gates, *(count.gate for count in counts)})
    return tuple(_gate(number, gates.get(number), counts, inside.get(number, 0)) for number in numbers)


def _gate(number: int, row: GateRow | None, counts: list[Count], inside: int) -> GateCounters:
    entries, exits, refused = _sums([count for count in counts if count.gate == number])
    code, name = (row.code, row.name) if row else ("?", "unknown gate")
    return GateCounters(number, code, name, row.open if row else False, entries, exits, refused, inside)
