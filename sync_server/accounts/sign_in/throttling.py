"""Slows down who tries too often: more with each attempt, and never anybody else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from sqlalchemy import case, delete, select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import TooMany
from sync_server.accounts.models import ThrottleRow
from sync_server.accounts.rules import Limit, wait_after
from sync_server.plumbing.database import Database
from sync_server.plumbing.sql import writes


@dataclass(frozen=True, slots=True)
class Tried:
    """Who tries what, under which limit."""

    limit: Limit
    who: str

    @property
    def key(self) -> bytes:
        """The key under which it is counted, without storing who it is."""
        return sha256(f"{self.limit.name}\x00{self.who}".encode()).digest()


def check(database: Database, tried: Sequence[Tried], now: Millis, message: str) -> None:
    """Count an attempt, or raise TooMany and count nothing. Committed, whatever becomes of the attempt.

    Counted before anything is checked: otherwise concurrent guesses would all get past the limit.
    """
    with database.writing() as session:
        wait = count(session, tried, now)
    if wait:
        seconds = -(-wait // 1000)
        raise TooMany(message.format(seconds=seconds), retry_after=seconds)


def count(session: Session, tried: Sequence[Tried], now: Millis) -> Millis:
    """Count an attempt under all its limits; or, while one of them says to wait, say how long and count nothing."""
    limits = {each.key: each.limit for each in tried}
    fresh = [{"key": key, "count": 0, "wait_until": 0, "last_at": now} for key in sorted(limits)]
    session.execute(writes.insert(session, ThrottleRow).values(fresh).on_conflict_do_nothing())
    query = select(ThrottleRow).where(ThrottleRow.key.in_(limits)).order_by(ThrottleRow.key).with_for_update()
    rows = session.scalars(query.execution_options(populate_existing=True)).all()
    wait = max(row.wait_until - now for row in rows)
    if wait > 0:
        return wait
    for row in rows:
        limit = limits[row.key]
        row.count = row.count + 1 if now - row.last_at <= limit.forget_ms else 1
        # Not `now` where nobody has to wait: the clock of another request may have been read a little earlier.
        pause = wait_after(limit, row.count)
        row.wait_until, row.last_at = now + pause if pause else 0, now
    session.flush()
    return 0


def forget(session: Session, tried: Sequence[Tried]) -> None:
    """Forget all attempts under these limits: the last one was right."""
    session.execute(delete(ThrottleRow).where(ThrottleRow.key.in_([each.key for each in tried])))


def take_back(session: Session, tried: Tried) -> None:
    """Count an attempt that was right as none; those before it stay, or a guesser with a login would clear them."""
    row = ThrottleRow
    free = row.count - 1 < tried.limit.free  # many that are right, at the same moment, make nobody wait
    left = {"count": row.count - 1, "wait_until": case((free, 0), else_=row.wait_until)}
    session.execute(update(row).where(row.key == tried.key, row.count > 0).values(left))


def delete_old(session: Session, now: Millis) -> None:
    """Delete what no limit remembers any longer."""
    session.execute(delete(ThrottleRow).where(ThrottleRow.last_at < now - 24 * 3_600_000, ThrottleRow.wait_until < now))
