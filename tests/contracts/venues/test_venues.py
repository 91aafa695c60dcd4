"""Creating, finding, archiving and deleting venues."""

from __future__ import annotations

from typing import Any

import pytest

from tests.app_server import ApiClient, AppServer, Concert
from tests.builders import HOUR, a_gate, a_venue, an_event

FULL: dict[str, Any] = {
    "address": "Hafenstraße 1, 20457 Hamburg",
    "city": "Hamburg",
    "country": "de",
    "latitude": 53.54,
    "longitude": 9.98,
    "website": "https://harbour.example/hall",
    "max_capacity": 2000,
    "settings": {"doors_minutes_before": 90, "age_limit": 16, "access_rules": ["No bags larger than A4"]},
}


def names(api: ApiClient, query: str = "") -> list[str]:
    return [venue["name"] for venue in api.get(f"/api/venues{query}")["items"]]


def test_a_venue_is_created_and_returned_in_full(api: ApiClient) -> None:
    made = api.post("/api/venues", a_venue(**FULL))
    assert {key: made[key] for key in FULL} == FULL | {"country": "DE"}
    bare = api.post("/api/venues", {"name": "Stream", "kind": "virtual", "timezone": "Europe/Berlin"})
    assert (bare["kind"], bare["city"], bare["address"], bare["latitude"]) == ("virtual", "", "", None)
    assert api.post("/api/venues", {"name": "東京ドーム", "timezone": "Asia/Tokyo"})["slug"] == "venue"


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "x" * 101},
        {"city": ""},
        {"city": "x" * 51},
        {"address": "here"},
        {"address": "x" * 501},
        {"country": "XX"},
        {"country": "D"},
        {"timezone": "Mars/Olympus"},
        {"timezone": ""},
        {"latitude": 91, "longitude": 0},
        {"latitude": 0, "longitude": -181},
        {"latitude": 53.5},
        {"longitude": 9.9},
        {"max_capacity": -1},
        {"max_capacity": 1_000_001},
        {"website": "javascript:alert(1)"},
        {"settings": {"dors_minutes_before": 90}},
        {"settings": {"doors_minutes_before": -1}},
        {"settings": {"age_limit": "16"}},
        {"kind": "imaginary"},
        {"timezone": "localtime"},
        {"timezone": "right/Europe/Berlin"},
    ],
)
def test_an_invalid_venue_is_refused(api: ApiClient, wrong: dict[str, Any]) -> None:
    answer = api.ask("POST", "/api/venues", a_venue(**wrong))
    assert answer.status_code == 400, answer.json
    words = answer.json["error"]["message"].replace("time zone", "timezone")
    assert any(field in words for field in (*wrong, "latitude"))
    assert names(api) == []


def test_a_change_cannot_leave_half_a_position(api: ApiClient) -> None:
    venue = api.post("/api/venues", a_venue(**FULL))
    assert api.refused("PATCH", f"/api/venues/{venue['id']}", {"latitude": None})[0] == 400
    moved = api.patch(f"/api/venues/{venue['id']}", {"latitude": None, "longitude": None, "website": None})
    assert (moved["latitude"], moved["longitude"], moved["website"]) == (None, None, "")


def test_venues_are_found_by_city_in_any_spelling_and_by_time_zone(app_server: AppServer, api: ApiClient) -> None:
    api.post("/api/venues", a_venue(name="Volkshaus", city="Zürich", timezone="Europe/Zurich"))
    app_server.advance(1)  # venues are listed in the order of their creation, to the millisecond
    api.post("/api/venues", a_venue(name="Kaufleuten", city="ZÜRICH ", timezone="Europe/Zurich"))
    api.post("/api/venues", a_venue())
    assert names(api, "?city=zurich") == ["Volkshaus", "Kaufleuten"]
    assert names(api, "?timezone=Europe/Berlin") == ["Harbour Hall"]
    api.patch(f"/api/venues/{api.get('/api/venues?city=zurich')['items'][0]['id']}", {"city": "Bern"})
    assert names(api, "?city=Zürich") == ["Kaufleuten"]


