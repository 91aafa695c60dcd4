"""What a hold of one seat costs PostgreSQL, counted instead of timed: entries of indexes, and rows written in place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from sync_server.events.days.chosen_days import choose
from sync_server.holds.attempts.hold_request import HoldRequest
from sync_server.holds.attempts.hold_rows import SeatHold, hold_rows
from sync_server.holds.attempts.runtime import hold_runtime
from sync_server.holds.attempts.statement import OF_ONE_SEAT
from tests.app_server import AppServer
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event

MOST_ENTRIES = 16
"""Six of the hold and one more where holds of an address are limited, one of the seat, four of the audit line, two of
its personal part, two of the fact. None of the counter: it is changed in place."""


@pytest.fixture
def rush(postgres_url: str, tmp_path: Path) -> Iterator[SeatedEvent]:
    """An event on sale, on PostgreSQL."""
    app_server = AppServer(postgres_url, tmp_path)
    yield a_seated_event(app_server)
    app_server.close()


def written_by(sale: SeatedEvent, since: str, xid: str) -> list[str]:
    """The entries that a transaction wrote into indexes since then."""
    query = (
        "SELECT record_type FROM pg_get_wal_records_info(CAST(:since AS pg_lsn), pg_current_wal_flush_lsn()) "
        "WHERE xid = CAST(:xid AS xid) AND resource_manager = 'Btree' AND record_type ~ '^(INSERT|SPLIT)'"
    )
    return [kind for (kind,) in sale.rows(query, since=since, xid=xid)]


def test_a_hold_writes_few_entries_of_indexes(rush: SeatedEvent) -> None:
    with rush.app_server.database.writing() as session:
        session.execute(text("CREATE EXTENSION pg_walinspect"))
    guest = rush.guest()
    rush.reserve(guest, "A-1")
    rush.app_server.now += 1_000
    ((since,),) = rush.rows("SELECT CAST(pg_current_wal_insert_lsn() AS text)")
    held = rush.reserve(guest, "A-2")["hold_id"]
    ((xid,),) = rush.rows("SELECT CAST(xmin AS text) FROM holds WHERE id = CAST(:id AS uuid)", id=held)
    entries = written_by(rush, since, xid)
    assert 0 < len(entries) <= MOST_ENTRIES, entries


def test_the_statement_names_what_is_the_same_for_each_hold_of_one_seat(rush: SeatedEvent) -> None:
    """Whoever changes one of these rows is told that the statement has it as its own words."""
    parts = rush.app_server.parts
    state = hold_runtime(parts).sale_states.event(rush.organisation_id, rush.id)
    seat = state.plan.on_sale("A-1")
    assert seat is not None
    request = HoldRequest(rush.organisation_id, "guest", rush.id, "", rush.context())
    held = SeatHold(rush.id, seat, 0, choose(state.dates, ()))
    values = hold_rows(state, request, held, None).values()
    values |= {name: "actor" for name in ("personal_part",) if values[name] is None}  # this request has no address
    named = {name: "NULL" if value is None else repr(value) for name, value in values.items()}
    assert {name: named[name] for name in OF_ONE_SEAT} == dict(OF_ONE_SEAT)
