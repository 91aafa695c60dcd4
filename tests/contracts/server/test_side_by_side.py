"""Changes that touch one another from two sides leave no gap between them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from shared.snapshot import RowKind
from tests.builders import a_gate, a_venue, an_event
from tests.office import Desk, Evening, Office


def at_once(office: Office, desk: Desk, *asked: tuple[str, Any]) -> None:
    """Send all of these at the same time, each as a client of its own."""

    def send(path: str, body: Any) -> int:
        return Desk(office.app.test_client(), desk.headers).ask("POST", path, body).status_code

    with ThreadPoolExecutor(len(asked)) as pool:
        statuses = list(pool.map(lambda one: send(*one), asked))
    assert set(statuses) <= {200, 201}, statuses


def test_an_event_made_while_keys_and_supervisors_change_misses_none_of_them(office: Office, desk: Desk) -> None:
    venue = desk.post("/api/venues", a_venue())["id"]
    events = [("/api/events", an_event(venue, name=f"Night {n}", code=f"N{n}")) for n in range(5)]
    keys = [("/api/keys/rotate", {"at_once": n % 2 == 0}) for n in range(3)]
    people = [("/api/supervisors", {"name": f"Sue {n}", "pin": "271828"}) for n in range(3)]
    at_once(office, desk, *events, *keys, *people)
    wanted = {key["id"]: key["state"] for key in desk.get("/api/keys")["items"]}
    for event in desk.get("/api/events")["items"]:
        assert {row.id: row.state for row in office.held_of(event["number"], RowKind.KEY)} == wanted
        assert {row.number for row in office.held_of(event["number"], RowKind.SUPERVISOR)} == {1, 2, 3}


def test_an_event_made_while_gates_are_added_misses_none_of_them(office: Office, desk: Desk) -> None:
    venue = desk.post("/api/venues", a_venue())["id"]
    events = [("/api/events", an_event(venue, name=f"Night {n}", code=f"N{n}")) for n in range(4)]
    gates = [(f"/api/venues/{venue}/gates", a_gate(code=f"G{n}")) for n in range(4)]
    at_once(office, desk, *events, *gates)
    for event in desk.get("/api/events")["items"]:
        assert len(office.held_of(event["number"], RowKind.GATE)) == 4


def test_counters_are_right_after_issuing_and_cancelling_at_once(office: Office, evening: Evening) -> None:
    tickets = [ticket["id"] for ticket in evening.issue(count=12)["items"]]
    issue = [(f"{evening.path}/tickets", {"ticket_type": 1, "count": 2})] * 4
    cancel = [(f"/api/tickets/{ticket}/cancel", {}) for ticket in tickets[:4]]
    reissue = [(f"/api/tickets/{ticket}/reissue", {}) for ticket in tickets[4:8]]
    at_once(office, evening.desk, *issue, *cancel, *reissue)
    alive = [row for row in office.held_of(evening.number, RowKind.TICKET) if not row.state]
    kind = evening.desk.get(f"{evening.path}/ticket-types")["items"][0]
    assert len(alive) == 16 == evening.desk.get(evening.path)["tickets_issued"] == kind["issued"]
    office.held(evening.number)


def test_two_hands_publish_and_cancel_one_event(office: Office, evening: Evening) -> None:
    """Whichever is first, the status walked only along the table."""
    send = partial(Desk(office.app.test_client(), evening.desk.headers).ask, "POST")
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(send, f"{evening.path}/publish", {})
        second = pool.submit(evening.desk.ask, "POST", f"{evening.path}/cancel", {})
        statuses = first.result().status_code, second.result().status_code
    assert statuses in {(200, 200), (409, 200)}
    assert evening.desk.get(evening.path)["status"] == "cancelled"
