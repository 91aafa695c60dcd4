"""How far gates are behind is a measure, and so is how much of the pool for single statements is used."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sync_server.monitoring.gate_lag import HEARD_WITHIN_MS, GateLag, gate_lag
from sync_server.plumbing.sql.autocommit import CONNECTIONS, numbered
from tests.app_server import AppServer
from tests.contracts.facts.memory import eventually
from tests.contracts.sync.world import World


@pytest.fixture
def world(database_url: str, tmp_path: Path) -> Iterator[World]:
    made = World(database_url, tmp_path)
    yield made
    made.close()


def lag(world: World) -> GateLag:
    with world.parts.database.reading() as session:
        return gate_lag(session, world.now)


def test_scans_that_a_gate_has_not_delivered_are_lag_until_they_are(world: World) -> None:
    gate, prompt = world.a_gate(), world.a_gate("Other")
    for each in (prompt, gate):
        each.admit(1)
        each.upload()
    delivered_at = world.now
    gate.admit(2)
    world.advance(minutes=7)
    gate.hello()
    assert lag(world).undelivered_ms == world.now - delivered_at >= 7 * 60_000
    gate.upload()
    assert lag(world).undelivered_ms == 0
    gate.admit(3)
    gate.hello()
    world.advance(minutes=HEARD_WITHIN_MS // 60_000 + 1)
    assert lag(world) == GateLag(), "it is put away"


def test_a_gate_that_never_delivered_is_behind_since_it_was_enrolled(world: World) -> None:
    gate = world.a_gate()
    enrolled_at = world.now
    gate.admit(1)
    world.advance(minutes=3)
    gate.hello()
    assert lag(world).undelivered_ms == world.now - enrolled_at


def test_changes_that_a_gate_has_not_fetched_are_counted(world: World) -> None:
    gate = world.a_gate()
    _, at = gate.snapshot()
    gate.changes(at)
    behind = lag(world).revisions
    world.tickets(9)
    world.tickets(10)
    assert lag(world).revisions == behind + 2
    (batch,) = gate.changes(at).events
    gate.changes(type(at)(event=at.event, lineage=at.lineage, revision=batch.to_revision))
    assert lag(world).revisions == 0


def test_both_are_served(world: World) -> None:
    gate = world.a_gate()
    gate.admit(1)
    world.advance(minutes=5)
    gate.hello()
    lines = world.parts.metrics.text().decode().splitlines()
    values = {name: float(value) for name, _, value in (line.partition(" ") for line in lines if line[0] != "#")}
    assert values["gatehouse_gates_undelivered_seconds"] >= 300
    assert "gatehouse_gates_behind_revisions" in values


def test_connections_for_single_statements_are_counted(postgres_url: str, tmp_path: Path) -> None:
    app_server = AppServer(postgres_url, tmp_path)
    pool, metrics = app_server.database.autocommit, app_server.parts.metrics

    def connections(state: str) -> float | None:
        metrics.text()
        return metrics.registry.get_sample_value("gatehouse_autocommit_connections", {"state": state})

    assert pool is not None
    sleeping = [
        threading.Thread(target=pool.row, args=(numbered("SELECT pg_sleep(1.5)"), {})) for _ in range(CONNECTIONS + 1)
    ]
    for each in sleeping:
        each.start()
    eventually(lambda: (connections("in_use"), connections("waiting")) == (CONNECTIONS, 1), "one has to wait")
    for each in sleeping:
        each.join()
    assert (connections("in_use"), connections("most"), connections("waiting")) == (0, CONNECTIONS, 0)
    app_server.close()
