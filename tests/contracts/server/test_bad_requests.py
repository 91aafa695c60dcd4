"""Invalid requests: every error has a code, a message and a request id, and nothing changes."""

from __future__ import annotations

import base64
import json
import re
from typing import Any, Final

import pytest

from sync_server.plumbing.api.description import operations
from sync_server.plumbing.api.pagination import encode_cursor
from tests.app_server import ApiClient, AppServer, Concert
from tests.builders import EVENING, HOUR, a_gate, a_ticket_type, a_venue, an_event

UNKNOWN = "01a1ee93-a800-767b-ae97-80dab5121243"


def error_of(response: Any) -> dict[str, Any]:
    error: dict[str, Any] = response.json["error"]
    assert (
        set(response.json) == {"type", "title", "status", "detail", "error"}
        and error["request_id"] == response.headers["X-Request-Id"]
    )
    assert error["code"] and error["message"]
    return error


@pytest.mark.parametrize("body", [b"{", b"[1,", b"\xff\xfe", b"name=x", b'"only a string"', b"null", b"[]"])
def test_a_body_that_is_not_a_json_object(api: ApiClient, body: bytes) -> None:
    response = api.client.post("/api/venues", data=body, headers=api.headers)
    assert response.status_code == 400
    error = error_of(response)
    assert error["code"] == "invalid_request" and "_schema" not in error["message"]


def test_values_that_cannot_be_stored_are_refused_by_name(concert: Concert) -> None:
    """Both databases accept and refuse the same values; valid settings come back unchanged."""
    for value in ("\0", "\x1b[31m", "\ud800", 2**63, 10**400, float("nan"), float("inf"), {"\0": 1}, [["\x7f"]]):
        response = concert.api.ask("PATCH", concert.path, {"settings": {"door": value}})
        assert response.status_code == 400 and error_of(response)["message"].startswith("settings.door"), value
    deep: Any = 1
    for _ in range(300):
        deep = [deep]
    zone = {"name": "Floor", "zone_type": "ga_standing", "capacity": 5, "metadata": {"door": deep}}
    layouts = f"/api/venues/{concert.venue['id']}/layouts"
    assert concert.api.refused("POST", layouts, {"name": "Hall", "zones": [zone]}) == (400, "invalid_request")
    for value in (deep, "x" * 16_000):
        response = concert.api.ask("PATCH", concert.path, {"settings": {"door": value}})
        assert response.status_code == 400 and error_of(response)["details"]["fields"][0]["field"] == "settings"
    assert concert.api.refused("POST", "/api/venues", a_venue(name="Harbour\0Hall")) == (400, "invalid_request")
    wide = '{"name": "Harbour Hall", "timezone": "Europe/Berlin"}'.encode("utf-16")
    response = concert.api.client.post("/api/venues", data=wide, headers=concert.api.headers)
    assert response.status_code == 400 and "UTF-8" in error_of(response)["message"]
    kept = {"door": ["🎫 Einlass\n\tab 18 Uhr", 2**53, 0.5, None, {"a": []}]}
    assert concert.api.patch(concert.path, {"settings": kept})["settings"] == kept


def test_a_name_is_stored_as_people_see_it(concert: Concert) -> None:
    """However its characters are written in JSON, and in a form or file as well."""
    for unseen in ("\u200b", "\u202e \u2800", "\u3164"):
        assert concert.api.refused("POST", "/api/venues", a_venue(name=unseen)) == (400, "invalid_request")
        assert concert.api.refused("PATCH", concert.path, {"name": unseen}) == (400, "invalid_request")
    for control in ("\x85", "\u2028", "\x9b31m"):
        assert concert.api.refused("PATCH", concert.path, {"name": f"Night{control}Music"}) == (400, "invalid_request")
    assert concert.api.patch(concert.path, {"name": "\u202eCafe\u0301 \ufeffNoir"})["name"] == "Caf\u00e9 Noir"
    raw = '{"name": "\u200bCafe\u0301"}'.encode()
    headers = concert.api.headers | {"Content-Type": "application/json"}
    response = concert.api.client.patch(concert.path, data=raw, headers=headers)
    assert response.json is not None and response.json["name"] == "Caf\u00e9"


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 50_000, b'{"name":' + b"[" * 3_000 + b"]" * 3_000 + b"}"])
def test_a_deeply_nested_body(api: ApiClient, body: bytes) -> None:
    response = api.client.post("/api/venues", data=body, headers=api.headers | {"Content-Type": "application/json"})
    assert response.status_code == 400
    assert error_of(response)["code"] == "invalid_request"


def test_only_the_first_of_many_mistakes_are_listed(concert: Concert) -> None:
    body = {"every_days": 7, "count": 2, "weekdays": ["someday"] * 10_000}
    response = concert.api.ask("POST", f"{concert.path}/series", body)
    assert response.status_code == 400 and len(response.data) < 20_000
    error = error_of(response)
    assert error["details"]["fields"][0]["field"] == "weekdays.0" and "9950 more" in error["message"]
    long = error_of(concert.api.ask("POST", "/api/venues", a_venue(**{"x" * 100_000: 1})))
    assert len(long["message"]) < 1_000


