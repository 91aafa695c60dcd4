"""The API for devices, scans and conflicts, on both databases."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import event, text

from shared.journal.scans import EntryKind, encode
from sync_server.plumbing.api.schemas import iso
from tests.app_server import ApiClient, AppServer, Concert
from tests.contracts.sync.office_gates import a_device, a_gate, a_live_evening, shown
from tests.stream_client import StreamClient


def rivals(app_server: AppServer) -> ApiClient:
    """Somebody of another organisation."""
    return app_server.api(app_server.organisation("rivals"))


def test_a_device_from_its_creation_to_its_first_hello(app_server: AppServer, concert: Concert) -> None:
    device, gate = a_gate(app_server, concert)
    state = concert.api.get(f"/api/devices/{device['id']}/enrolment")
    assert state["state"] == "used"
    assert len(state["check_number"]) == 6
    gate.hello()
    (body,) = concert.api.get("/api/devices")["items"]
    assert (body["state"], body["software"], body["silent"]) == ("enrolled", "9.9", False)
    assert [work["gate"] for work in body["assignments"]] == [1]
    app_server.advance(61_000)
    assert concert.api.get(f"/api/devices/{device['id']}")["silent"]


def test_a_code_is_shown_once_with_its_qr_image(concert: Concert) -> None:
    device = a_device(concert)
    made = concert.api.post(f"/api/devices/{device['id']}/code")
    assert made["qr_svg"].startswith("<svg")
    assert "code" not in concert.api.get(f"/api/devices/{device['id']}/enrolment")


def test_no_stored_record_contains_a_code(app_server: AppServer, concert: Concert) -> None:
    device = a_device(concert)
    code = concert.api.post(f"/api/devices/{device['id']}/code")["code"]
    for table in ("audit_lines", "outbox", "device_enrolment_codes", "idempotency_keys"):
        with app_server.database.reading() as session:
            rows = session.execute(text(f"SELECT * FROM {table}")).all()
        assert rows or table == "idempotency_keys"
        assert code not in repr(rows)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x", "profile": "owner"}, "profile"),
        ({"name": "x", "colour": "red"}, "colour"),
    ],
)
def test_a_device_that_cannot_be_is_refused_with_its_field(concert: Concert, fields: Any, field: str) -> None:
    answer = concert.api.ask("POST", "/api/devices", fields)
    assert answer.status_code == 400
    assert field in json.dumps(answer.json)


def test_a_device_is_assigned_to_gates_that_the_event_has(concert: Concert) -> None:
    device = a_device(concert)
    path = f"/api/devices/{device['id']}/assignments"
    strange = {"assignments": [{"event_id": concert.event["id"], "gate": 99}]}
    assert concert.api.refused("PUT", path, strange) == (400, "invalid_request")
    twice = {"assignments": [{"event_id": concert.event["id"]}] * 2}
    assert concert.api.refused("PUT", path, twice) == (400, "invalid_request")


def test_a_revoked_device_gets_neither_assignments_nor_codes(concert: Concert) -> None:
    device = a_device(concert)
    concert.api.post(f"/api/devices/{device['id']}/revoke", {"reason": "lost"}, status=200)
    assert concert.api.refused("POST", f"/api/devices/{device['id']}/code") == (409, "device_revoked")
    path = f"/api/devices/{device['id']}/assignments"
    assert concert.api.refused("PUT", path, {"assignments": []}) == (409, "device_revoked")


def test_other_organisations_see_and_change_nothing(app_server: AppServer, concert: Concert) -> None:
    device, gate = a_gate(app_server, concert)
    others = rivals(app_server)
    own = others.post("/api/devices", {"name": "Own"})
    work = {"assignments": [{"event_id": concert.event["id"]}]}
    gate.admit(404, event=concert.number)
    gate.upload()
    (conflict,) = concert.api.get(f"{concert.path}/conflicts")["items"]
    assert [each["name"] for each in others.get("/api/devices")["items"]] == ["Own"]
    assert others.refused("GET", f"/api/devices/{device['id']}") == (404, "device_not_found")
    assert others.refused("POST", f"/api/devices/{device['id']}/code") == (404, "device_not_found")
    assert others.refused("POST", f"/api/devices/{device['id']}/revoke", {}) == (404, "device_not_found")
    assert others.refused("PUT", f"/api/devices/{own['id']}/assignments", work) == (404, "event_not_found")
    for what in ("scans", "conflicts", "counters", "live"):
        assert others.refused("GET", f"{concert.path}/{what}") == (404, "event_not_found")
    path = f"/api/conflicts/{conflict['id']}/resolve"
    assert others.refused("POST", path, {"note": "x"}) == (404, "conflict_not_found")


def test_a_token_that_may_only_read_manages_nothing(app_server: AppServer, concert: Concert) -> None:
    device = a_device(concert)
    organisation = concert.api.get("/api/session")["organisation"]["id"]
    reader = app_server.api(organisation, ["read"])
    assert reader.get("/api/devices")["items"]
    assert reader.refused("POST", "/api/devices", {"name": "x"}) == (403, "forbidden")
    assert reader.refused("POST", f"/api/devices/{device['id']}/code") == (403, "forbidden")


def test_scans_show_with_their_tickets_and_corrected_times(app_server: AppServer, concert: Concert) -> None:
    ticket = concert.ticket()
    _, gate = a_gate(app_server, concert)
    gate.anchor()
    shown(gate, concert, ticket)
    gate.upload()
    (scan,) = concert.api.get(f"{concert.path}/scans")["items"]
    assert (scan["ticket_id"], scan["reason"], scan["gate"]) == (ticket["id"], "admitted", 1)
    assert scan["uncertainty_ms"] < 1_000


def test_a_conflict_is_resolved_once_and_by_name(app_server: AppServer, concert: Concert) -> None:
    _, gate = a_gate(app_server, concert)
    gate.admit(404, event=concert.number)
    gate.upload()
    (conflict,) = concert.api.get(f"{concert.path}/conflicts")["items"]
    assert (conflict["kind"], conflict["severity"]) == ("never_issued", 4)
    path = f"/api/conflicts/{conflict['id']}/resolve"
    assert concert.api.refused("POST", path, {"note": ""}) == (400, "invalid_request")
    settled = concert.api.post(path, {"note": "A print-shop test."}, status=200)
    assert settled["note"] == "A print-shop test."
    assert concert.api.refused("POST", path, {"note": "again"}) == (409, "already_resolved")
    assert concert.api.get(f"{concert.path}/conflicts")["items"] == []
    assert len(concert.api.get(f"{concert.path}/conflicts?all=true")["items"]) == 1


def test_the_numbers_of_an_evening(app_server: AppServer, concert: Concert) -> None:
    first, second = concert.issue(count=2)["items"]
    _, gate = a_gate(app_server, concert)
    gate.anchor()
    for ticket in (first, second):
        shown(gate, concert, ticket)
    shown(gate, concert, first, direction="exit", reason="exited")
    gate.write(event=concert.number, ticket_id=int(second["id"], 16), issue=1, reason="already_used")
    gate.upload()
    board = concert.api.get(f"{concert.path}/counters")
    assert [board[name] for name in ("entries", "exits", "inside", "refused", "silent")] == [2, 1, 1, 1, 0]
    assert board["refusals"] == {"already_used": 1}
    app_server.advance(61_000)
    assert concert.api.get(f"{concert.path}/counters")["silent"] == 1


def test_a_stream_sends_the_numbers_and_continues_where_a_reader_left(app_server: AppServer, concert: Concert) -> None:
    with StreamClient(app_server, concert.api, f"{concert.path}/live") as stream:
        seen = stream.until("counters").id
    _, gate = a_gate(app_server, concert)
    gate.admit(404, event=concert.number)
    gate.upload()
    app_server.advance(1_000)
    with StreamClient(app_server, concert.api, f"{concert.path}/live", seen) as again:
        assert again.until("counters").data["entries"] == 1


def test_late_entries_are_accepted_with_a_note(app_server: AppServer, concert: Concert) -> None:
    ticket = concert.ticket()
    device, gate = a_gate(app_server, concert)
    concert.api.post(f"/api/devices/{device['id']}/revoke", {}, status=200)
    shown(gate, concert, ticket)
    gate.upload()
    path = f"/api/devices/{device['id']}/late-entries/accept"
    assert concert.api.post(path, {"note": "The crew was there."}, status=200) == {"accepted": 1}
    assert concert.api.refused("POST", path, {"note": "again"}) == (409, "nothing_quarantined")
    assert concert.api.get(f"{concert.path}/counters")["entries"] == 1


def test_declared_losses_are_listed_with_number_and_time(app_server: AppServer, concert: Concert) -> None:
    device, gate = a_gate(app_server, concert)
    path = f"/api/devices/{device['id']}/journal"
    assert concert.api.get(path)["lost"] == 0
    gate.anchor()
    damaged = [gate.write(event=0) for _ in range(3)]
    del gate.bodies[-3:]
    app_server.advance(60_000)
    behind, last = damaged[0].previous, damaged[-1].seq
    whole = {"first": damaged[0].seq, "last": last}
    gap = gate.an_entry(kind=EntryKind.GAP, seq=last + 1, event=0, details=whole, previous=behind)
    again = gate.an_entry(kind=EntryKind.GAP, seq=last + 2, event=0, details=whole, previous=behind)
    gate.upload([*gate.bodies, encode(gap), encode(again)])
    body = concert.api.get(path)
    assert (body["held"], body["missing"], body["lost"]) == (last + 2, 0, 3)
    assert [(one["first"], one["last"], one["entries"]) for one in body["gaps"]] == [(damaged[0].seq, last, 3)]
    assert body["lost_since"] == body["gaps"][0]["declared_at"] == iso(app_server.now)
    assert rivals(app_server).refused("GET", path) == (404, "device_not_found")
    _page_says(app_server, device["id"], "3 entries")
    gate.upload([encode(damaged[1])])
    assert concert.api.get(path)["lost"] == 2


def _page_says(app_server: AppServer, device_id: str, fields: str) -> None:
    app_server.user("owner@marquee.example", _marquee(app_server), "owner")
    client = app_server.browser("owner@marquee.example").client
    for page in ("/admin/devices", f"/admin/devices/{device_id}"):
        assert fields in client.get(page).get_data(as_text=True), page


def _marquee(app_server: AppServer) -> str:
    with app_server.database.reading() as session:
        return str(session.execute(text("SELECT id FROM organisations WHERE slug = 'marquee'")).scalar_one())


def test_the_page_of_a_device_asks_the_same_however_many_events_there_are(app_server: AppServer) -> None:
    concert = a_live_evening(app_server)
    device = a_device(concert)
    app_server.user("owner@marquee.example", _marquee(app_server), "owner")
    client = app_server.browser("owner@marquee.example").client

    def statements() -> int:
        asked: list[str] = []

        def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
            asked.append(statement)

        event.listen(app_server.database.engine, "before_cursor_execute", note)
        assert client.get(f"/admin/devices/{device['id']}").status_code == 200
        event.remove(app_server.database.engine, "before_cursor_execute", note)
        return len(asked)

    few = statements()
    starts = [app_server.now + days * 86_400_000 for days in range(2, 22)]
    concert.api.post(f"{concert.path}/series", {"dates": starts})
    assert statements() == few
