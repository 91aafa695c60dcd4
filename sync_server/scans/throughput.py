"""How many people gates let in and out, and how many they refused, by time: read from the scans themselves."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, case, func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.plumbing.event_key import EventKey
from sync_server.scans.models import ScanEntry
from sync_server.scans.queries import ADMITTED, PASSED, PRESENTED


@dataclass(frozen=True, slots=True)
class Stretch:
    """What one gate did in one stretch of time."""

    gate: int
    starts: Millis
    entries: int
    exits: int
    refused: int


def by_gate(
    session: Session, event: EventKey, length: Millis, since: Millis = 0, until: Millis | None = None
) -> list[Stretch]:
    """The stretches of that length in which something happened, in order; test scans do not count."""
    row = ScanEntry
    starts = (row.at // length * length).label("starts")
    counted = event.of(row), row.kind.in_(PRESENTED), ~row.quarantined, ~row.test, row.at >= since
    later = () if until is None else (row.at < until,)
    columns = (
        _sum(row.reason.in_(ADMITTED)),
        _sum(row.reason == "exited"),
        _sum(row.reason.not_in(PASSED)),
    )
    wanted = select(row.gate, starts, *columns).where(*counted, *later).group_by("starts", row.gate)
    found = session.execute(wanted.order_by("starts", row.gate)).all()
    return [Stretch(gate, at, int(entries), int(exits), int(refused)) for gate, at, entries, exits, refused in found]


def _sum(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((condition, 1), else_=0))
