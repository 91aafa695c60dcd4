"""The statements of a rush find their rows by index, though PostgreSQL may plan them while all tables are empty."""

from __future__ import annotations

import re

import psycopg
import pytest

from sync_server.holds.attempts import crowd_statement, group_statement, statement
from sync_server.plumbing.sql.autocommit import NumberedStatement

OPTIONS = "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off"
ONE_COLUMN_IS_ENOUGH = {"pk_seating_policies", "ix_events_public_id", "ix_holds_held_until"}
_ACCESS = re.compile(r"Scan using (\w+) on [^\n]*\n +Index Cond: ([^\n]*)")


@pytest.mark.parametrize(
    "hot",
    [
        *statement.READ_AND_WRITE.values(),
        *statement.HURRIED.values(),
        *crowd_statement.READ_AND_WRITE.values(),
        statement.TAKEN_NOW,
        group_statement.READ_AND_WRITE,
    ],
)
def test_no_statement_reads_all_rows_of_an_organisation_or_all_taken_seats_of_an_event(
    postgres_url: str, hot: NumberedStatement
) -> None:
    with psycopg.connect(postgres_url, options=OPTIONS, autocommit=True) as connection:
        connection.execute(b"PREPARE hot AS " + hot.text)
        values = ", ".join(["NULL"] * len(hot.names))
        rows = connection.execute(f"EXPLAIN EXECUTE hot ({values})".encode()).fetchall()
    plan = "\n".join(row[0] for row in rows)
    accesses = _ACCESS.findall(plan)
    assert "Seq Scan" not in plan and len(accesses) >= 2
    assert {index for index, condition in accesses if " AND " not in condition} <= ONE_COLUMN_IS_ENOUGH, plan
    assert all("seat" in condition for index, condition in accesses if index == "pk_event_seats"), plan
