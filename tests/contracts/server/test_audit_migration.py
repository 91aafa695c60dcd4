"""A log that was written before it was sealed keeps every word, with personal values put apart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from sqlalchemy import Engine, text

from sync_server.migrations import schema
from sync_server.plumbing.database import open_engine
from tests.contracts.server.test_audit_sealing import proof, seal
from tests.office import Office

BEFORE = "0005"
OLD = (
    "INSERT INTO audit_lines (id, organisation_id, at, actor_kind, actor_id, action, subject_kind, subject_id, before, "
    "after, reason, approval, ip, user_agent, request_id) VALUES (:id, 'marquee', 1, 'user', 'olga', :action, :kind, "
    "'1', :before, :after, 'why', '', :ip, :browser, '')"
)


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    made = open_engine(database_url)
    yield made
    made.dispose()


def walk(engine: Engine, to: str, *, back: bool = False) -> None:
    with engine.execution_options(writes=True).begin() as connection:
        go = command.downgrade if back else command.upgrade
        go(schema._config(connection), to)


def old_line(engine: Engine, number: int, kind: str, ip: str = "192.0.2.7", **after: Any) -> None:
    words = {"id": f"line-{number}", "action": "x.changed", "kind": kind, "ip": ip, "browser": "Door/1" if ip else ""}
    values = {"before": "null", "after": json.dumps(after)}
    with engine.execution_options(writes=True).begin() as connection:
        connection.execute(text(OLD), words | values)


def rows(engine: Engine, table: str, order: str) -> list[dict[str, Any]]:
    with engine.connect() as connection:
        return [dict(row) for row in connection.execute(text(f"SELECT * FROM {table} ORDER BY {order}")).mappings()]


@pytest.fixture
def old(engine: Engine) -> Engine:
    """A supervisor's line, a venue's, and one of the system."""
    walk(engine, BEFORE)
    old_line(engine, 1, "supervisor", name="Sue", active=True)
    old_line(engine, 2, "venue", name="Town Hall")
    old_line(engine, 3, "event", ip="", status="live")
    return engine


def after(row: dict[str, Any]) -> Any:
    return json.loads(row["after"]) if isinstance(row["after"], str) else row["after"]


def test_personal_values_of_old_lines_go_where_they_can_be_erased(old: Engine) -> None:
    walk(old, "0006")
    first, second, third = rows(old, "audit_lines", "id")
    assert (after(first), after(second)) == ({"name": "[personal]", "active": True}, {"name": "Town Hall"})
    assert first["actor_digest"] and first["subject_digest"] and second["subject_digest"] is None
    assert third["actor_digest"] is None and after(third) == {"status": "live"}
    filed = [(row["line_id"], row["part"], json.loads(row["content"])) for row in rows(old, "audit_personal", "1, 2")]
    address = {"ip": "192.0.2.7", "user_agent": "Door/1"}
    assert filed == [
        ("line-1", "actor", address),
        ("line-1", "subject", {"before": {}, "after": {"name": "Sue"}}),
        ("line-2", "actor", address),
    ]


def test_old_lines_are_sealed_and_proved_like_new_ones(old: Engine, database_url: str, tmp_path: Path) -> None:
    office = Office(database_url, tmp_path)
    seal(office)
    found = proof(office, "marquee")
    assert (found.broken, found.reached.seq, found.erased) == (None, 3, 0)
    office.close()


def test_the_way_back_brings_every_value_back(old: Engine) -> None:
    before = rows(old, "audit_lines", "id")
    walk(old, "0006")
    walk(old, BEFORE, back=True)
    again = rows(old, "audit_lines", "id")
    assert [row | {"after": after(row), "before": None} for row in again] == [
        row | {"after": after(row), "before": None} for row in before
    ]


def test_more_old_lines_than_one_batch(engine: Engine) -> None:
    walk(engine, BEFORE)
    with engine.execution_options(writes=True).begin() as connection:
        words = {"action": "x", "kind": "event", "before": "null", "after": "null", "ip": "192.0.2.7", "browser": ""}
        connection.execute(text(OLD), [words | {"id": f"line-{number:04}"} for number in range(1_001)])
    walk(engine, "0006")
    assert len(rows(engine, "audit_personal", "1")) == 1_001
