"""Whatever is sent: one shape of error, a code, words, a request id, and nothing changed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import EVENING, HOUR, a_gate, a_ticket_type, a_venue, an_event
from tests.office import Desk, Evening, Office

UNKNOWN = "01a1ee93-a800-767b-ae97-80dab5121243"


def told(answer: Any) -> dict[str, Any]:
    error: dict[str, Any] = answer.json["error"]
    assert set(answer.json) == {"error"} and error["request_id"] == answer.headers["X-Request-Id"]
    assert error["code"] and error["message"]
    return error


@pytest.mark.parametrize("body", [b"{", b"[1,", b"\xff\xfe", b"name=x", b'"only a string"', b"null", b"[]"])
def test_a_body_that_is_no_json_object(desk: Desk, body: bytes) -> None:
    answer = desk.client.post("/api/venues", data=body, headers=desk.headers)
    assert answer.status_code == 400
    error = told(answer)
    assert error["code"] == "invalid_request" and "_schema" not in error["message"]


def test_what_nothing_can_keep_is_refused_by_its_name(evening: Evening) -> None:
    """Both databases take and refuse the same; settings are free, and come back as they were sent."""
    for value in ("\0", "\x1b[31m", "\ud800", 2**63, 10**400, float("nan"), float("inf"), {"\0": 1}, [["\x7f"]]):
        answer = evening.desk.ask("PATCH", evening.path, {"settings": {"door": value}})
        assert answer.status_code == 400 and told(answer)["message"].startswith("settings.door"), value
    deep: Any = 1
    for _ in range(300):
        deep = [deep]
    zone = {"name": "Floor", "zone_type": "ga_standing", "capacity": 5, "metadata": {"door": deep}}
    layouts = f"/api/venues/{evening.venue['id']}/layouts"
    assert evening.desk.refused("POST", layouts, {"name": "Hall", "zones": [zone]}) == (400, "invalid_request")
    for value in (deep, "x" * 16_000):
        answer = evening.desk.ask("PATCH", evening.path, {"settings": {"door": value}})
        assert answer.status_code == 400 and told(answer)["details"]["fields"][0]["field"] == "settings"
    assert evening.desk.refused("POST", "/api/venues", a_venue(name="Harbour\0Hall")) == (400, "invalid_request")
    wide = '{"name": "Harbour Hall", "timezone": "Europe/Berlin"}'.encode("utf-16")
    answer = evening.desk.client.post("/api/venues", data=wide, headers=evening.desk.headers)
    assert answer.status_code == 400 and "UTF-8" in told(answer)["message"]
    kept = {"door": ["🎫 Einlass\n\tab 18 Uhr", 2**53, 0.5, None, {"a": []}]}
    assert evening.desk.patch(evening.path, {"settings": kept})["settings"] == kept


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 50_000, b'{"name":' + b"[" * 3_000 + b"]" * 3_000 + b"}"])
def test_a_body_that_is_nested_without_end(desk: Desk, body: bytes) -> None:
    answer = desk.client.post("/api/venues", data=body, headers=desk.headers | {"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert told(answer)["code"] == "invalid_request"


def test_of_ten_thousand_mistakes_the_first_are_told(evening: Evening) -> None:
    body = {"every_days": 7, "count": 2, "weekdays": ["someday"] * 10_000}
    answer = evening.desk.ask("POST", f"{evening.path}/series", body)
    assert answer.status_code == 400 and len(answer.data) < 20_000
    error = told(answer)
    assert error["details"]["fields"][0]["field"] == "weekdays.0" and "9950 more" in error["message"]
    long = told(evening.desk.ask("POST", "/api/venues", a_venue(**{"x" * 100_000: 1})))
    assert len(long["message"]) < 1_000


def test_an_unknown_field_is_named(desk: Desk) -> None:
    answer = desk.ask("POST", "/api/venues", a_venue(organisation_id="somebody-else"))
    assert answer.status_code == 400
    assert told(answer)["details"]["fields"][0]["field"] == "organisation_id"


def test_a_number_sent_as_text_is_not_guessed_at(desk: Desk) -> None:
    error = told(desk.ask("POST", "/api/venues", a_venue(max_capacity="500")))
    assert error["details"]["fields"][0]["field"] == "max_capacity"


def test_several_mistakes_are_told_together(desk: Desk) -> None:
    error = told(desk.ask("POST", "/api/venues", {"max_capacity": -1}))
    assert {field["field"] for field in error["details"]["fields"]} == {"name", "timezone", "max_capacity"}


def test_addresses_and_methods_that_do_not_exist(desk: Desk) -> None:
    nowhere, wrong_method = desk.ask("GET", "/api/nowhere"), desk.ask("DELETE", "/api/venues")
    assert (nowhere.status_code, told(nowhere)["code"]) == (404, "not_found")
    assert (wrong_method.status_code, told(wrong_method)["code"]) == (405, "method_not_allowed")
    assert "POST" in wrong_method.headers["Allow"]


def test_a_body_larger_than_the_server_accepts(office: Office, desk: Desk) -> None:
    body = b'{"name": "' + b"x" * office.parts.config.max_body_bytes + b'"}'
    answer = desk.client.post("/api/venues", data=body, headers=desk.headers)
    assert (answer.status_code, told(answer)["code"]) == (413, "too_large")


def test_nobody_known_asks(office: Office, desk: Desk) -> None:
    stranger = office.app.test_client()
    assert stranger.get("/api/venues").status_code == 401
    assert stranger.post("/api/venues", json={"nonsense": 1}).status_code == 401  # before the body is looked at
    answer = stranger.get("/api/venues", headers={"Authorization": "Bearer ght_nothing"})
    assert (answer.status_code, told(answer)["code"]) == (401, "bad_token")


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"end_at": EVENING + HOUR}, "invalid_times"),
        ({"end_at": EVENING + 2 * HOUR}, "invalid_times"),
        ({"start_at": EVENING - 9 * HOUR, "end_at": EVENING - HOUR}, "invalid_times"),
        ({"sale_end_at": EVENING + 9 * HOUR}, "invalid_times"),
        ({"sale_start_at": EVENING + 3 * HOUR}, "invalid_times"),
        ({"doors_at": EVENING + 3 * HOUR}, "invalid_times"),
        ({"end_at_auto": EVENING + HOUR}, "invalid_times"),
        ({"start_at": "2026-07-04T20:00:00"}, "invalid_request"),
        ({"start_at": "tomorrow"}, "invalid_request"),
        ({"start_at": -5}, "invalid_request"),
        ({"start_at": True}, "invalid_request"),
        ({"capacity": 1_000_001}, "invalid_request"),
        ({"name": "  "}, "invalid_request"),
        ({"slug": "Not A Slug"}, "invalid_request"),
    ],
)
def test_events_that_cannot_be(evening: Evening, changed: dict[str, Any], code: str) -> None:
    body = an_event(evening.venue["id"], **changed)
    assert evening.desk.refused("POST", "/api/events", body) == (400, code)


def test_names_that_are_taken(evening: Evening) -> None:
    venue = evening.venue["id"]
    assert evening.desk.refused("POST", "/api/events", an_event(venue, slug="night-music")) == (409, "slug_taken")
    assert evening.desk.refused("POST", "/api/venues", a_venue(slug="harbour-hall")) == (409, "slug_taken")
    evening.desk.post(f"/api/venues/{venue}/gates", a_gate())
    assert evening.desk.refused("POST", f"/api/venues/{venue}/gates", a_gate()) == (409, "gate_code_taken")
    second = evening.desk.post("/api/events", an_event(venue, start_at=EVENING + 3 * HOUR))
    assert second["slug"] == "night-music-2" and second["code"] != evening.event["code"]


@pytest.mark.parametrize(
    "changed",
    [
        {"price_cents": -1},
        {"price_cents": 12.5},
        {"quantity": 0},
        {"entitlement": "for_ever"},
        {"entry_limit": 3},
        {"valid_days": [2]},
        {"flags": ["tall"]},
        {"currency": "euro"},
        {"not_before_at": EVENING, "not_after_at": EVENING - HOUR},
    ],
)
def test_ticket_types_that_cannot_be(evening: Evening, changed: dict[str, Any]) -> None:
    body = a_ticket_type(name="Other", **changed)
    assert evening.desk.refused("POST", f"{evening.path}/ticket-types", body)[0] == 400


def test_a_ticket_type_in_a_zone_that_the_event_does_not_have(evening: Evening) -> None:
    body = a_ticket_type(name="Other", zone=4)
    assert evening.desk.refused("POST", f"{evening.path}/ticket-types", body) == (404, "zone_not_found")


@pytest.mark.parametrize(
    "wish",
    [{"ticket_type": 1}, {"ticket_type": 1, "count": 1, "seats": [{"number": "1"}]}, {"ticket_type": 1, "count": 0}],
)
def test_wishes_for_tickets_that_say_nothing_or_too_much(evening: Evening, wish: dict[str, Any]) -> None:
    assert evening.desk.refused("POST", f"{evening.path}/tickets", wish)[0] == 400


def test_a_cursor_of_another_list(evening: Evening) -> None:
    assert evening.desk.refused("GET", "/api/venues?after=WzFd") == (400, "bad_cursor")
    assert evening.desk.refused("GET", "/api/venues?after=%F0%9F%8E%AB") == (400, "bad_cursor")
    assert evening.desk.refused("GET", "/api/venues?limit=0")[0] == 400
    assert evening.desk.refused("GET", "/api/venues?colour=red")[0] == 400


def test_a_field_that_may_not_be_empty_is_not_cleared(evening: Evening) -> None:
    error = told(evening.desk.ask("PATCH", evening.path, {"name": None, "start_at": None, "doors_at": None}))
    assert [field["field"] for field in error["details"]["fields"]] == ["name", "start_at"]
    assert evening.desk.patch(evening.path, {"doors_at": None})["doors_at"] is None


def test_ids_of_another_organisation_answer_like_ids_that_do_not_exist(office: Office, evening: Evening) -> None:
    ticket = evening.ticket()["id"]
    zone_path, gate_path = f"{evening.path}/zones", f"/api/venues/{evening.venue['id']}/gates"
    evening.desk.post(zone_path, {"name": "Floor"})
    evening.desk.post(gate_path, a_gate())
    stranger = office.desk(office.organisation("rivals"))
    key = evening.desk.get("/api/keys")["items"][0]["id"]
    for method, path, body in (
        ("GET", f"/api/venues/{evening.venue['id']}", None),
        ("PATCH", f"/api/venues/{evening.venue['id']}", {"name": "Mine"}),
        ("GET", gate_path, None),
        ("PATCH", f"{gate_path}/1", {"status": "closed"}),
        ("POST", "/api/events", an_event(evening.venue["id"])),
        ("GET", evening.path, None),
        ("PATCH", evening.path, {"name": "Mine"}),
        ("POST", f"{evening.path}/cancel", {}),
        ("GET", zone_path, None),
        ("PATCH", f"{zone_path}/1", {"name": "Mine"}),
        ("GET", f"{evening.path}/gates", None),
        ("GET", f"{evening.path}/ticket-types", None),
        ("PATCH", f"{evening.path}/ticket-types/1", {"name": "Mine"}),
        ("GET", f"{evening.path}/tickets", None),
        ("POST", f"{evening.path}/tickets", {"ticket_type": 1, "count": 1}),
        ("GET", f"/api/tickets/{ticket}", None),
        ("GET", f"/api/tickets/{ticket}/code", None),
        ("POST", f"/api/tickets/{ticket}/cancel", {}),
        ("POST", f"/api/keys/{key}/distrust", {}),
    ):
        foreign = stranger.ask(method, path, body)
        missing = stranger.ask(method, path.replace(evening.event["id"], UNKNOWN).replace(ticket, "0" * 16), body)
        assert foreign.status_code == 404, (method, path, foreign.json)
        assert told(foreign)["code"] == told(missing)["code"], (method, path)
    assert stranger.get("/api/events")["items"] == [] and stranger.get("/api/venues")["items"] == []
    assert evening.desk.get(evening.path)["status"] == "draft"
