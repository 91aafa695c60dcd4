"""Streams deliver changes at once, resume where they left off, and end with the event or the server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import Any

import orjson
import pytest

from tests.app_server import AppServer
from tests.builders import MINUTE
from tests.contracts.seat_maps.mapped_event import FREE, TAKEN, MappedEvent, Page, a_mapped_event

TIMEOUT_S = 30


class Stream:
    """An open stream of changes, read on a thread of its own."""

    def __init__(self, page: Page, **headers: str) -> None:
        path = f"{page.mapped.path}/changes?since={page.version}"
        sent = page.api.headers | {"Accept": "text/event-stream"} | headers
        self.response = page.api.client.get(path, headers=sent, buffered=False)
        self.events: Queue[tuple[str, dict[str, Any]] | None] = Queue()
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self) -> None:
        for chunk in self.response.response:
            text = chunk.decode() if isinstance(chunk, bytes) else str(chunk)
            if text.startswith("event: "):
                name, _, payload = text.partition("\n")
                self.events.put((name.removeprefix("event: "), orjson.loads(payload.partition("data: ")[2])))
        self.events.put(None)

    def next(self) -> tuple[str, dict[str, Any]] | None:
        """The next event; None at the end."""
        return self.events.get(timeout=TIMEOUT_S)

    def close(self) -> None:
        self.response.close()

    def end(self) -> None:
        """Read everything, then close; the server must be stopping."""
        while self.next() is not None:
            continue
        self.close()


@contextmanager
def reading(page: Page, **headers: str) -> Iterator[Stream]:
    """A stream that ends with the block."""
    stream = Stream(page, **headers)
    yield stream
    page.mapped.app_server.parts.stop.set()
    stream.end()


def test_held_seat_shows_taken_on_an_open_page(mapped: MappedEvent, app_server: AppServer) -> None:
    with reading(mapped.page()) as stream:
        mapped.hold(3)
        app_server.run_worker()
        name, payload = stream.next() or ("", {})
        assert (name, payload["seats"], payload["reset"]) == ("changes", [[3, TAKEN]], None)


def test_all_readers_of_a_map_receive_a_change(mapped: MappedEvent, app_server: AppServer) -> None:
    with reading(mapped.page()) as stream, reading(mapped.page()) as other:
        mapped.hold(2)
        app_server.run_worker()
        assert all((each.next() or ("", {}))[1]["seats"] == [[2, TAKEN]] for each in (stream, other))


def test_expired_hold_shows_free_before_the_sweeper_runs(mapped: MappedEvent, app_server: AppServer) -> None:
    mapped.hold(3, minutes=5)
    app_server.run_worker()
    with reading(mapped.page()) as stream:
        app_server.advance(5 * MINUTE)
        _, payload = stream.next() or ("", {})
        assert payload["seats"] == [[3, FREE]]


def test_reconnecting_reader_gets_what_it_missed(mapped: MappedEvent, app_server: AppServer) -> None:
    page = mapped.page()
    last_seen, page.version = page.version, "nothing.1.1.1"
    mapped.hold(3)
    app_server.run_worker()
    with reading(page, **{"Last-Event-ID": last_seen}) as stream:
        assert (stream.next() or ("", {}))[1]["seats"] == [[3, TAKEN]]


def test_stream_ends_when_the_event_is_unpublished(mapped: MappedEvent, app_server: AppServer) -> None:
    with reading(mapped.page()) as stream:
        mapped.stage.api.post(f"/api/events/{mapped.id}/unpublish", status=200)
        app_server.run_worker()
        assert (stream.next() or ("", {}))[0] == "gone"
        assert stream.next() is None
        stream.events.put(None)


def test_stream_ends_with_the_server(mapped: MappedEvent, app_server: AppServer) -> None:
    stream = Stream(mapped.page())
    app_server.parts.stop.set()
    assert stream.next() is None
    stream.close()


def test_long_poll_waits_for_changes(mapped: MappedEvent, app_server: AppServer) -> None:
    page, answers = mapped.page(), Queue[list[list[int]]]()
    path = f"{mapped.path}/changes?since={page.version}&wait=25"
    asking = threading.Thread(target=lambda: answers.put(mapped.visitor.get(path)["seats"]))
    asking.start()
    mapped.hold(7)
    app_server.run_worker()
    assert answers.get(timeout=TIMEOUT_S) == [[7, TAKEN]]
    asking.join()


@pytest.mark.parametrize("wrong", ["changes", "changes?since=", "changes?since=1.1.1.1&wait=26", "changes?when=now"])
def test_invalid_query_is_refused(mapped: MappedEvent, wrong: str) -> None:
    assert mapped.visitor.refused("GET", f"{mapped.path}/{wrong}") == (400, "invalid_request")


def test_readers_beyond_the_limit_are_told_to_retry(sqlite_url: str, tmp_path: Path) -> None:
    app_server = AppServer(sqlite_url, tmp_path, blocking_threads=8)
    mapped = a_mapped_event(app_server, app_server.api(app_server.organisation("marquee")))
    page = mapped.page()
    with reading(page):
        response = mapped.visitor.ask("GET", f"{mapped.path}/changes?since={page.version}&wait=5")
        assert response.status_code == 503 and response.headers["Retry-After"] == "5"
        assert page.follow() == []  # requests that do not wait are still answered
    app_server.close()
