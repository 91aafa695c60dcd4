"""What organisers ask and say over the API about devices, scans and conflicts, on both databases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import text

from shared import enrolment
from sync_server.plumbing.streams import streams
from tests.contracts.sync.gates import Gate
from tests.office import Desk, Evening, Office, an_evening


@dataclass
class AtTheOffice:
    """Lets a gate speak to an office's server."""

    office: Office

    @property
    def now(self) -> int:
        return self.office.now

    @property
    def dice(self) -> Any:
        return self.office.dice

    def client(self) -> FlaskClient:
        return self.office.app.test_client()

    def advance(self, *, seconds: float = 0, minutes: float = 0, hours: float = 0) -> None:
        self.office.advance(int((seconds + 60 * minutes + 3600 * hours) * 1000))


@pytest.fixture
def office(database_url: str, tmp_path: Path) -> Iterator[Office]:
    """A server whose clock is set by hand."""
    made = Office(database_url, tmp_path)
    yield made
    made.close()


@pytest.fixture
def evening(office: Office) -> Evening:
    """A live event of the organisation `marquee`."""
    evening = an_evening(office.desk(office.organisation("marquee")))
    gates = evening.desk.get(f"/api/venues/{evening.venue['id']}/gates")["items"]
    if not gates:
        evening.desk.post(f"/api/venues/{evening.venue['id']}/gates", {"code": "W", "name": "West"})
    for step in ("publish", "go-live"):
        evening.desk.post(f"{evening.path}/{step}", status=200)
    return evening


def a_device(evening: Evening, **words: Any) -> dict[str, Any]:
    """A device with work at gate 1."""
    made: dict[str, Any] = evening.desk.post("/api/devices", {"name": "West lane"} | words)
    work = {"assignments": [{"event_id": evening.event["id"], "gate": 1}]}
    evening.desk.put(f"/api/devices/{made['id']}/assignments", work)
    return made


def a_gate(office: Office, evening: Evening) -> tuple[dict[str, Any], Gate]:
    """A device and the enrolled machine that it is."""
    device = a_device(evening)
    gate = Gate(AtTheOffice(office), "West lane")
    gate.enrol(enrolment.parse(evening.desk.post(f"/api/devices/{device['id']}/code")["code"]))
    return device, gate


def shown(gate: Gate, evening: Evening, ticket: dict[str, Any]) -> None:
    """The gate admits that ticket."""
    gate.admit(int(ticket["id"], 16), event=evening.number)


def rivals(office: Office) -> Desk:
    """Somebody of another organisation."""
    return office.desk(office.organisation("rivals"))


def test_a_device_from_its_making_to_its_first_word(office: Office, evening: Evening) -> None:
    device, gate = a_gate(office, evening)
    state = evening.desk.get(f"/api/devices/{device['id']}/enrolment")
    assert state["state"] == "used"
    assert len(state["check_number"]) == 6
    gate.hello()
    (told,) = evening.desk.get("/api/devices")["items"]
    assert (told["state"], told["software"], told["silent"]) == ("enrolled", "9.9", False)
    assert [work["gate"] for work in told["assignments"]] == [1]
    office.advance(61_000)
    assert evening.desk.get(f"/api/devices/{device['id']}")["silent"]


def test_a_code_is_a_picture_too_and_is_told_once(evening: Evening) -> None:
    device = a_device(evening)
    made = evening.desk.post(f"/api/devices/{device['id']}/code")
    assert made["qr_svg"].startswith("<svg")
    assert "code" not in evening.desk.get(f"/api/devices/{device['id']}/enrolment")


