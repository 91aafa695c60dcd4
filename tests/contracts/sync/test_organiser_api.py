"""What organisers ask and say over the API about devices, scans and conflicts, on both databases."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import text

from shared.scans import EntryKind, encode
from sync_server.plumbing.shapes import iso
from sync_server.plumbing.streams import streams
from tests.contracts.sync.box_office import a_device, a_gate, shown
from tests.office import Desk, Evening, Office


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
    shown(gate, evening, first, direction="exit", reason="exited")
    gate.write(event=evening.number, ticket_id=int(second["id"], 16), issue=1, reason="already_used")
    gate.upload()
    board = evening.desk.get(f"{evening.path}/counters")
    assert [board[name] for name in ("entries", "exits", "inside", "refused", "silent")] == [2, 1, 1, 1, 0]
    assert board["refusals"] == {"already_used": 1}
    office.advance(61_000)
    assert evening.desk.get(f"{evening.path}/counters")["silent"] == 1


def told_first(answer: Any) -> str:
    """The first numbers of a stream; the reader then leaves."""
    frames = (text.decode() if isinstance(text, bytes) else str(text) for text in answer.response)
    first = next(text for text in frames if text.startswith("event: counters"))
    answer.close()
    return first


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


def test_what_a_gate_declared_lost_is_told_with_its_number_and_time(office: Office, evening: Evening) -> None:
    device, gate = a_gate(office, evening)
    path = f"/api/devices/{device['id']}/journal"
    assert evening.desk.get(path)["lost"] == 0
    gate.anchor()
    damaged = [gate.write(event=0) for _ in range(3)]
    del gate.bodies[-3:]
    office.advance(60_000)
    behind, last = damaged[0].previous, damaged[-1].seq
    whole = {"first": damaged[0].seq, "last": last}
    gap = gate.an_entry(kind=EntryKind.GAP, seq=last + 1, event=0, details=whole, previous=behind)
    again = gate.an_entry(kind=EntryKind.GAP, seq=last + 2, event=0, details=whole, previous=behind)
    gate.upload([*gate.bodies, encode(gap), encode(again)])
    told = evening.desk.get(path)
    assert (told["held"], told["missing"], told["lost"]) == (last + 2, 0, 3)
    assert [(one["first"], one["last"], one["entries"]) for one in told["gaps"]] == [(damaged[0].seq, last, 3)]
    assert told["lost_since"] == told["gaps"][0]["declared_at"] == iso(office.now)
    assert rivals(office).refused("GET", path) == (404, "device_not_found")
    _page_says(office, device["id"], "3 entries")
    gate.upload([encode(damaged[1])])
    assert evening.desk.get(path)["lost"] == 2


def _page_says(office: Office, device_id: str, words: str) -> None:
    office.user("owner@marquee.example", _marquee(office), "owner")
    client = office.browser("owner@marquee.example").client
    for page in ("/admin/devices", f"/admin/devices/{device_id}"):
        assert words in client.get(page).get_data(as_text=True), page


def _marquee(office: Office) -> str:
    with office.database.reading() as session:
        return str(session.execute(text("SELECT id FROM organisations WHERE slug = 'marquee'")).scalar_one())
