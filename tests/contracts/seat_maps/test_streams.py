"""Streams deliver changes at once, resume where they left off, and end with the event or the server."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from queue import Queue

import pytest

from tests.app_server import AppServer
from tests.builders import MINUTE
from tests.contracts.facts.memory import eventually
from tests.contracts.seat_maps.mapped_event import FREE, TAKEN, MappedEvent, Page, a_mapped_event
from tests.stream_client import StreamClient, ask_listener


def open_stream(page: Page, last_seen: str = "") -> StreamClient:
    """A stream of changes from the version that the page shows."""
    path = f"{page.mapped.path}/changes?since={page.version}"
    return StreamClient(page.mapped.app_server, page.api, path, last_seen, Accept="text/event-stream")


def test_held_seat_shows_taken_on_an_open_page(mapped: MappedEvent, app_server: AppServer) -> None:
    with open_stream(mapped.page()) as stream:
        mapped.hold(3)
        app_server.run_worker()
        frame = stream.next()
        assert (frame.name, frame.data["seats"], frame.data["reset"]) == ("changes", [[3, TAKEN]], None)


def test_expired_hold_shows_free_before_the_sweeper_runs(mapped: MappedEvent, app_server: AppServer) -> None:
    mapped.hold(3, minutes=5)
    app_server.run_worker()
    with open_stream(mapped.page()) as stream:
        app_server.advance(5 * MINUTE)
        assert stream.next().data["seats"] == [[3, FREE]]


def test_reconnecting_reader_gets_what_it_missed(mapped: MappedEvent, app_server: AppServer) -> None:
    page = mapped.page()
    last_seen, page.version = page.version, "nothing.1.1.1"
    mapped.hold(3)
    app_server.run_worker()
    with open_stream(page, last_seen) as stream:
        assert stream.next().data["seats"] == [[3, TAKEN]]


def test_stream_ends_when_the_event_is_unpublished(mapped: MappedEvent, app_server: AppServer) -> None:
    with open_stream(mapped.page()) as stream:
        mapped.stage.api.post(f"/api/events/{mapped.id}/unpublish", status=200)
        app_server.run_worker()
        assert stream.next().name == "gone"
        assert stream.rest() == []


def test_stream_ends_with_the_server(mapped: MappedEvent, app_server: AppServer) -> None:
    with open_stream(mapped.page()) as stream:
        app_server.parts.stop.set()
        assert stream.rest() == []


def test_long_poll_waits_for_changes(mapped: MappedEvent, app_server: AppServer) -> None:
    answers = Queue[list[list[int]]]()
    path = f"{mapped.path}/changes?since={mapped.page().version}&wait=25"

    def ask() -> None:
        _, response = ask_listener(app_server, mapped.visitor, path)
        answers.put(json.loads(response.read())["seats"])

    asking = threading.Thread(target=ask)
    asking.start()
    mapped.hold(7)
    app_server.run_worker()
    assert answers.get(timeout=30) == [[7, TAKEN]]
    asking.join()


def test_server_that_must_not_wait_tells_where_to_go(sqlite_url: str, tmp_path: Path) -> None:
    app_server = AppServer(sqlite_url, tmp_path, streams_address="127.0.0.1:8001")
    mapped = a_mapped_event(app_server, app_server.api(app_server.organisation("marquee")))
    path = f"{mapped.path}/changes?since={mapped.page().version}"
    for more, accepted in (("", "text/event-stream"), ("&wait=5", "application/json")):
        response = mapped.visitor.ask("GET", path + more, Accept=accepted, Host="tickets.example:8000")
        assert (response.status_code, response.headers["Location"]) == (307, f"http://tickets.example:8001{path}{more}")
    app_server.close()


@pytest.mark.parametrize("wrong", ["changes", "changes?since=", "changes?since=1.1.1.1&wait=26", "changes?when=now"])
def test_invalid_query_is_refused(mapped: MappedEvent, wrong: str) -> None:
    assert mapped.visitor.refused("GET", f"{mapped.path}/{wrong}") == (400, "invalid_request")


def test_readers_beyond_the_limit_are_told_to_retry(sqlite_url: str, tmp_path: Path) -> None:
    app_server = AppServer(sqlite_url, tmp_path, streams_per_address=2, trusted_proxies=1)
    mapped = a_mapped_event(app_server, app_server.api(app_server.organisation("marquee")))
    mapped.visitor.headers["X-Forwarded-For"] = "198.51.100.1"
    page = mapped.page()
    path = f"{mapped.path}/changes?since={page.version}"
    with open_stream(page), open_stream(page) as second:
        _, response = ask_listener(app_server, mapped.visitor, f"{path}&wait=5")
        assert (response.status, response.headers["Retry-After"]) == (503, "5")
        assert page.follow() == []  # requests that do not wait are still answered
        second.close()
        eventually(lambda: app_server.listener.app.places.taken == 1, "who leaves frees a place")
        open_stream(page).close()
    app_server.close()


def test_pages_of_another_host_may_not_read_streams(mapped: MappedEvent) -> None:
    page = mapped.page()
    path = f"{mapped.path}/changes?since={page.version}"
    for origin, allowed in (("http://127.0.0.1:8000", "http://127.0.0.1:8000"), ("http://elsewhere.example", None)):
        _, response = ask_listener(mapped.app_server, mapped.visitor, path, Origin=origin)
        assert response.headers["Access-Control-Allow-Origin"] == allowed
