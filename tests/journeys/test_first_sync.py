"""A gate's first snapshot: frames overlap, and whatever goes wrong with one of them, the next attempt gets all."""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec
import pytest

from gate_app.snapshots.snapshot_file import SnapshotBuilder
from gate_app.sync.client import HttpRequest, HttpResponse
from shared.wire import protocol
from shared.wire.snapshot import Row
from tests.gate_builders import EVENT, GateAtHome, a_code, a_gate, the_house
from tests.journeys.syncing import sync
from tests.server_in_memory import ServerInMemory

PATIENCE_S = 60.0
TICKETS = 40


@pytest.fixture
def gate(tmp_path: Path) -> GateAtHome:
    """A gate without any rows."""
    empty = a_gate(tmp_path)
    empty.context.roster.wipe()
    return empty


@pytest.fixture
def server(gate: GateAtHome) -> ServerInMemory:
    """Its server, which sends ten rows in a frame."""
    small = ServerInMemory(gate.hands, the_house(TICKETS))
    small.frame_limit = 10
    return small


def require_everything(gate: GateAtHome, server: ServerInMemory) -> None:
    assert gate.context.roster.snapshots[EVENT].position.digest == server.digest()
    assert gate.scan(a_code(TICKETS))["reason"] == "admitted"


class RequestCount:
    """A transport that lets others wait for a number of requests."""

    def __init__(self, server: ServerInMemory) -> None:
        self._server = server
        self._count = 0
        self._sent = threading.Condition()

    def send(self, request: HttpRequest) -> HttpResponse:
        if protocol.SNAPSHOT in request.url or protocol.CHANGES in request.url:
            with self._sent:
                self._count += 1
                self._sent.notify_all()
        return self._server.send(request)

    def wait_for(self, count: int) -> bool:
        with self._sent:
            return self._sent.wait_for(lambda: self._count >= count, PATIENCE_S)


def sync_watched(gate: GateAtHome, server: ServerInMemory, ahead: int) -> None:
    """Sync, and require so many further requests under way whenever a frame is written."""
    requests, frames = RequestCount(server), -(-len(server.rows) // server.frame_limit)
    written: list[int] = []
    make_builder = gate.context.roster.builder

    def builder(event: int) -> SnapshotBuilder:
        made = make_builder(event)
        add = made.add

        def add_later(rows: list[Row]) -> None:
            asked = min(len(written) + 1 + ahead, frames)
            assert requests.wait_for(asked), "the gate writes first, and asks only then"
            add(rows)
            written.append(len(rows))

        made.add = add_later  # type: ignore[method-assign]
        return made

    gate.context.roster.builder = builder  # type: ignore[method-assign]
    assert "error" not in sync(gate, requests)
    assert len(written) == frames
    require_everything(gate, server)


def test_the_next_two_requests_are_under_way_while_a_frame_is_written(gate: GateAtHome, server: ServerInMemory) -> None:
    sync_watched(gate, server, ahead=2)
    assert server.requested_paths.count(protocol.SNAPSHOT) == -(-len(server.rows) // server.frame_limit)


class OlderServer(ServerInMemory):
    """A server that says nothing of the frame after the next one."""

    def _snapshot(self, body: bytes, query: dict[str, list[str]], device: int) -> protocol.Message:
        answer = super()._snapshot(body, query, device)
        assert isinstance(answer, protocol.SnapshotAnswer)
        return msgspec.structs.replace(answer, then=None)


def test_an_older_server_is_asked_for_one_frame_ahead(gate: GateAtHome) -> None:
    older = OlderServer(gate.hands, the_house(TICKETS))
    older.frame_limit = 10
    sync_watched(gate, older, ahead=1)


class MovingRows(ServerInMemory):
    """A server whose rows have moved whenever the frame after the next one is asked for: a guess is never right."""

    def _snapshot(self, body: bytes, query: dict[str, list[str]], device: int) -> protocol.Message:
        answer = super()._snapshot(body, query, device)
        assert isinstance(answer, protocol.SnapshotAnswer)
        kind, key = protocol.read_row_mark(answer.then or "")
        return msgspec.structs.replace(answer, then=protocol.row_mark(kind, key - 1) if answer.then else None)


def test_rows_that_come_or_go_while_frames_are_fetched_ahead_cost_only_requests(gate: GateAtHome) -> None:
    moving = MovingRows(gate.hands, the_house(TICKETS))
    moving.frame_limit = 10
    assert "error" not in sync(gate, moving)
    require_everything(gate, moving)


class Marking(ServerInMemory):
    """A server that notes after which row each frame was asked for."""

    asked: frozenset[str] = frozenset()

    def _snapshot(self, body: bytes, query: dict[str, list[str]], device: int) -> protocol.Message:
        self.asked |= {*query.get("after", [""])}
        return super()._snapshot(body, query, device)


def test_a_connection_lost_in_the_middle_goes_on_at_the_same_frame(gate: GateAtHome) -> None:
    """No frame that was written down is asked for again; one that was sent ahead may be."""
    server = Marking(gate.hands, the_house(TICKETS))
    server.frame_limit, server.cut_after_frames = 10, 4
    puller, _ = gate.context.sync(server, 0)
    puller.run_once()  # the greeting
    written = 0
    with pytest.raises(Exception, match="connection was lost"):
        while True:
            puller.run_once()
            written += 1
    assert 2 <= written <= 4
    server.cut_after_frames, server.asked = None, frozenset()
    puller.exchange.greet_again()
    while not puller.exchange.idle:
        puller.run_once()
    assert len(server.asked) == -(-len(server.rows) // server.frame_limit) - written
    require_everything(gate, server)


class OneBadFrame(ServerInMemory):
    """A server whose second frame is damaged, once, though it is signed."""

    sent = 0

    def _snapshot(self, body: bytes, query: dict[str, list[str]], device: int) -> protocol.Message:
        answer = super()._snapshot(body, query, device)
        assert isinstance(answer, protocol.SnapshotAnswer)
        self.sent += 1
        return msgspec.structs.replace(answer, frame=answer.frame[:-1]) if self.sent == 2 else answer


def test_after_a_damaged_frame_the_snapshot_is_fetched_from_the_beginning(gate: GateAtHome) -> None:
    server = OneBadFrame(gate.hands, the_house(TICKETS))
    server.frame_limit = 10
    puller, _ = gate.context.sync(server, 0)
    with pytest.raises(Exception, match="damaged"):
        while True:
            puller.run_once()
    puller.exchange.greet_again()
    while not puller.exchange.idle:
        puller.run_once()
    require_everything(gate, server)


def test_a_disk_that_was_full_for_a_moment(gate: GateAtHome) -> None:
    server = ServerInMemory(gate.hands, the_house(10 * TICKETS))
    server.frame_limit = 100
    puller, _ = gate.context.sync(server, 0)
    make_builder = gate.context.roster.builder

    def builder(event: int) -> SnapshotBuilder:
        made = make_builder(event)
        (pages,) = made.file.connection.execute("PRAGMA page_count").fetchone()
        made.file.connection.execute(f"PRAGMA max_page_count = {pages}")
        return made

    gate.context.roster.builder = builder  # type: ignore[method-assign]
    with pytest.raises(Exception, match="full"):
        while True:
            puller.run_once()
    gate.context.roster.builder = make_builder  # type: ignore[method-assign]
    puller.exchange.greet_again()
    while not puller.exchange.idle:
        puller.run_once()
    require_everything(gate, server)
