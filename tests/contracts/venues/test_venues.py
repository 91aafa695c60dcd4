"""Houses are described rightly, found, laid by, and deleted only where nothing hangs on them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import HOUR, a_gate, a_venue, an_event
from tests.office import Desk, Evening, Office

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


def names(desk: Desk, query: str = "") -> list[str]:
    return [venue["name"] for venue in desk.get(f"/api/venues{query}")["items"]]


def test_a_house_is_described_in_full_and_shown_as_it_was_said(desk: Desk) -> None:
    made = desk.post("/api/venues", a_venue(**FULL))
    assert {key: made[key] for key in FULL} == FULL | {"country": "DE"}
    bare = desk.post("/api/venues", {"name": "Stream", "kind": "virtual", "timezone": "Europe/Berlin"})
    assert (bare["kind"], bare["city"], bare["address"], bare["latitude"]) == ("virtual", "", "", None)
    assert desk.post("/api/venues", {"name": "東京ドーム", "timezone": "Asia/Tokyo"})["slug"] == "venue"


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
def test_what_no_house_can_be_is_refused(desk: Desk, wrong: dict[str, Any]) -> None:
    answer = desk.ask("POST", "/api/venues", a_venue(**wrong))
    assert answer.status_code == 400, answer.json
    words = answer.json["error"]["message"].replace("time zone", "timezone")
    assert any(field in words for field in (*wrong, "latitude"))
    assert names(desk) == []


def test_half_a_position_cannot_be_left_over_by_a_change(desk: Desk) -> None:
    venue = desk.post("/api/venues", a_venue(**FULL))
    assert desk.refused("PATCH", f"/api/venues/{venue['id']}", {"latitude": None})[0] == 400
    moved = desk.patch(f"/api/venues/{venue['id']}", {"latitude": None, "longitude": None, "website": None})
    assert (moved["latitude"], moved["longitude"], moved["website"]) == (None, None, "")


def test_houses_are_found_by_city_however_it_is_written_and_by_time_zone(desk: Desk) -> None:
    desk.post("/api/venues", a_venue(name="Volkshaus", city="Zürich", timezone="Europe/Zurich"))
    desk.post("/api/venues", a_venue(name="Kaufleuten", city="ZÜRICH ", timezone="Europe/Zurich"))
    desk.post("/api/venues", a_venue())
    assert names(desk, "?city=zurich") == ["Volkshaus", "Kaufleuten"]
    assert names(desk, "?timezone=Europe/Berlin") == ["Harbour Hall"]
    desk.patch(f"/api/venues/{desk.get('/api/venues?city=zurich')['items'][0]['id']}", {"city": "Bern"})
    assert names(desk, "?city=Zürich") == ["Kaufleuten"]


def test_a_house_in_the_archive_is_absent_and_plans_nothing_new(desk: Desk, evening: Evening) -> None:
    path = f"/api/venues/{evening.venue['id']}"
    assert desk.post(f"{path}/archive", {}, 200)["archived_at"] is not None
    assert names(desk) == [] and names(desk, "?archived=true") == ["Harbour Hall"]
    assert desk.refused("POST", "/api/events", an_event(evening.venue["id"], name="Another")) == (409, "venue_archived")
    desk.post(f"{evening.path}/publish", {}, 200)  # what was planned there goes on
    assert desk.post(f"{path}/restore", {}, 200)["archived_at"] is None
    assert names(desk) == ["Harbour Hall"]


def test_a_house_is_deleted_only_where_nothing_hangs_on_it(office: Office, desk: Desk, evening: Evening) -> None:
    answer = desk.ask("DELETE", f"/api/venues/{evening.venue['id']}")
    assert (answer.status_code, answer.json["error"]["code"]) == (409, "venue_in_use")
    assert answer.json["error"]["details"]["uses"] == {"events": 1} and "archive" in answer.json["error"]["message"]
    empty = desk.post("/api/venues", a_venue(name="Empty", slug="empty"))
    desk.post(f"/api/venues/{empty['id']}/gates", a_gate())
    assert desk.ask("DELETE", f"/api/venues/{empty['id']}").status_code == 204
    assert desk.refused("GET", f"/api/venues/{empty['id']}") == (404, "venue_not_found")
    foreign = office.desk(office.organisation("rival"))
    assert foreign.refused("DELETE", f"/api/venues/{evening.venue['id']}") == (404, "venue_not_found")
    assert foreign.refused("POST", f"/api/venues/{evening.venue['id']}/archive", {}) == (404, "venue_not_found")


def test_a_house_with_a_layout_stays(desk: Desk) -> None:
    venue = desk.post("/api/venues", a_venue())["id"]
    zone = {"name": "Floor", "zone_type": "ga_standing", "capacity": 100}
    desk.post(f"/api/venues/{venue}/layouts", {"name": "Rows", "zones": [zone]})
    answer = desk.ask("DELETE", f"/api/venues/{venue}")
    assert answer.json["error"]["details"]["uses"] == {"layouts": 1}


def test_staff_describe_houses_but_only_admins_take_them_away(office: Office) -> None:
    marquee = office.organisation("marquee")
    office.user("sam@example.org", marquee, "staff")
    sam = office.browser("sam@example.org")
    venue = sam.post("/api/venues", a_venue())["id"]
    sam.patch(f"/api/venues/{venue}", {"city": "Hamburg"})
    for method, path in (("DELETE", ""), ("POST", "/archive"), ("POST", "/restore")):
        assert sam.refused(method, f"/api/venues/{venue}{path}", {}) == (403, "forbidden")


def test_the_open_gates_of_a_house_are_listed(desk: Desk) -> None:
    venue = desk.post("/api/venues", a_venue())["id"]
    for code in "AB":
        desk.post(f"/api/venues/{venue}/gates", a_gate(code=code))
    desk.patch(f"/api/venues/{venue}/gates/1", {"status": "closed"})
    assert [gate["code"] for gate in desk.get(f"/api/venues/{venue}/gates?status=open")["items"]] == ["B"]
    assert len(desk.get(f"/api/venues/{venue}/gates")["items"]) == 2


def test_new_events_take_over_the_door_times_of_their_house_and_keep_its_place(desk: Desk) -> None:
    venue = desk.post("/api/venues", a_venue(**FULL))["id"]
    made = desk.post("/api/events", an_event(venue))
    assert made["doors_at"] == "2026-07-04T16:30:00Z"
    own = desk.post("/api/events", an_event(venue, name="Early", doors_at=an_event(venue)["start_at"] - HOUR))
    assert own["doors_at"] == "2026-07-04T17:00:00Z"
    desk.patch(f"/api/venues/{venue}", {"city": "Bremen", "max_capacity": 10, "settings": {}, "address": "Elsewhere 1"})
    kept = desk.get(f"/api/events/{made['id']}")
    assert (kept["city"], kept["address"], kept["venue_capacity"]) == ("Hamburg", FULL["address"], 2000)