def test_an_archived_venue_is_hidden_and_takes_no_new_events(api: ApiClient, concert: Concert) -> None:
    path = f"/api/venues/{concert.venue['id']}"
    assert api.post(f"{path}/archive", {}, 200)["archived_at"] is not None
    assert names(api) == [] and names(api, "?archived=true") == ["Harbour Hall"]
    assert api.refused("POST", "/api/events", an_event(concert.venue["id"], name="Another")) == (409, "venue_archived")
    api.post(f"{concert.path}/publish", {}, 200)  # what was planned there goes on
    assert api.post(f"{path}/restore", {}, 200)["archived_at"] is None
    assert names(api) == ["Harbour Hall"]


def test_a_venue_is_deleted_only_while_it_is_unused(app_server: AppServer, api: ApiClient, concert: Concert) -> None:
    answer = api.ask("DELETE", f"/api/venues/{concert.venue['id']}")
    assert (answer.status_code, answer.json["error"]["code"]) == (409, "venue_in_use")
    assert answer.json["error"]["details"]["uses"] == {"events": 1} and "Archive" in answer.json["error"]["message"]
    empty = api.post("/api/venues", a_venue(name="Empty", slug="empty"))
    api.post(f"/api/venues/{empty['id']}/gates", a_gate())
    assert api.ask("DELETE", f"/api/venues/{empty['id']}").status_code == 204
    assert api.refused("GET", f"/api/venues/{empty['id']}") == (404, "venue_not_found")
    foreign = app_server.api(app_server.organisation("rival"))
    assert foreign.refused("DELETE", f"/api/venues/{concert.venue['id']}") == (404, "venue_not_found")
    assert foreign.refused("POST", f"/api/venues/{concert.venue['id']}/archive", {}) == (404, "venue_not_found")


def test_a_venue_with_a_layout_is_not_deleted(api: ApiClient) -> None:
    venue = api.post("/api/venues", a_venue())["id"]
    zone = {"name": "Floor", "zone_type": "ga_standing", "capacity": 100}
    api.post(f"/api/venues/{venue}/layouts", {"name": "Rows", "zones": [zone]})
    answer = api.ask("DELETE", f"/api/venues/{venue}")
    assert answer.json["error"]["details"]["uses"] == {"layouts": 1}


def test_staff_edit_venues_where_granted_but_only_admins_remove_them(app_server: AppServer) -> None:
    marquee = app_server.organisation("marquee")
    app_server.api(marquee).patch("/api/organisation/staff-policy", {"edit_venues": True})
    app_server.user("sam@example.org", marquee, "staff")
    sam = app_server.browser("sam@example.org")
    venue = sam.post("/api/venues", a_venue())["id"]
    sam.patch(f"/api/venues/{venue}", {"city": "Hamburg"})
    for method, path in (("DELETE", ""), ("POST", "/archive"), ("POST", "/restore")):
        assert sam.refused(method, f"/api/venues/{venue}{path}", {}) == (403, "forbidden")


def test_the_open_gates_of_a_venue_are_listed(api: ApiClient) -> None:
    venue = api.post("/api/venues", a_venue())["id"]
    for code in "AB":
        api.post(f"/api/venues/{venue}/gates", a_gate(code=code))
    api.patch(f"/api/venues/{venue}/gates/1", {"status": "closed"})
    assert [gate["code"] for gate in api.get(f"/api/venues/{venue}/gates?status=open")["items"]] == ["B"]
    assert len(api.get(f"/api/venues/{venue}/gates")["items"]) == 2


def test_new_events_copy_the_door_times_and_location_of_their_venue(api: ApiClient) -> None:
    venue = api.post("/api/venues", a_venue(**FULL))["id"]
    made = api.post("/api/events", an_event(venue))
    assert made["doors_at"] == "2026-07-04T16:30:00Z"
    own = api.post("/api/events", an_event(venue, name="Early", doors_at=an_event(venue)["start_at"] - HOUR))
    assert own["doors_at"] == "2026-07-04T17:00:00Z"
    api.patch(f"/api/venues/{venue}", {"city": "Bremen", "max_capacity": 10, "settings": {}, "address": "Elsewhere 1"})
    stored = api.get(f"/api/events/{made['id']}")
    assert (stored["city"], stored["address"], stored["venue_capacity"]) == ("Hamburg", FULL["address"], 2000)
