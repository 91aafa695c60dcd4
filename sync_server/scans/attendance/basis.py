"""What the sums of an event's movements rest on: its days, since when it counts, and which places are limited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import msgspec
from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.movements import span_of_today
from shared.verdicts.capacity import COUNTED_ZONES
from shared.wire.rows import EventDay, EventRow, GateRow, ZoneRow
from shared.wire.snapshot import RowKind, unpack
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql import writes
from sync_server.revisions import queries as revisions
from sync_server.scans.models import SumBasis

ALL_TIME: Final = 0
"""Instead of the beginning of a day, where nobody has left at the cut-over."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many each limited place holds."""

    zones: Mapping[int, int]
    gates: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Basis:
    """How movements are counted. Sums of another basis say nothing: they are counted anew."""

    days: tuple[EventDay, ...] = ()
    cutover_empties: bool = True
    counts_from: Millis | None = None
    zones: tuple[int, ...] = ()  # those with a limit, in order
    gates: tuple[int, ...] = ()

    def counts(self, at: Millis) -> bool:
        """Whether a movement of that time counts: not from before the venue was emptied."""
        return self.counts_from is None or at >= self.counts_from

    def day_of(self, at: Millis) -> Millis:
        """The beginning of the stretch of time at whose end everybody has left."""
        return span_of_today(self.days, at)[0] if self.cutover_empties else ALL_TIME

    def limits(self, gate: int, zone: int) -> bool:
        """Whether a place on this way has a limit."""
        return zone in self.zones or gate in self.gates

    def of_these(self, limits: Limits) -> Limits:
        """The limits of places that are counted; one that has just got its first has no sums yet."""
        zones = {zone: limit for zone, limit in limits.zones.items() if zone in self.zones}
        return Limits(zones, {gate: limit for gate, limit in limits.gates.items() if gate in self.gates})

    @property
    def rules(self) -> Basis:
        """The same whatever the limits."""
        return Basis(self.days, self.cutover_empties, self.counts_from)


def rules_of(event: EventRow) -> Basis:
    """How an event's movements are counted, whatever its limits."""
    return Basis(event.days, event.cutover_empties, event.counts_from)


def limits_of(session: Session, event: EventKey) -> Limits:
    """Capacities by zone and gate; zones with reserved seats have none."""
    rows = [unpack(row) for kind in (RowKind.ZONE, RowKind.GATE) for row in revisions.rows_now(session, event, kind)]
    zones = [row for row in rows if isinstance(row, ZoneRow) and row.kind in COUNTED_ZONES]
    gates = [row for row in rows if isinstance(row, GateRow)]
    return Limits(
        {zone.number: zone.capacity for zone in zones if zone.capacity is not None},
        {gate.number: gate.capacity for gate in gates if gate.capacity is not None},
    )


def current_rules(session: Session, event: EventKey) -> Basis:
    """How movements should be counted, by the event's row."""
    row = revisions.event_row(session, event)
    return Basis() if row is None else rules_of(row)


def current(session: Session, event: EventKey) -> Basis:
    """What sums should rest on, by the event's rows."""
    rules, limits = current_rules(session, event), limits_of(session, event)
    return Basis(
        rules.days, rules.cutover_empties, rules.counts_from, tuple(sorted(limits.zones)), tuple(sorted(limits.gates))
    )


def stored(session: Session, event: EventKey) -> Basis | None:
    """What the sums rest on; None where there are none."""
    text = session.scalar(select(SumBasis.basis).where(event.of(SumBasis)))
    return None if text is None else _read(text)


def held(session: Session, event: EventKey) -> Basis:
    """What the sums rest on, until this transaction ends: take it before a ticket is locked."""
    here = select(SumBasis.basis).where(event.of(SumBasis)).with_for_update(read=True, key_share=True)
    text = session.scalar(here)
    if text is None:
        first = event._asdict() | {"basis": _written(current(session, event)), "round": 0}
        session.execute(writes.insert(session, SumBasis).values(first).on_conflict_do_nothing())
        text = session.scalars(here).one()
    return _read(text)


def replace(session: Session, event: EventKey) -> Basis | None:
    """Put the sums on the event's rows as they are now; returns that if they rested on something else.

    Whoever changes sums has finished, and who comes waits. The caller counts anew.
    """
    row = session.scalar(select(SumBasis).where(event.of(SumBasis)).with_for_update())
    wanted = current(session, event)
    if row is None or _read(row.basis) == wanted:
        return None
    row.basis, row.round = _written(wanted), row.round + 1
    return wanted


def _written(basis: Basis) -> str:
    return msgspec.json.encode(basis).decode()


@lru_cache(maxsize=256)
def _read(text: str) -> Basis:
    return msgspec.json.decode(text, type=Basis)
