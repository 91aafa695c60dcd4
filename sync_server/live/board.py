"""What people watch of one event: who came, who is inside, who was refused, and which gates are silent."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.movements import span_of_today
from shared.snapshot import EventRow, GateRow, RowKind, unpack
from sync_server.devices import queries as devices
from sync_server.devices.rules import DeviceState, is_silent
from sync_server.events.queries import EventFacts
from sync_server.revisions import queries as revisions
from sync_server.scans import queries as scans
from sync_server.scans.queries import Count

_NEWEST = 2**62
_CAME_IN = frozenset({"admitted", "admitted_reentry", "admitted_override"})
_LET_THROUGH = _CAME_IN | {"exited"}


@dataclass(frozen=True, slots=True)
class GateBoard:
    """One gate's numbers."""

    number: int
    code: str
    name: str
    open: bool
    entries: int = 0
    exits: int = 0
    refused: int = 0
    inside: int = 0


@dataclass(frozen=True, slots=True)
class Board:
    """The numbers of one event at one moment; `version` changes whenever any of them does."""

    version: str
    status: str
    entries: int
    exits: int
    refused: int
    inside: int
    conflicts: int
    devices: int
    silent: int
    silent_since: Millis | None
    gates: tuple[GateBoard, ...]
    refusals: dict[str, int] = field(default_factory=dict)


def board(session: Session, facts: EventFacts, now: Millis) -> Board:
    """All numbers of an event that was looked up before."""
    counts = scans.counts(session, facts.number)
    occupancy = scans.occupancy(session, facts.number, _day_began(session, facts.number, now))
    conflicts = scans.open_conflict_counts(session, facts.organisation_id).get(facts.number, 0)
    working, silent, since = _silence(session, facts, now)
    gates = _gates(session, facts.number, counts, occupancy.by_gate)
    entries, exits, refused = _sums(counts)
    numbers = (facts.status, entries, exits, refused, occupancy.inside, conflicts, working, silent, _gates_state(gates))
    return Board(
        version="-".join(map(str, numbers)),
        status=facts.status,
        entries=entries,
        exits=exits,
        refused=refused,
        inside=occupancy.inside,
        conflicts=conflicts,
        devices=working,
        silent=silent,
        silent_since=since,
        gates=gates,
        refusals=_refusals(counts),
    )


def _gates_state(gates: tuple[GateBoard, ...]) -> str:
    return "".join("o" if gate.open else "c" for gate in gates)


def _day_began(session: Session, event: int, now: Millis) -> Millis:
    """Whoever came before the present event day has gone home, unless the event says otherwise."""
    row = revisions.row_at_revision(session, event, RowKind.EVENT, event, _NEWEST)
    known = unpack(row) if row else None
    if not isinstance(known, EventRow):
        return 0
    began = span_of_today(known.days, now)[0] if known.cutover_empties else 0
    return max(began, known.counts_from or 0)


def _silence(session: Session, facts: EventFacts, now: Millis) -> tuple[int, int, Millis | None]:
    """How many devices work here, how many of them are not heard, and when the last of those spoke."""
    views = devices.views_of_event(session, facts.organisation_id, facts.number)
    working = [view for view in views if view.state is DeviceState.ENROLLED]
    spoke = [view.report.last_seen_at if view.report else None for view in working]
    silent = [at for at in spoke if is_silent(now, at)]
    return len(working), len(silent), max((at for at in silent if at is not None), default=None)


def _sums(counts: list[Count]) -> tuple[int, int, int]:
    entries = sum(count.n for count in counts if count.reason in _CAME_IN)
    exits = sum(count.n for count in counts if count.reason == "exited")
    return entries, exits, sum(count.n for count in counts if count.reason not in _LET_THROUGH)


def _refusals(counts: list[Count]) -> dict[str, int]:
    refusals: Counter[str] = Counter()
    for count in counts:
        if count.reason not in _LET_THROUGH:
            refusals[count.reason] += count.n
    return dict(refusals.most_common())


def _gates(session: Session, event: int, counts: list[Count], inside: dict[int, int]) -> tuple[GateBoard, ...]:
    rows = [unpack(row) for row in revisions.rows_at_revision(session, event, RowKind.GATE, _NEWEST)]
    known = {row.number: row for row in rows if isinstance(row, GateRow)}
    numbers = sorted({*known, *(count.gate for count in counts)})
    return tuple(_gate(number, known.get(number), counts, inside.get(number, 0)) for number in numbers)


def _gate(number: int, row: GateRow | None, counts: list[Count], inside: int) -> GateBoard:
    entries, exits, refused = _sums([count for count in counts if count.gate == number])
    code, name = (row.code, row.name) if row else ("?", "unknown gate")
    return GateBoard(number, code, name, row.open if row else False, entries, exits, refused, inside)
