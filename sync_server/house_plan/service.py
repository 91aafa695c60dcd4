"""Writes the log of touched seats, and lets it go after a while."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.house_plan.models import SeatMapChange, SeatMapHead
from sync_server.plumbing.database import of
from sync_server.plumbing.principals import Deed

KEPT_MS: Final = 30 * 60_000
"""Whoever looked away for longer gets the whole state anew: some kilobytes."""
HEADS_KEPT_MS: Final = 90 * 24 * 3_600_000


def note(session: Session, organisation_id: str, event_id: str, seats: Collection[int] | None, now: Millis) -> int:
    """Write down that these seats (None: any) may be otherwise by now; the version that says so.

    Call it only when the change is committed: whoever reads a version must find what led to it. For several events
    in the order of their ids, so that no two wait for each other.
    """
    first = {
        "event_id": event_id, "organisation_id": organisation_id, "version": 0, "oldest": 0, "changed_at": now,
    }  # fmt: skip
    dialect = sqlite if of(session).embedded else postgresql
    session.execute(dialect.insert(SeatMapHead).values(first).on_conflict_do_nothing())
    raised = (
        update(SeatMapHead)
        .where(SeatMapHead.event_id == event_id)
        .values(version=SeatMapHead.version + 1, changed_at=now)
        .returning(SeatMapHead.version)
        .execution_options(synchronize_session=False)
    )
    version = session.execute(raised).scalar_one()
    told = None if seats is None else sorted(seats)
    session.add(SeatMapChange(event_id=event_id, version=version, at=now, seats=told))
    session.flush()
    return version


def forget_old(session: Session, deed: Deed) -> int:
    """Drop what was told long ago; how much that was."""
    old = SeatMapChange.at < deed.now - KEPT_MS
    gone = session.execute(
        select(SeatMapChange.event_id, func.max(SeatMapChange.version)).where(old).group_by(SeatMapChange.event_id)
    ).all()
    for event_id, version in sorted(gone):
        mine = SeatMapHead.event_id == event_id
        session.execute(update(SeatMapHead).where(mine, SeatMapHead.oldest < version).values(oldest=version))
        session.execute(
            delete(SeatMapChange).where(SeatMapChange.event_id == event_id, SeatMapChange.version <= version)
        )
    session.execute(delete(SeatMapHead).where(SeatMapHead.changed_at < deed.now - HEADS_KEPT_MS))
    return len(gone)
