"""Measures that say early where it is getting tight: slow searches, connections, open streams, facts that wait."""

from __future__ import annotations

import re

import pytest
from structlog.testing import capture_logs

from sync_server.plumbing.telemetry import logs
from tests.app_server import AppServer, Concert


def measured(app_server: AppServer, name: str) -> float:
    """One value of /metrics, with its labels in the name."""
    app_server.advance(60_000)
    found = re.search(rf"^{re.escape(name)} (\S+)$", app_server.parts.metrics.text().decode(), re.MULTILINE)
    return 0.0 if found is None else float(found[1])


@pytest.fixture
def slow(app_server: AppServer) -> AppServer:
    """A server on whose clock every request takes 600 ms."""
    app_server.app.before_request(lambda: app_server.advance(600))
    return app_server


SEARCHES = {
    "/api/public/events": ("?q=Erika+Mustermann&city=Bern", {"city": "Bern"}),
    "/api/venues": ("?city=Bern", {"city": "Bern"}),
    "/api/events": ("?status=live", {"status": "live"}),
}


@pytest.mark.parametrize("path", SEARCHES)
def test_a_slow_search_is_counted_and_logged_without_its_words(slow: AppServer, path: str) -> None:
    api = slow.api(slow.organisation("marquee"))
    logs.set_up("info")
    query, told = SEARCHES[path]
    with capture_logs() as lines:
        api.get(f"{path}{query}")
    (line,) = [line for line in lines if line["event"] == "slow_search"]
    assert told.items() <= line.items() and line["ms"] > 500 and line["route"] == path
    assert "Erika" not in str(lines)
    assert measured(slow, f'gatehouse_slow_searches_total{{route="{path}"}}') == 1


def test_quick_searches_and_other_slow_requests_are_not_counted(app_server: AppServer, slow: AppServer) -> None:
    api = slow.api(slow.organisation("marquee"))
    with capture_logs() as lines:
        api.get("/api/session")
    assert not [line for line in lines if line["event"] == "slow_search"]


def test_connections_in_use_are_shown(app_server: AppServer) -> None:
    assert measured(app_server, 'gatehouse_database_connections{state="in_use"}') == 0
    with app_server.database.engine.connect(), app_server.database.engine.connect():
        assert measured(app_server, 'gatehouse_database_connections{state="in_use"}') == 2
    assert measured(app_server, 'gatehouse_database_connections{state="most"}') >= 40


@pytest.mark.parametrize("relayed", [False, True])
def test_the_age_of_the_oldest_fact_is_shown_until_it_is_relayed(
    app_server: AppServer, concert: Concert, relayed: bool
) -> None:
    concert.api.post(f"{concert.path}/publish", {}, 200)
    if relayed:
        app_server.run_worker()
    assert measured(app_server, "gatehouse_outbox_oldest_seconds") == (0 if relayed else 60)
