"""The live counters of one event: admissions, occupancy, refusals, sales, and gates that are silent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.lifecycle import EventStatus
from shared.movements import span_of_today
from shared.wire.snapshot import GateRow, RowKind, unpack
from sync_server.devices import queries as devices
from sync_server.devices.rules import is_silent
from sync_server.events.queries import EventHead
from sync_server.events.rules import Mark, mark
from sync_server.holds import queries as holds
from sync_server.live.gate_words import GateWord, bounds, gate_words
from sync_server.plumbing.event_key import EventKey
from sync_server.revisions import queries as revisions
from sync_server.scans import queries as scans
from sync_server.scans.attendance import inside
from sync_server.scans.queries import Count


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
    devices: int = 0
    silent: int = 0
    unsent: int = 0
    heard_at: Millis | None = None
    silent_since: Millis | None = None


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
    sold: int
    held: int
    capacity: int  # how many may be inside; 0: no limit
    inside_least: int
    inside_most: int
    refusals: dict[str, int] = field(default_factory=dict)
    zones: tuple[ZoneCounters, ...] = ()


def event_counters(session: Session, facts: EventHead, issued: int, now: Millis) -> EventCounters:
    """The counters of an event with so many tickets now; the caller has checked who may see it."""
    counts = scans.counts(session, facts.key)
    occupancy = inside.occupancy(session, facts.key, _counts_from(session, facts.key, now))
    conflicts = scans.open_conflict_count(session, facts.key)
    held = holds.count_held(session, [facts.key], now).get(facts.id, 0)
    heard = devices.words_at_event(session, facts.key, facts.number)
    words = gate_words(heard, now, _admits_until(facts, now))
    gates = _gates(session, facts.key, counts, occupancy.by_gate, words)
    known = bounds(occupancy.inside, issued, words.values())
    entries, exits, refused = _sums(counts)
    silent = [word.heard_at for word in heard if word.heard_at is not None and is_silent(now, word.heard_at)]
    numbers = (
        facts.status,
        mark(facts),
        entries,
        exits,
        refused,
        issued,
        held,
        facts.room,
        (occupancy.inside, known.least, known.most),
        sorted(occupancy.by_zone.items()),
        conflicts,
        [_state(gate) for gate in gates],
        sorted((word.devices, word.silent) for word in words.values()),
    )
    return EventCounters(
        version=blake2b(repr(numbers).encode(), digest_size=12).hexdigest(),
        status=facts.status,
        mark=mark(facts),
        entries=entries,
        exits=exits,
        refused=refused,
        inside=occupancy.inside,
        conflicts=conflicts,
        devices=sum(word.devices for word in words.values()),
        silent=sum(word.silent for word in words.values()),
        silent_since=max(silent, default=None),
        gates=gates,
        sold=issued,
        held=held,
        capacity=facts.room,
        inside_least=known.least,
        inside_most=known.most,
        refusals=_refusals(counts),
        zones=tuple(ZoneCounters(*each) for each in sorted(occupancy.by_zone.items())),
    )


def _admits_until(facts: EventHead, now: Millis) -> Millis:
    """When gates stopped admitting: a silent one may not have heard it, but its guests come no longer."""
    return now if facts.status == EventStatus.LIVE else min(now, facts.ends_at)


def _state(gate: GateCounters) -> tuple[object, ...]:
    """What changes at a gate; when it was heard changes with each of its requests, and is worth telling once silent."""
    word = gate.devices, gate.silent, gate.unsent, gate.silent_since
    return gate.number, gate.open, gate.inside, gate.entries, gate.exits, gate.refused, *word


def _counts_from(session: Session, event: EventKey, now: Millis) -> Millis:
    """From when guests count as inside: the start of the event day, if the event empties at cut-over."""
    event_row = revisions.event_row(session, event)
    if event_row is None:
        return 0
    day_start = span_of_today(event_row.days, now)[0] if event_row.cutover_empties else 0
    return max(day_start, event_row.counts_from or 0)


def _sums(counts: list[Count]) -> tuple[int, int, int]:
    entries = sum(count.n for count in counts if count.reason in scans.ADMITTED)
    exits = sum(count.n for count in counts if count.reason == "exited")
    return entries, exits, sum(count.n for count in counts if count.reason not in scans.PASSED)


def _refusals(counts: list[Count]) -> dict[str, int]:
    refusals: Counter[str] = Counter()
    for count in counts:
        if count.reason not in scans.PASSED:
            refusals[count.reason] += count.n
    return dict(refusals.most_common())


def _gates(
    session: Session, event: EventKey, counts: list[Count], inside: dict[int, int], words: Mapping[int, GateWord]
) -> tuple[GateCounters, ...]:
    rows = [unpack(row) for row in revisions.rows_now(session, event, RowKind.GATE)]
    gates = {row.number: row for row in rows if isinstance(row, GateRow)}
    numbers = sorted({*gates, *(count.gate for count in counts)})
    return tuple(
        _gate(number, gates.get(number), counts, inside.get(number, 0), words.get(number, GateWord()))
        for number in numbers
    )


def _gate(number: int, row: GateRow | None, counts: list[Count], inside: int, word: GateWord) -> GateCounters:
    entries, exits, refused = _sums([count for count in counts if count.gate == number])
    code, name = (row.code, row.name) if row else ("?", "unknown gate")
    known = word.devices, word.silent, word.unsent, word.heard_at, word.oldest_at
    return GateCounters(number, code, name, row.open if row else False, entries, exits, refused, inside, *known)
