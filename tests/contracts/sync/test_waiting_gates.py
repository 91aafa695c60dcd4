"""Gates wait for changes at the streams listener, and are woken by what concerns them, wherever it was committed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from shared.wire import protocol
from sync_server.devices import queries as devices
from sync_server.devices import service as device_service
from sync_server.plumbing.messaging.shared_bus import SharedBus
from sync_server.waiting.channels import Hub
from tests.contracts.facts.memory import eventually
from tests.contracts.sync.gates import HOST, Gate
from tests.contracts.sync.world import World


@pytest.fixture(autouse=True)
def without_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that whoever is answered was woken."""
    monkeypatch.setattr(Hub, "look_every_s", lambda _: 3_600.0)


Answers = list[protocol.ChangesAnswer | protocol.ErrorBody]


@contextmanager
def waiting(world: World, gate: Gate) -> Iterator[Answers]:
    """The gate waits at the listener during the block; its answer is there afterwards."""
    _, at = gate.snapshot()
    body = protocol.encode(protocol.ChangesRequest(events=[at], wait=60))
    places, gate.connect = world.listener.app.places, world.connect_listener
    answers: Answers = []

    def ask() -> None:
        response = gate.send("POST", protocol.CHANGES, "pull", body=body)
        if response.status_code == 200:
            answers.append(protocol.decode(protocol.ChangesAnswer, response.data))
        else:
            answers.append(protocol.decode(protocol.ErrorAnswer, response.data).error)

    asking = threading.Thread(target=ask)
    asking.start()
    eventually(lambda: places.taken == 1, "the gate waits")
    yield answers
    asking.join(30)
    assert len(answers) == 1


def revisions_of(answers: Answers) -> list[int]:
    assert isinstance(answers[0], protocol.ChangesAnswer)
    return [batch.to_revision for batch in answers[0].events]


def test_a_waiting_gate_receives_a_change_at_once(world: World) -> None:
    gate = world.a_gate()
    _, at = gate.snapshot()
    with waiting(world, gate) as answers:
        world.tickets(9)
    assert revisions_of(answers) == [at.revision + 1]
    eventually(lambda: world.listener.app.places.taken == 0, "its place is free again")


def test_gates_that_wait_are_measured(world: World) -> None:
    gate = world.a_gate()
    held_open = world.parts.metrics.streams_open.labels("gate")
    with waiting(world, gate):
        eventually(lambda: held_open._value.get() == 1, "the gate is counted")
        world.tickets(9)
    eventually(lambda: held_open._value.get() == 0, "and no more once it was answered")


def test_a_gate_that_is_behind_is_answered_without_waiting(world: World) -> None:
    gate = world.a_gate()
    _, at = gate.snapshot()
    world.tickets(9)
    gate.connect = world.connect_listener
    assert [batch.to_revision for batch in gate.changes(at, wait=60).events] == [at.revision + 1]


def test_a_waiting_gate_is_answered_when_the_server_stops(world: World) -> None:
    with waiting(world, world.a_gate()) as answers:
        world.parts.stop.set()
    assert revisions_of(answers)


def test_a_waiting_gate_learns_that_its_assignments_changed(world: World) -> None:
    gate = world.a_gate()
    with waiting(world, gate) as answers, world.parts.database.writing() as session:
        device = devices.get(session, world.organisation, gate.device_id)
        device_service.assign(session, device, [], world.context())
    assert isinstance(answers[0], protocol.ChangesAnswer) and answers[0].assignments_changed


def test_a_device_revoked_while_it_waits_is_refused_at_once(world: World) -> None:
    gate = world.a_gate()
    with waiting(world, gate) as answers:
        world.revoke(gate.device_id)
    assert isinstance(answers[0], protocol.ErrorBody) and answers[0].code == "device_revoked"


def test_a_gate_at_one_process_is_woken_by_a_commit_of_another(postgres_url: str, tmp_path: Path) -> None:
    worlds = [World(postgres_url, tmp_path), World(postgres_url, tmp_path, fresh=False)]
    for each in worlds:
        bus = each.parts.bus
        assert isinstance(bus, SharedBus)
        threading.Thread(target=bus.serve, args=(each.parts.stop,), daemon=True).start()
        assert bus.joined.wait(30)
    here, there = worlds
    gate = here.a_gate()
    _, at = gate.snapshot()
    with waiting(here, gate) as answers:
        there.tickets(9)
    assert revisions_of(answers) == [at.revision + 1]
    for each in worlds:
        each.close()


def test_a_gate_that_is_refused_by_the_listener_gets_a_signed_answer(world: World) -> None:
    gate = world.a_gate()
    _, at = gate.snapshot()
    world.revoke(gate.device_id)
    gate.connect = world.connect_listener
    message = protocol.encode(protocol.ChangesRequest(events=[at], wait=60))
    assert gate.refusal("POST", protocol.CHANGES, "pull", body=message).code == "device_revoked"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, ""),  # no listener that anybody could reach
        ({"streams_address": "127.0.0.1:8001"}, f"https://{HOST}:8001"),
        ({"streams_address": "127.0.0.1:8001", "trusted_proxies": 1}, ""),  # the proxy sends waiting gates there
        ({"streams_address": "127.0.0.1:8001", "streams_url": "https://wait.example/"}, "https://wait.example"),
    ],
)
def test_hello_tells_gates_where_to_wait(
    sqlite_url: str, tmp_path: Path, settings: dict[str, object], told: str
) -> None:
    world = World(sqlite_url, tmp_path, **settings)
    assert world.a_gate().hello().waits_at == told
    world.close()


def test_an_older_gate_waits_at_the_server_and_is_answered_soon(world: World) -> None:
    """It does not know the listener: it gets an empty answer, and asks again."""
    gate = world.a_gate()
    _, at = gate.snapshot()
    assert [batch.to_revision for batch in gate.changes(at, wait=60).events] == [at.revision]
    world.tickets(9)
    assert [batch.to_revision for batch in gate.changes(at, wait=60).events] == [at.revision + 1]
