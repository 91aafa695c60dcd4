"""The nightly check: one worker of all does it, once a day, a table at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
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
from sync_server.watch.said_ids import Turn, Walk, walks

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


def everywhere() -> Iterator[Pointer]:
    """All ways that lead from table to table."""
    return pointers(Base.metadata)


def all_walks() -> Iterator[Walk]:
    """All tables that say ids inside their columns."""
    return walks(Base.metadata)


def look_at_once(session: Session, now: Millis) -> Iterator[Finding]:
    """Everything that points abroad, in one go; nothing is written down."""
    for pointer in everywhere():
        yield from found(session, pointer)
    for walk in all_walks():
        turn: Turn = walk.turn(session, None, now)
        yield from turn.abroad
        while turn.last is not None:
            turn = walk.turn(session, turn.last, now)
            yield from turn.abroad


def write_down(session: Session, there: Sequence[Finding], now: Millis) -> None:
    """Keep what is new, and say so in the log."""
    for one in there:
        if session.get(FindingRow, (one.place, one.row)) is None:
            LOG.error("row_points_abroad", place=one.place, row=one.row, organisation_id=one.organisation_id)
            session.add(
                FindingRow(
                    place=one.place,
                    row=one.row,
                    organisation_id=one.organisation_id,
                    points_to=one.points_to,
                    found_at=now,
                )
            )
    session.flush()


def strike_out(session: Session, place: str, there: AbstractSet[str]) -> None:
    """Forget what is mended: rows of this place that were found once, and not this time."""
    known = set(session.execute(select(FindingRow.row).where(FindingRow.place == place)).scalars())
    if known - there:
        session.execute(delete(FindingRow).where(FindingRow.place == place, FindingRow.row.in_(known - there)))


def close(session: Session, wrong_times: int, now: Millis) -> None:
    """Write down that the check is through, and what is only counted once a night."""
    abroad = len(queries.findings(session))
    session.merge(CheckRow(name=NIGHTLY, ran_at=now, findings=abroad))
    session.merge(CheckRow(name=WRONG_TIMES, ran_at=now, findings=wrong_times))
    session.flush()
    LOG.info("nightly_check", points_abroad=abroad, times_in_wrong_order=wrong_times)