def test_nothing_that_is_written_down_tells_a_code(office: Office, evening: Evening) -> None:
    device = a_device(evening)
    code = evening.desk.post(f"/api/devices/{device['id']}/code")["code"]
    for table in ("audit_lines", "outbox", "device_enrolment_codes", "idempotency_keys"):
        with office.database.reading() as session:
            rows = session.execute(text(f"SELECT * FROM {table}")).all()
        assert rows or table == "idempotency_keys"
        assert code not in repr(rows)


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x", "profile": "owner"}, "profile"),
        ({"name": "x", "colour": "red"}, "colour"),
    ],
)
def test_a_device_that_cannot_be_is_refused_with_its_field(evening: Evening, words: Any, field: str) -> None:
    answer = evening.desk.ask("POST", "/api/devices", words)
    assert answer.status_code == 400
    assert field in json.dumps(answer.json)


def test_work_is_given_at_gates_that_the_event_has(evening: Evening) -> None:
    device = a_device(evening)
    path = f"/api/devices/{device['id']}/assignments"
    strange = {"assignments": [{"event_id": evening.event["id"], "gate": 99}]}
    assert evening.desk.refused("PUT", path, strange) == (400, "invalid_request")
    twice = {"assignments": [{"event_id": evening.event["id"]}] * 2}
    assert evening.desk.refused("PUT", path, twice) == (400, "invalid_request")


def test_a_revoked_device_gets_neither_work_nor_code(evening: Evening) -> None:
    device = a_device(evening)
    evening.desk.post(f"/api/devices/{device['id']}/revoke", {"reason": "lost"}, status=200)
    assert evening.desk.refused("POST", f"/api/devices/{device['id']}/code") == (409, "device_revoked")
    path = f"/api/devices/{device['id']}/assignments"
    assert evening.desk.refused("PUT", path, {"assignments": []}) == (409, "device_revoked")


def test_other_organisations_see_and_change_nothing(office: Office, evening: Evening) -> None:
    device, gate = a_gate(office, evening)
    others = rivals(office)
    own = others.post("/api/devices", {"name": "Own"})
    work = {"assignments": [{"event_id": evening.event["id"]}]}
    gate.admit(404, event=evening.number)
    gate.upload()
    (conflict,) = evening.desk.get(f"{evening.path}/conflicts")["items"]
    assert [each["name"] for each in others.get("/api/devices")["items"]] == ["Own"]
    assert others.refused("GET", f"/api/devices/{device['id']}") == (404, "device_not_found")
    assert others.refused("POST", f"/api/devices/{device['id']}/code") == (404, "device_not_found")
    assert others.refused("POST", f"/api/devices/{device['id']}/revoke", {}) == (404, "device_not_found")
    assert others.refused("PUT", f"/api/devices/{own['id']}/assignments", work) == (404, "event_not_found")
    for what in ("scans", "conflicts", "counters", "live"):
        assert others.refused("GET", f"{evening.path}/{what}") == (404, "event_not_found")
    path = f"/api/conflicts/{conflict['id']}/resolve"
    assert others.refused("POST", path, {"note": "x"}) == (404, "conflict_not_found")


def test_a_token_that_may_only_read_manages_nothing(office: Office, evening: Evening) -> None:
    device = a_device(evening)
    organisation = evening.desk.get("/api/session")["organisation"]["id"]
    reader = office.desk(organisation, ["read"])
    assert reader.get("/api/devices")["items"]
    assert reader.refused("POST", "/api/devices", {"name": "x"}) == (403, "forbidden")
    assert reader.refused("POST", f"/api/devices/{device['id']}/code") == (403, "forbidden")


def test_scans_show_with_their_tickets_and_corrected_times(office: Office, evening: Evening) -> None:
    ticket = evening.ticket()
    _, gate = a_gate(office, evening)
    gate.anchor()
    shown(gate, evening, ticket)
    gate.upload()
    (scan,) = evening.desk.get(f"{evening.path}/scans")["items"]
    assert (scan["ticket_id"], scan["reason"], scan["gate"]) == (ticket["id"], "admitted", 1)
    assert scan["uncertainty_ms"] < 1_000