def test_an_unknown_field_is_named(api: ApiClient) -> None:
    response = api.ask("POST", "/api/venues", a_venue(organisation_id="somebody-else"))
    assert response.status_code == 400
    assert error_of(response)["details"]["fields"][0]["field"] == "organisation_id"


def test_a_number_sent_as_text_is_refused(api: ApiClient) -> None:
    error = error_of(api.ask("POST", "/api/venues", a_venue(max_capacity="500")))
    assert error["details"]["fields"][0]["field"] == "max_capacity"


def test_several_mistakes_are_reported_together(api: ApiClient) -> None:
    error = error_of(api.ask("POST", "/api/venues", {"max_capacity": -1}))
    assert {field["field"] for field in error["details"]["fields"]} == {"name", "timezone", "max_capacity"}


def test_unknown_paths_and_methods(api: ApiClient) -> None:
    nowhere, wrong_method = api.ask("GET", "/api/nowhere"), api.ask("DELETE", "/api/venues")
    assert (nowhere.status_code, error_of(nowhere)["code"]) == (404, "not_found")
    assert (wrong_method.status_code, error_of(wrong_method)["code"]) == (405, "method_not_allowed")
    assert "POST" in wrong_method.headers["Allow"]


def test_a_body_larger_than_the_server_accepts(app_server: AppServer, api: ApiClient) -> None:
    body = b'{"name": "' + b"x" * app_server.parts.config.max_body_bytes + b'"}'
    response = api.client.post("/api/venues", data=body, headers=api.headers)
    assert (response.status_code, error_of(response)["code"]) == (413, "too_large")


def test_unauthenticated_requests(app_server: AppServer, api: ApiClient) -> None:
    stranger = app_server.app.test_client()
    assert stranger.get("/api/venues").status_code == 401
    assert stranger.post("/api/venues", json={"nonsense": 1}).status_code == 401  # before the body is validated
    response = stranger.get("/api/venues", headers={"Authorization": "Bearer ght_nothing"})
    assert (response.status_code, error_of(response)["code"]) == (401, "bad_token")


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
def test_invalid_events(concert: Concert, changed: dict[str, Any], code: str) -> None:
    body = an_event(concert.venue["id"], **changed)
    assert concert.api.refused("POST", "/api/events", body) == (400, code)


def test_duplicate_slugs_and_codes(concert: Concert) -> None:
    venue = concert.venue["id"]
    assert concert.api.refused("POST", "/api/events", an_event(venue, slug="night-music")) == (409, "slug_taken")
    assert concert.api.refused("POST", "/api/venues", a_venue(slug="harbour-hall")) == (409, "slug_taken")
    concert.api.post(f"/api/venues/{venue}/gates", a_gate())
    assert concert.api.refused("POST", f"/api/venues/{venue}/gates", a_gate()) == (409, "gate_code_taken")
    second = concert.api.post("/api/events", an_event(venue, start_at=EVENING + 3 * HOUR))
    assert second["slug"] == "night-music-2" and second["code"] != concert.event["code"]


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
def test_invalid_ticket_types(concert: Concert, changed: dict[str, Any]) -> None:
    body = a_ticket_type(name="Other", **changed)
    assert concert.api.refused("POST", f"{concert.path}/ticket-types", body)[0] == 400


def test_a_ticket_type_in_an_unknown_zone(concert: Concert) -> None:
    body = a_ticket_type(name="Other", zone=4)
    assert concert.api.refused("POST", f"{concert.path}/ticket-types", body) == (404, "zone_not_found")


@pytest.mark.parametrize(
    "request_body",
    [{"ticket_type": 1}, {"ticket_type": 1, "count": 1, "seats": [{"number": "1"}]}, {"ticket_type": 1, "count": 0}],
)
def test_invalid_ticket_requests(concert: Concert, request_body: dict[str, Any]) -> None:
    assert concert.api.refused("POST", f"{concert.path}/tickets", request_body)[0] == 400


FORGED: Final = tuple(
    encode_cursor(key) for kind in ("no id", "\0", 2**63, -1, None, 1.5) for key in ([kind], [1, kind], [kind, kind])
)


