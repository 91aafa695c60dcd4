"""Whoever looks for a scan finds it: by gate, answer, reason, ticket and time, with test scans or without."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.app_server import ApiClient, AppServer, Concert
from tests.contracts.sync.office_gates import a_gate, a_live_evening, shown


@pytest.fixture(scope="module")
def app_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    """One evening for all tests: they only read."""
    folder = tmp_path_factory.mktemp("scans")
    made = AppServer(f"sqlite:///{folder / 'scans.db'}", folder)
    yield made
    made.close()


@pytest.fixture(scope="module")
def concert(app_server: AppServer) -> Concert:
    return a_live_evening(app_server)


@pytest.fixture(scope="module")
def tickets(app_server: AppServer, concert: Concert) -> list[dict[str, Any]]:
    """One is admitted and refused a minute later, one leaves again, one is only tried out."""
    made: list[dict[str, Any]] = concert.issue(count=3)["items"]
    _, gate = a_gate(app_server, concert)
    gate.anchor()
    shown(gate, concert, made[0])
    shown(gate, concert, made[1])
    app_server.advance(60_000)
    shown(gate, concert, made[0], admitted=False, reason="already_used")
    shown(gate, concert, made[1], direction="exit", reason="exited")
    shown(gate, concert, made[2], mode="test", reason="test_ok")
    gate.anchor()
    gate.upload()
    return made


@pytest.fixture(scope="module")
def desk(app_server: AppServer, concert: Concert) -> ApiClient:
    """The owner, signed in."""
    app_server.user("owner@marquee.example", app_server.event_key(concert.number).organisation_id, "owner")
    return app_server.browser("owner@marquee.example")


LATER = "2026-07-04T16:01:01Z"


@pytest.mark.parametrize(
    ("query", "reasons"),
    [
        ("", ["test_ok", "exited", "already_used", "admitted", "admitted"]),
        ("?admitted=false", ["already_used"]),
        ("?reason=exited", ["exited"]),
        ("?test=false", ["exited", "already_used", "admitted", "admitted"]),
        ("?test=true", ["test_ok"]),
        ("?gate=2", []),
        ("?ticket_id={first}", ["already_used", "admitted"]),
        (f"?since={LATER}", ["test_ok", "exited", "already_used"]),
        (f"?until={LATER}&admitted=true", ["admitted", "admitted"]),
    ],
)
def test_the_api_lists_what_fits(
    concert: Concert, tickets: list[dict[str, Any]], query: str, reasons: list[str]
) -> None:
    found = concert.api.get(f"{concert.path}/scans{query.format(first=tickets[0]['id'])}")["items"]
    assert [scan["reason"] for scan in found] == reasons


@pytest.mark.parametrize(
    ("query", "reasons"),
    [
        ("", ["test ok", "exited", "already used", "admitted", "admitted"]),
        ("?verdict=refused", ["already used"]),
        ("?tests=only", ["test ok"]),
        ("?ticket={first}&gate=1", ["already used", "admitted"]),
        ("?ticket=NOBODY-1", []),
        ("?since=2026-07-04T18:01:01", ["test ok", "exited", "already used"]),  # by the clocks of the venue
        ("?gate=x&reason=x&tests=x&since=x", ["test ok", "exited", "already used", "admitted", "admitted"]),
    ],
)
def test_the_page_lists_what_fits(
    desk: ApiClient, concert: Concert, tickets: list[dict[str, Any]], query: str, reasons: list[str]
) -> None:
    path = f"/admin/events/{concert.event['id']}/scans{query.format(first=tickets[0]['number'])}"
    page = desk.client.get(path).get_data(as_text=True)
    assert re.findall(r'class="what"><b>([\w ]+)</b>', page) == reasons