def test_a_conflict_is_settled_once_and_by_somebody(office: Office, evening: Evening) -> None:
    _, gate = a_gate(office, evening)
    gate.admit(404, event=evening.number)
    gate.upload()
    (conflict,) = evening.desk.get(f"{evening.path}/conflicts")["items"]
    assert (conflict["kind"], conflict["severity"]) == ("never_issued", 4)
    path = f"/api/conflicts/{conflict['id']}/resolve"
    assert evening.desk.refused("POST", path, {"note": ""}) == (400, "invalid_request")
    settled = evening.desk.post(path, {"note": "A print-shop test."}, status=200)
    assert settled["note"] == "A print-shop test."
    assert evening.desk.refused("POST", path, {"note": "again"}) == (409, "already_resolved")
    assert evening.desk.get(f"{evening.path}/conflicts")["items"] == []
    assert len(evening.desk.get(f"{evening.path}/conflicts?all=true")["items"]) == 1


def test_the_numbers_of_an_evening(office: Office, evening: Evening) -> None:
    first, second = evening.issue(count=2)["items"]
    _, gate = a_gate(office, evening)
    gate.anchor()
    for ticket in (first, second):
        shown(gate, evening, ticket)
    gate.admit(int(first["id"], 16), event=evening.number, direction="exit", reason="exited")
    gate.write(event=evening.number, ticket_id=int(second["id"], 16), issue=1, reason="already_used")
    gate.upload()
    board = evening.desk.get(f"{evening.path}/counters")
    assert [board[name] for name in ("entries", "exits", "inside", "refused", "silent")] == [2, 1, 1, 1, 0]
    assert board["refusals"] == {"already_used": 1}
    office.advance(61_000)
    assert evening.desk.get(f"{evening.path}/counters")["silent"] == 1


def told_first(answer: Any) -> str:
    """The first event of a stream; the reader then leaves."""
    frames = iter(answer.response)
    next(frames)  # how soon to come again
    first = next(frames)
    answer.close()
    return first.decode() if isinstance(first, bytes) else str(first)


def test_a_stream_tells_the_numbers_and_continues_where_one_left(office: Office, evening: Evening) -> None:
    first = told_first(evening.desk.client.get(f"{evening.path}/live", headers=evening.desk.headers))
    assert first.startswith("event: counters\nid: ")
    seen = first.split("\n")[1].removeprefix("id: ")
    _, gate = a_gate(office, evening)
    gate.admit(404, event=evening.number)
    gate.upload()
    office.advance(1_000)
    again = evening.desk.headers | {"Last-Event-ID": seen}
    news = told_first(evening.desk.client.get(f"{evening.path}/live", headers=again))
    assert json.loads(news.split("data: ")[1])["entries"] == 1


def test_readers_beyond_the_share_of_browsers_are_asked_to_come_again(office: Office, evening: Evening) -> None:
    with office.app.app_context():
        seats = streams()
    open_streams = [
        evening.desk.client.get(f"{evening.path}/live", headers=evening.desk.headers)
        for _ in range(seats.browser_limit)
    ]
    refused = evening.desk.ask("GET", f"{evening.path}/live")
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    for stream in open_streams:
        stream.close()
    assert evening.desk.client.get(f"{evening.path}/live", headers=evening.desk.headers).status_code == 200


def test_late_entries_are_accepted_with_a_note(office: Office, evening: Evening) -> None:
    ticket = evening.ticket()
    device, gate = a_gate(office, evening)
    evening.desk.post(f"/api/devices/{device['id']}/revoke", {}, status=200)
    shown(gate, evening, ticket)
    gate.upload()
    path = f"/api/devices/{device['id']}/late-entries/accept"
    assert evening.desk.post(path, {"note": "The crew was there."}, status=200) == {"accepted": 1}
    assert evening.desk.refused("POST", path, {"note": "again"}) == (409, "nothing_quarantined")
    assert evening.desk.get(f"{evening.path}/counters")["entries"] == 1
