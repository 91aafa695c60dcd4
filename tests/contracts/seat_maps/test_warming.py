"""Maps are built before anybody asks, and only once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from sync_server.seat_maps import wiring
from sync_server.seat_maps.warming import MapWarmer
from tests.app_server import ApiClient, AppServer
from tests.contracts.seat_maps.mapped_event import MappedEvent, a_mapped_event, clear_map_cache


@contextmanager
def full_reads(app_server: AppServer) -> Iterator[list[str]]:
    """Statements in the block that read all seats of a layout."""
    seen: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if "FROM layout_seats" in statement and "ORDER BY layout_seats.number" in statement:
            seen.append(statement)

    event.listen(app_server.database.engine, "before_cursor_execute", note)
    yield seen
    event.remove(app_server.database.engine, "before_cursor_execute", note)


def a_warmer(app_server: AppServer) -> MapWarmer:
    """The warmer of a server process."""
    return MapWarmer(app_server.parts, wiring.map_responses_of(app_server.parts))


def test_first_reader_finds_the_map_built(app_server: AppServer, api: ApiClient) -> None:
    mapped = a_mapped_event(app_server, api, published=False)
    assert a_warmer(app_server).run_once() == 0  # drafts are not built ahead
    api.post(f"/api/events/{mapped.id}/publish", status=200)
    app_server.run_worker()
    assert a_warmer(app_server).run_once() == 1
    with full_reads(app_server) as reads:
        mapped.page()
        assert a_warmer(app_server).run_once() == 0
    assert reads == []
    mapped.stage.choose(blocked_seat_ids=["A-2"])
    app_server.run_worker()
    assert a_warmer(app_server).run_once() == 1
    clear_map_cache(app_server)
    assert a_warmer(app_server).run_once() == 1  # a server that has just started


def test_crowd_waits_while_one_thread_builds_the_map(mapped: MappedEvent, app_server: AppServer) -> None:
    mapped.page()
    with full_reads(app_server) as alone:
        clear_map_cache(app_server)
        expected = mapped.page().state
    with full_reads(app_server) as together, ThreadPoolExecutor(8) as crowd:
        clear_map_cache(app_server)
        pages = [crowd.submit(mapped.page) for _ in range(8)]
        assert [page.result(60).state for page in pages] == [expected] * 8
    assert len(together) == len(alone) > 0
