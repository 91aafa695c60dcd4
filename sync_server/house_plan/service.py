"""Writes the log of touched seats, and lets it go after a while."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, cast

from sqlalchemy import Table, delete, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.house_plan.models import SeatMapChange, SeatMapHead
from sync_server.plumbing.database import of
from sync_server.plumbing.principals import Deed

KEPT_MS: Final = 30 * 60_000
"""Whoever looked away for longer gets the whole state anew: some kilobytes."""
HEADS_KEPT_MS: Final = 90 * 24 * 3_600_000
_HEADS, _CHANGES = cast(Table, SeatMapHead.__table__), cast(Table, SeatMapChange.__table__)


def note(session: Session, organisation_id: str, event_id: str, seats: Collection[int] | None, now: Millis) -> int:
    """Write down that these seats (None: any) may be otherwise by now; the version that says so.

    Call it only when the change is committed: whoever reads a version must find what led to it.
    """
    return note_all(session, {(event_id, organisation_id): seats}, now)[event_id]


def note_all(
    session: Session, touched: Mapping[tuple[str, str], Collection[int] | None], now: Millis
) -> dict[str, int]:
    """The same for many, by event and organisation, at the price of one: a burst of facts touches many events."""
    if not touched:  # somebody else has paid meanwhile
        return {}
    whose = sorted(touched)  # in the order of their ids, so that no two wait for each other
    first = [
        {"event_id": event_id, "organisation_id": organisation_id, "version": 1, "oldest": 0, "changed_at": now}
        for event_id, organisation_id in whose
    ]
    dialect = sqlite if of(session).embedded else postgresql
    begun = dialect.insert(_HEADS)
    further = {"version": _HEADS.c.version + 1, "changed_at": begun.excluded.changed_at}
    raised = begun.on_conflict_do_update(index_elements=["event_id"], set_=further)
    told = session.connection().execute(raised.returning(_HEADS.c.event_id, _HEADS.c.version), first)
    versions = {row.event_id: row.version for row in told}
    changes = [
        {
            "event_id": event_id,
            "version": versions[event_id],
            "at": now,
            "seats": None if seats is None else sorted(seats),
        }
        for (event_id, _), seats in ((one, touched[one]) for one in whose)
    ]
    session.connection().execute(insert(_CHANGES), changes)
    return versions


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
