"""Two threads keep a gate synchronised, independent of each other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gate_app.sync.worker import Worker
from shared.wire.snapshot import TicketState
from tests.gate_builders import EVENT, GateAtHome, a_code, a_gate, a_ticket_row, the_house
from tests.server_in_memory import ServerInMemory

PATIENCE_S = 60.0


class Talk:
    """The worker's reports, with a condition to wait for them."""

    def __init__(self) -> None:
        self.messages: list[str] = []
        self._said = threading.Condition()

    def report(self, message: str) -> None:
        with self._said:
            self.messages.append(message)
            self._said.notify_all()

    def wait_for(self, message: str) -> None:
        with self._said:
            assert self._said.wait_for(lambda: message in self.messages, PATIENCE_S), f"never said: {message}"


@pytest.fixture
def gate(tmp_path: Path) -> GateAtHome:
    return a_gate(tmp_path)


@pytest.fixture
def server(gate: GateAtHome) -> ServerInMemory:
    return ServerInMemory(gate.hands, the_house())


@pytest.fixture
def talk() -> Talk:
    return Talk()


@pytest.fixture
def stop(gate: GateAtHome, server: ServerInMemory, talk: Talk) -> Iterator[threading.Event]:
    """A worker at work until the test ends."""
    stopping = threading.Event()
    puller, pusher = gate.context.sync(server, 0)
    worker = Worker(
        puller=puller,
        pusher=pusher,
        sync_state=gate.context.sync_state,
        stop=stopping,
        jitter=lambda: 0.0,
        report=talk.report,
        push_every_s=0.01,
    )
    worker.start()
    yield stopping
    stopping.set()
    worker.join(PATIENCE_S)


def until(holds: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(int(PATIENCE_S / 0.01)):
        if holds():
            return
        pause.wait(0.01)
    pytest.fail("it never came to hold")


def test_a_cancellation_reaches_the_gate_while_it_scans(
    gate: GateAtHome, server: ServerInMemory, stop: threading.Event
) -> None:
    until(lambda: gate.context.roster.snapshots[EVENT].position.revision == server.revision)
    with server.lock:
        server.put(a_ticket_row(1, state=TicketState.CANCELLED))
    until(lambda: gate.context.roster.snapshots[EVENT].position.revision == server.revision)
    assert gate.scan(a_code(1))["reason"] == "ticket_cancelled"


def test_scans_arrive_without_anybody_asking(gate: GateAtHome, server: ServerInMemory, stop: threading.Event) -> None:
    for number in (1, 2, 3):
        gate.scan(a_code(number))
    until(lambda: gate.context.journal.unsent() == 0)
    held = next(iter(server.entries.values()))
    assert len(held) == gate.context.journal.head.seq


def test_a_silence_is_reported_once_and_its_end_too(
    gate: GateAtHome, server: ServerInMemory, talk: Talk, stop: threading.Event
) -> None:
    until(lambda: gate.context.sync_state.online)
    server.online = False
    talk.wait_for("The network is down.")
    until(lambda: not gate.context.sync_state.online)
    gate.scan(a_code(1))
    server.online = True
    talk.wait_for("")
    until(lambda: gate.context.journal.unsent() == 0)


def test_uploads_that_are_refused_do_not_stop_downloads(
    gate: GateAtHome, server: ServerInMemory, stop: threading.Event
) -> None:
    server.alter = lambda response: (
        replace(response, headers={}) if server.requested_paths[-1].endswith("journal") else response
    )
    gate.scan(a_code(1))
    with server.lock:
        server.put(a_ticket_row(2, state=TicketState.BLOCKED))
    until(lambda: gate.context.roster.snapshots[EVENT].position.revision == server.revision)
    assert gate.scan(a_code(2))["reason"] == "ticket_blocked"
    assert gate.context.journal.unsent() > 0
    server.alter = lambda response: response
    until(lambda: gate.context.journal.unsent() == 0)
