"""Sums that pages read instead of counting rows: they change in the transaction of the rows, at its very end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from sqlalchemy import CompoundSelect, Select, Table, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.plumbing.database import Database
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.bulk import insert_many
from sync_server.plumbing.sql.tables import Base

_QUEUE: Final = "sums"
Anew = Callable[[Session, EventKey], Iterable[Sequence[Any]]]
"""Counts what the sums of an event should be: the columns of their key after the event, and how many."""


def add(session: Session, table: type[Base], key: tuple[Any, ...], more: int) -> None:
    """Raise a sum, or lower it, with this transaction; `key` is its primary key, and its column is `n`."""
    sums: Counter[tuple[Any, ...]] = session.info.setdefault(_QUEUE, {}).setdefault(table, Counter())
    sums[key] += more


def wire(database: Database) -> None:
    """Write the sums before every commit of this database.

    Register it after what locks the heads of events. Sums come last and in one order everywhere: whoever waits for one
    holds nothing that its holder still needs, so that no two transactions deadlock, and the wait is that of a commit.
    """
    database.before_commit.append(_write)


def _write(session: Session, _now: Millis) -> None:
    queue: dict[type[Base], Counter[tuple[Any, ...]]] = session.info.pop(_QUEUE, {})
    for model in sorted(queue, key=lambda model: model.__tablename__):
        table = cast(Table, model.__table__)
        names = _names(model)
        changed = sorted((key, more) for key, more in queue[model].items() if more)
        rows = [dict(zip(names, key, strict=True)) | {"n": more} for key, more in changed]
        add_up = f"ON CONFLICT ({', '.join(names)}) DO UPDATE SET n = {table.name}.n + excluded.n"
        insert_many(session, model, rows, add_up)


def selected(counted: Callable[[EventKey], Select[Any, Any] | Select[Any, Any, Any] | CompoundSelect[Any]]) -> Anew:
    """Count by a statement."""
    return lambda session, event: session.execute(counted(event))


@dataclass(frozen=True, slots=True)
class Summed:
    """A table of sums of events, and how to count anew what it sums up."""

    table: type[Base]
    counted: Anew

    @property
    def name(self) -> str:
        """The name of the table."""
        return str(self.table.__tablename__)

    def differences(self, session: Session, event: EventKey) -> dict[tuple[Any, ...], int]:
        """How many more the rows of an event are than their sums say, by key; empty where every sum is right.

        The session has one snapshot of both.
        """
        names = (*_names(self.table)[2:], "n")
        stored = select(*(getattr(self.table, name) for name in names)).where(event.of(self.table))
        found: Counter[tuple[Any, ...]] = Counter()
        for *key, n in self.counted(session, event):
            found[tuple(key)] += int(n)
        for *key, n in session.execute(stored):
            found[tuple(key)] -= n
        return {(*event, *key): more for key, more in found.items() if more}

    def mend(self, session: Session, event: EventKey) -> int:
        """Set the sums of an event to what its rows say; returns how many were wrong.

        Whoever has changed rows and not committed waits for these sums, and raises what stands here then.
        """
        session.execute(select(self.table).where(event.of(self.table)).with_for_update())
        found = self.differences(session, event)
        for key, more in found.items():
            add(session, self.table, key, more)
        return len(found)


def _names(model: type[Base]) -> list[str]:
    return [str(column.name) for column in cast(Table, model.__table__).primary_key.columns]