def test_forged_cursors_are_refused_alike_by_every_list_and_database(app_server: AppServer, concert: Concert) -> None:
    """PostgreSQL compares ids as UUIDs and SQLite as texts: neither is asked."""
    concert.api.post("/api/webhooks", {"url": "https://shop.example.org/", "facts": ["*"]})
    ids = {"event_id": concert.event["id"], "venue_id": concert.venue["id"]}
    ids["webhook_id"] = concert.api.get("/api/webhooks")["items"][0]["id"]
    asked = 0
    for path, method, operation in operations(concert.api.get("/openapi.json")):
        paged = any(parameter["name"] == "after" for parameter in operation.get("parameters", ()))
        address = re.sub(r"{(\w+)}", lambda gap: ids.get(gap[1], "1"), path)
        if method != "get" or not paged or concert.api.ask("GET", address).status_code != 200:
            continue
        asked += 1
        for cursor in FORGED:
            response = concert.api.ask("GET", f"{address}?after={cursor}")
            status, code = response.status_code, (response.json or {}).get("error", {}).get("code", "")
            assert (status, code) in {(400, "bad_cursor"), (200, "")}, (address, cursor, status, code)
            assert status == 400 or decoded(cursor) in ([-1], [1, -1], ["no id"], ["no id", "no id"]), (address, cursor)
    assert asked > 10


def decoded(cursor: str) -> Any:
    return json.loads(base64.urlsafe_b64decode(cursor + "=="))


def test_an_object_with_a_key_twice_is_refused_by_the_name_of_the_key(concert: Concert) -> None:
    for body, name in (
        ('{"name": "First", "city": "Bremen", "name": "Second"}', "name"),
        ('{"name": "First", "settings": {"colour": 1, "colour": 1}}', "colour"),
        ('{"n\\u0061me": "First", "name": "Second"}', "name"),
    ):
        response = concert.api.client.post(
            "/api/venues", data=body, content_type="application/json", headers=concert.api.headers
        )
        assert response.status_code == 400 and response.json is not None
        assert response.json["error"]["details"] == {"field": name}
        assert f"{name}: is in the same object more than once" in response.json["error"]["message"]
    many = ", ".join(f'"{number}": 0' for number in range(100_000))
    twice = f'{{{many}, "99999": 1}}'
    assert (
        concert.api.client.post(
            "/api/venues", data=twice, content_type="application/json", headers=concert.api.headers
        ).status_code
        == 400
    )


def test_a_cursor_of_another_list(concert: Concert) -> None:
    assert concert.api.refused("GET", "/api/venues?after=WzFd") == (400, "bad_cursor")
    assert concert.api.refused("GET", "/api/venues?after=%F0%9F%8E%AB") == (400, "bad_cursor")
    assert concert.api.refused("GET", "/api/venues?limit=0")[0] == 400
    assert concert.api.refused("GET", "/api/venues?colour=red")[0] == 400


def test_a_required_field_cannot_be_cleared(concert: Concert) -> None:
    error = error_of(concert.api.ask("PATCH", concert.path, {"name": None, "start_at": None, "doors_at": None}))
    assert [field["field"] for field in error["details"]["fields"]] == ["name", "start_at"]
    assert concert.api.patch(concert.path, {"doors_at": None})["doors_at"] is None


def test_ids_of_another_organisation_look_like_unknown_ids(app_server: AppServer, concert: Concert) -> None:
    ticket = concert.ticket()["id"]
    zone_path, gate_path = f"{concert.path}/zones", f"/api/venues/{concert.venue['id']}/gates"
    concert.api.post(zone_path, {"name": "Floor"})
    concert.api.post(gate_path, a_gate())
    stranger = app_server.api(app_server.organisation("rivals"))
    for method, path, body in (
        ("GET", f"/api/venues/{concert.venue['id']}", None),
        ("PATCH", f"/api/venues/{concert.venue['id']}", {"name": "Mine"}),
        ("GET", gate_path, None),
        ("PATCH", f"{gate_path}/1", {"status": "closed"}),
        ("POST", "/api/events", an_event(concert.venue["id"])),
        ("GET", concert.path, None),
        ("PATCH", concert.path, {"name": "Mine"}),
        ("POST", f"{concert.path}/cancel", {}),
        ("GET", zone_path, None),
        ("PATCH", f"{zone_path}/1", {"name": "Mine"}),
        ("GET", f"{concert.path}/gates", None),
        ("GET", f"{concert.path}/ticket-types", None),
        ("PATCH", f"{concert.path}/ticket-types/1", {"name": "Mine"}),
        ("GET", f"{concert.path}/tickets", None),
        ("POST", f"{concert.path}/tickets", {"ticket_type": 1, "count": 1}),
        ("GET", f"/api/tickets/{ticket}", None),
        ("GET", f"/api/tickets/{ticket}/code", None),
        ("POST", f"/api/tickets/{ticket}/cancel", {}),
    ):
        foreign = stranger.ask(method, path, body)
        missing = stranger.ask(method, path.replace(concert.event["id"], UNKNOWN).replace(ticket, "0" * 16), body)
        assert foreign.status_code == 404, (method, path, foreign.json)
        assert error_of(foreign)["code"] == error_of(missing)["code"], (method, path)
    assert stranger.get("/api/events")["items"] == [] and stranger.get("/api/venues")["items"] == []
    assert concert.api.get(concert.path)["status"] == "draft"
