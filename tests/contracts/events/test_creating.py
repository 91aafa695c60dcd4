"""Creating events, finding them, and refusing duplicates."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.app_server import ApiClient, AppServer, Concert, a_concert
from tests.builders import DAY, EVENING, HOUR, MINUTE, a_ticket_type, a_venue, an_event


def listed(api: ApiClient, query: str = "") -> list[str]:
    return [event["name"] for event in api.get(f"/api/events{query}")["items"]]


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "x" * 201},
        {"description": ""},
        {"description": "x" * 2001},
        {"category": "x" * 51},
        {"start_at": EVENING - HOUR},
        {"start_at": EVENING},
        {"end_at": EVENING + 2 * HOUR + MINUTE - 1},
        {"capacity": -1},
        {"capacity": 1_000_001},
        {"sale_end_at": EVENING + 9 * HOUR},
        {"sale_start_at": EVENING + 3 * HOUR},
        {"owner_id": "nobody"},
    ],
)
def test_an_invalid_event_is_refused(api: ApiClient, wrong: dict[str, Any]) -> None:
    venue = api.post("/api/venues", a_venue())
    status, _code = api.refused("POST", "/api/events", an_event(venue["id"], **wrong))
    assert status == 400 and listed(api) == []


def test_an_event_at_the_limits_is_created(api: ApiClient) -> None:
    venue = api.post("/api/venues", a_venue())["id"]
    made = api.post(
        "/api/events",
        an_event(
            venue,
            name="x" * 200,
            description="y" * 2000,
            start_at=EVENING + 1,
            end_at=EVENING + 1 + MINUTE,
            capacity=1_000_000,
            sale_end_at=EVENING + 1 + MINUTE,
        ),
    )
    assert (made["capacity"], made["status"]) == (1_000_000, "draft")


def test_an_event_is_published_only_with_description_and_location(app_server: AppServer, api: ApiClient) -> None:
    def missing(method: str, path: str, body: dict[str, Any]) -> list[str]:
        answer: Any = api.ask(method, path, body)
        assert (answer.status_code, answer.json["error"]["code"]) == (409, "event_incomplete"), answer.json
        fields: list[str] = answer.json["error"]["details"]["missing"]
        return fields

    bare = api.post("/api/venues", {"name": "Barn", "timezone": "Europe/Berlin"})["id"]
    event = f"/api/events/{api.post('/api/events', an_event(bare, description=None))['id']}"
    assert missing("POST", f"{event}/publish", {}) == ["description"]
    api.patch(event, {"description": "Songs of the harvest."})
    assert missing("POST", f"{event}/publish", {}) == ["city", "country", "address"]
    api.patch(f"/api/venues/{bare}", {"city": "Trebbin", "country": "DE", "address": "Dorfstraße 1"})
    shown = api.post(f"{event}/publish", {}, 200)  # gaps in the draft are filled from its venue
    assert (shown["city"], shown["country"], shown["address"]) == ("Trebbin", "DE", "Dorfstraße 1")
    assert missing("PATCH", event, {"description": None}) == ["description"]
    nowhere = api.post("/api/venues", a_venue(name="Nowhere", address=None))["id"]
    assert missing("POST", f"{event}/venue", {"venue_id": nowhere}) == ["address"]
    assert api.get(event)["venue_name"] == "Barn"
    stream = api.post("/api/venues", {"name": "Stream", "kind": "virtual", "timezone": "Europe/Berlin"})["id"]
    api.post(f"{event}/venue", {"venue_id": stream}, 200)
    late = api.post("/api/events", an_event(stream, name="Late"))["id"]
    app_server.advance(8 * HOUR)
    assert api.refused("POST", f"/api/events/{late}/publish", {}) == (409, "event_over")


def test_an_event_without_its_own_capacity_is_limited_by_its_venue(api: ApiClient) -> None:
    venue = api.post("/api/venues", a_venue(max_capacity=3))["id"]
    assert api.refused("POST", "/api/events", an_event(venue, capacity=4)) == (409, "venue_capacity_exceeded")
    event = api.post("/api/events", an_event(venue))
    concert = Concert(api, {"id": venue}, event)
    types = f"{concert.path}/ticket-types"
    assert api.refused("POST", types, a_ticket_type(quantity=4)) == (409, "capacity_exceeded")
    api.post(types, a_ticket_type(quantity=3))
    api.post(f"{concert.path}/publish", {}, 200)
    concert.issue(count=3)
    assert api.get(concert.path)["sale_status"] == "sold_out"
    assert api.refused("POST", f"{concert.path}/tickets", {"ticket_type": 1, "count": 1}) == (409, "capacity_exceeded")


def test_a_duplicate_event_is_refused_and_the_first_one_named(api: ApiClient, concert: Concert) -> None:
    again = an_event(concert.venue["id"], name="night  MUSIC!")
    answer = api.ask("POST", "/api/events", again)
    assert (answer.status_code, answer.json["error"]["code"]) == (409, "duplicate_event")
    assert answer.json["error"]["details"]["event_id"] == concert.event["id"]
    other = api.post("/api/events", again | {"name": "Day Music"})
    assert api.refused("PATCH", f"/api/events/{other['id']}", {"name": "Night Music"}) == (409, "duplicate_event")
    api.post(f"{concert.path}/cancel", {"reason": "rain"}, 200)  # a cancelled event may be created again
    assert api.post("/api/events", again)["slug"] == "night-music-2"


def test_concurrent_creation_of_the_same_event_creates_one(app_server: AppServer, api: ApiClient) -> None:
    venue = api.post("/api/venues", a_venue())["id"]

    def make(number: int) -> int:
        body = an_event(venue, slug=f"n-{number}", code=f"N{number}")
        return ApiClient(app_server.app.test_client(), api.headers).ask("POST", "/api/events", body).status_code

    with ThreadPoolExecutor(4) as pool:
        statuses = sorted(pool.map(make, range(4)))
    assert statuses == [201, 409, 409, 409] and len(listed(api)) == 1


def test_lists_filter_upcoming_called_off_and_archived_events(app_server: AppServer, api: ApiClient) -> None:
    venue = api.post("/api/venues", a_venue())["id"]
    steps: dict[str, list[str]] = {
        "Draft": [],
        "Shown": ["publish"],
        "Off": ["publish", "cancel"],
        "Later": ["publish", "postpone"],
        "Gone": ["archive"],
    }
    for name, path in steps.items():
        app_server.advance(1)
        event = api.post("/api/events", an_event(venue, name=name))
        for step in path:
            api.post(f"/api/events/{event['id']}/{step}", {"reason": "because"}, 200)
    assert listed(api) == ["Draft", "Shown", "Off", "Later"]
    assert listed(api, "?archived=true") == list(steps) and listed(api, "?status=archived") == ["Gone"]
    assert listed(api, "?upcoming=true") == ["Shown", "Later"]
    assert listed(api, "?status=cancelled,postponed") == ["Off", "Later"]
    assert listed(api, "?slug=shown") == ["Shown"]
    assert api.refused("GET", "/api/events?status=lost")[0] == 400
    app_server.advance(DAY)
    assert listed(api, "?upcoming=true") == []
    later = api.get("/api/events?slug=later")["items"][0]["id"]
    api.post(f"/api/events/{later}/reschedule", {"rescheduled_at": EVENING + 2 * DAY}, 200)
    assert listed(api, "?upcoming=true") == ["Later"]
    start = EVENING + 2 * DAY - HOUR
    soon = api.post("/api/events", an_event(venue, name="Soon", start_at=start, end_at=start + HOUR))["id"]
    api.post(f"/api/events/{soon}/publish", {}, 200)
    assert listed(api, "?upcoming=true") == ["Soon", "Later"]  # by the date on which it takes place
    first = api.get("/api/events?upcoming=true&limit=1")
    assert [event["name"] for event in first["items"]] == ["Soon"]
    assert listed(api, f"?upcoming=true&limit=1&after={first['next']}") == ["Later"]


def test_members_list_their_own_events_newest_first(app_server: AppServer) -> None:
    marquee = app_server.organisation("marquee")
    sam, ada = (
        app_server.user(f"{who}@example.org", marquee, role) for who, role in (("sam", "staff"), ("ada", "admin"))
    )
    as_sam, as_ada = app_server.browser("sam@example.org"), app_server.browser("ada@example.org")
    venue = as_ada.post("/api/venues", a_venue())["id"]
    for name in ("One", "Two", "Three"):
        app_server.advance(1)
        as_sam.post("/api/events", an_event(venue, name=name))
    page = as_sam.get("/api/me/events?limit=2")
    rest = as_sam.get(f"/api/me/events?limit=2&after={page['next']}")
    assert [event["name"] for event in page["items"] + rest["items"]] == ["Three", "Two", "One"]
    assert as_ada.get("/api/me/events")["items"] == []
    path = f"/api/events/{page['items'][0]['id']}"
    assert as_sam.refused("PATCH", path, {"owner_id": ada}) == (403, "forbidden")
    assert as_ada.patch(path, {"owner_id": ada})["owner_id"] == ada
    assert [event["name"] for event in as_ada.get("/api/me/events")["items"]] == ["Three"]
    assert len(as_sam.get("/api/me/events")["items"]) == 2
    assert as_sam.refused("POST", "/api/events", an_event(venue, name="Four", owner_id=ada)) == (403, "forbidden")
    assert as_sam.post("/api/events", an_event(venue, name="Four", owner_id=sam))["owner_id"] == sam


def test_another_organisation_sees_nothing_and_has_no_duplicates(app_server: AppServer, concert: Concert) -> None:
    rival = app_server.api(app_server.organisation("rival"))
    assert rival.get("/api/me/events")["items"] == [] and rival.get("/api/events?slug=night-music")["items"] == []
    a_concert(rival)
