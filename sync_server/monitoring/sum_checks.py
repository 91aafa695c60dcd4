"""Compares the sums that pages read with the rows that they sum up: once a night, one event after another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from shared.ids import NIL_ID
from sync_server.checkout.filing import filed
from sync_server.events import queries as events
from sync_server.holds.endings import outcomes
from sync_server.monitoring import service
from sync_server.plumbing.database import Database
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.jobs import MORE
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sums import Summed
from sync_server.plumbing.telemetry.logs import LOG
from sync_server.scans.attendance import flows, inside
from sync_server.tickets import ticket_counts

ALL_SUMS: Final[tuple[Summed, ...]] = (
    ticket_counts.SUMS,
    outcomes.SUMS,
    filed.ORDERS,
    filed.SALES,
    inside.SUMS,
    flows.FLOWS,
    flows.DAYS,
)
EVERY_MS: Final = 600_000
"""How often a worker asks whether another has checked within a day."""
PIECE: Final = 200
"""Events of one turn, so that other heavy work is not kept waiting."""
_FIRST: Final = EventKey(NIL_ID, NIL_ID)


class SumCheck:
    """Goes through all events whose rows are in the tables."""

    def __init__(self) -> None:
        self._next: EventKey | None = None
        self._found = 0

    def run(self, database: Database, context: ActionContext) -> object:
        """Job: check some events; MORE while there are any left. What is wrong is logged, and put right."""
        if self._next is None:
            with database.writing() as session:
                if not service.claim(session, context.now, service.SUMS):
                    return None
            self._next, self._found = _FIRST, 0
        keys = _events_after(database, self._next)
        self._found += sum(_mended(database, event, each) for event in keys for each in ALL_SUMS)
        if len(keys) == PIECE:
            self._next = keys[-1]
            return MORE
        self._next = None
        with database.writing() as session:
            service.finish_sums(session, self._found, context.now)
        return None


def wrong(database: Database) -> Iterator[tuple[EventKey, str]]:
    """The events and tables with sums that are not those of their rows, now."""
    keys = _events_after(database, _FIRST)
    while keys:
        for event in keys:
            with database.reading() as session:
                yield from ((event, each.name) for each in ALL_SUMS if each.differences(session, event))
        keys = _events_after(database, keys[-1])


def _events_after(database: Database, last: EventKey) -> list[EventKey]:
    with database.reading() as session:
        return events.keys_in_tables(session, last, PIECE)


def _mended(database: Database, event: EventKey, each: Summed) -> int:
    with database.reading() as session:
        if not each.differences(session, event):
            return 0
    with database.writing() as session:
        count = each.mend(session, event)
    LOG.error(
        "sums_differ", table=each.name, organisation_id=event.organisation_id, event_id=event.event_id, sums=count
    )
    return count
