"""Concurrent changes do not lose each other's effects."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from shared.wire.snapshot import RowKind
from tests.app_server import ApiClient, AppServer, Concert
from tests.builders import a_gate, a_venue, an_event


def at_once(app_server: AppServer, api: ApiClient, *asked: tuple[str, Any]) -> None:
    """Send all of these requests at the same time."""

    def send(path: str, body: Any) -> int:
        return ApiClient(app_server.app.test_client(), api.headers).ask("POST", path, body).status_code

    with ThreadPoolExecutor(len(asked)) as pool:
        statuses = list(pool.map(lambda one: send(*one), asked))
    assert set(statuses) <= {200, 201}, statuses


def test_an_event_made_while_keys_and_supervisors_change_misses_none_of_them(
    app_server: AppServer, api: ApiClient
) -> None:
    venue = api.post("/api/venues", a_venue())["id"]
    events = [("/api/events", an_event(venue, name=f"Night {n}", code=f"N{n}")) for n in range(5)]
    keys = [("/api/keys/rotate", {"at_once": n % 2 == 0}) for n in range(3)]
    people = [("/api/supervisors", {"name": f"Sue {n}", "pin": "271828"}) for n in range(3)]
    at_once(app_server, api, *events, *keys, *people)
    wanted = {key["id"]: key["state"] for key in api.get("/api/keys")["items"]}
    for event in api.get("/api/events")["items"]:
        assert {row.id: row.state for row in app_server.gate_rows_of(event["number"], RowKind.KEY)} == wanted
        assert {row.number for row in app_server.gate_rows_of(event["number"], RowKind.SUPERVISOR)} == {1, 2, 3}


def test_an_event_made_while_gates_are_added_misses_none_of_them(app_server: AppServer, api: ApiClient) -> None:
    venue = api.post("/api/venues", a_venue())["id"]
    events = [("/api/events", an_event(venue, name=f"Night {n}", code=f"N{n}")) for n in range(4)]
    gates = [(f"/api/venues/{venue}/gates", a_gate(code=f"G{n}")) for n in range(4)]
    at_once(app_server, api, *events, *gates)
    for event in api.get("/api/events")["items"]:
        assert len(app_server.gate_rows_of(event["number"], RowKind.GATE)) == 4


def test_counters_are_right_after_issuing_and_cancelling_at_once(app_server: AppServer, concert: Concert) -> None:
    tickets = [ticket["id"] for ticket in concert.issue(count=12)["items"]]
    issue = [(f"{concert.path}/tickets", {"ticket_type": 1, "count": 2})] * 4
    cancel = [(f"/api/tickets/{ticket}/cancel", {}) for ticket in tickets[:4]]
    reissue = [(f"/api/tickets/{ticket}/reissue", {}) for ticket in tickets[4:8]]
    at_once(app_server, concert.api, *issue, *cancel, *reissue)
    alive = [row for row in app_server.gate_rows_of(concert.number, RowKind.TICKET) if not row.state]
    kind = concert.api.get(f"{concert.path}/ticket-types")["items"][0]
    assert len(alive) == 16 == concert.api.get(concert.path)["tickets_issued"] == kind["issued"]
    app_server.gate_rows(concert.number)


def test_publishing_and_cancelling_an_event_at_once(app_server: AppServer, concert: Concert) -> None:
    """Whichever is first, only allowed transitions happen."""
    send = partial(ApiClient(app_server.app.test_client(), concert.api.headers).ask, "POST")
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(send, f"{concert.path}/publish", {})
        second = pool.submit(concert.api.ask, "POST", f"{concert.path}/cancel", {})
        statuses = first.result().status_code, second.result().status_code
    assert statuses in {(200, 200), (409, 200)}
    assert concert.api.get(concert.path)["status"] == "cancelled"
