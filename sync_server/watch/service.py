"""The nightly check: one worker of all does it, once a day, a table at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.tables import Base
from sync_server.watch import queries
from sync_server.watch.crossings import Finding, Pointer, found, pointers
from sync_server.watch.models import CheckRow, FindingRow

NIGHTLY: Final = "nightly"
WRONG_TIMES: Final = "times_in_wrong_order"
DAY_MS: Final[Millis] = 24 * 3_600_000


def claim(session: Session, now: Millis, name: str = NIGHTLY, every_ms: Millis = DAY_MS) -> bool:
    """Whether it is this worker's turn: the time has gone by, and nobody else has begun."""
    # A clock that was ahead must not keep everybody waiting until its time has come.
    due = (CheckRow.ran_at <= now - every_ms) | (CheckRow.ran_at > now + every_ms)
    late = update(CheckRow).where(CheckRow.name == name, due).values(ran_at=now)
    if session.execute(late.returning(CheckRow.name)).first() is not None:
        return True
    if queries.last_check(session, name) is not None:
        return False
    try:
        with session.begin_nested():
            session.add(CheckRow(name=name, ran_at=now, findings=0))
    except IntegrityError:
        return False  # another worker was quicker
    return True


def everywhere() -> list[Pointer]:
    """All ways that are gone through."""
    return list(pointers(Base.metadata))


def look(session: Session, pointer: Pointer, now: Millis) -> int:
    """Go one way, write down what is new and strike out what is mended; how much points abroad."""
    there = {(one.place, one.row): one for one in found(session, pointer)}
    known = set(session.execute(select(FindingRow.row).where(FindingRow.place == pointer.place)).scalars())
    mended = known - {row for _, row in there}
    if mended:
        session.execute(delete(FindingRow).where(FindingRow.place == pointer.place, FindingRow.row.in_(mended)))
    _write_down(session, [one for one in there.values() if one.row not in known], now)
    return len(there)


def _write_down(session: Session, new: Sequence[Finding], now: Millis) -> None:
    for one in new:
        LOG.error("row_points_abroad", place=one.place, row=one.row, organisation_id=one.organisation_id)
        session.add(FindingRow(place=one.place, row=one.row, organisation_id=one.organisation_id,
            points_to=one.points_to, found_at=now))  # fmt: skip
    session.flush()


def close(session: Session, abroad: int, wrong_times: int, now: Millis) -> None:
    """Write down that the check is through, and what is only counted once a night."""
    session.merge(CheckRow(name=NIGHTLY, ran_at=now, findings=abroad))
    session.merge(CheckRow(name=WRONG_TIMES, ran_at=now, findings=wrong_times))
    session.flush()
    LOG.info("nightly_check", points_abroad=abroad, times_in_wrong_order=wrong_times)
