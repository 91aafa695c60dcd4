"""Events are made with what they must have, found again, and never twice by accident."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.builders import DAY, EVENING, HOUR, MINUTE, a_ticket_type, a_venue, an_event
from tests.office import Desk, Evening, Office, an_evening


def listed(desk: Desk, query: str = "") -> list[str]:
    return [event["name"] for event in desk.get(f"/api/events{query}")["items"]]


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
def test_what_no_event_can_be_is_refused(desk: Desk, wrong: dict[str, Any]) -> None:
    venue = desk.post("/api/venues", a_venue())
    status, _code = desk.refused("POST", "/api/events", an_event(venue["id"], **wrong))
    assert status == 400 and listed(desk) == []


def test_an_event_at_the_edge_of_what_may_be_is_made(desk: Desk) -> None:
    venue = desk.post("/api/venues", a_venue())["id"]
    made = desk.post(
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


def test_an_event_is_shown_once_visitors_can_read_what_it_is_and_where(office: Office, desk: Desk) -> None:
    def missing(method: str, path: str, body: dict[str, Any]) -> list[str]:
        answer: Any = desk.ask(method, path, body)
        assert (answer.status_code, answer.json["error"]["code"]) == (409, "event_incomplete"), answer.json
        fields: list[str] = answer.json["error"]["details"]["missing"]
        return fields

    bare = desk.post("/api/venues", {"name": "Barn", "timezone": "Europe/Berlin"})["id"]
    event = f"/api/events/{desk.post('/api/events', an_event(bare, description=None))['id']}"
    assert missing("POST", f"{event}/publish", {}) == ["description"]
    desk.patch(event, {"description": "Songs of the harvest."})
    assert missing("POST", f"{event}/publish", {}) == ["city", "country", "address"]
    desk.patch(f"/api/venues/{bare}", {"city": "Trebbin", "country": "DE", "address": "Dorfstraße 1"})
    shown = desk.post(f"{event}/publish", {}, 200)  # what the draft lacked is taken from its house
    assert (shown["city"], shown["country"], shown["address"]) == ("Trebbin", "DE", "Dorfstraße 1")
    assert missing("PATCH", event, {"description": None}) == ["description"]
    nowhere = desk.post("/api/venues", a_venue(name="Nowhere", address=None))["id"]
    assert missing("POST", f"{event}/venue", {"venue_id": nowhere}) == ["address"]
    assert desk.get(event)["venue_name"] == "Barn"
    stream = desk.post("/api/venues", {"name": "Stream", "kind": "virtual", "timezone": "Europe/Berlin"})["id"]
    desk.post(f"{event}/venue", {"venue_id": stream}, 200)
    late = desk.post("/api/events", an_event(stream, name="Late"))["id"]
    office.advance(8 * HOUR)
    assert desk.refused("POST", f"/api/events/{late}/publish", {}) == (409, "event_over")


def test_an_event_without_a_bound_of_its_own_issues_no_more_than_its_house_holds(desk: Desk) -> None:
    venue = desk.post("/api/venues", a_venue(max_capacity=3))["id"]
    assert desk.refused("POST", "/api/events", an_event(venue, capacity=4)) == (409, "venue_capacity_exceeded")
    event = desk.post("/api/events", an_event(venue))
    evening = Evening(desk, {"id": venue}, event)
    types = f"{evening.path}/ticket-types"
    assert desk.refused("POST", types, a_ticket_type(quantity=4)) == (409, "capacity_exceeded")
    desk.post(types, a_ticket_type(quantity=3))
    desk.post(f"{evening.path}/publish", {}, 200)
    evening.issue(count=3)
    assert desk.get(evening.path)["sale_status"] == "sold_out"
    assert desk.refused("POST", f"{evening.path}/tickets", {"ticket_type": 1, "count": 1}) == (409, "capacity_exceeded")


def test_the_same_evening_is_not_made_twice_and_the_refusal_names_the_first(desk: Desk, evening: Evening) -> None:
    again = an_event(evening.venue["id"], name="night  MUSIC!")
    answer = desk.ask("POST", "/api/events", again)
    assert (answer.status_code, answer.json["error"]["code"]) == (409, "duplicate_event")
    assert answer.json["error"]["details"]["event_id"] == evening.event["id"]
    other = desk.post("/api/events", again | {"name": "Day Music"})
    assert desk.refused("PATCH", f"/api/events/{other['id']}", {"name": "Night Music"}) == (409, "duplicate_event")
    desk.post(f"{evening.path}/cancel", {"reason": "rain"}, 200)  # what does not take place may be made anew
    assert desk.post("/api/events", again)["slug"] == "night-music-2"


def test_two_hands_that_make_the_same_evening_make_it_once(office: Office, desk: Desk) -> None:
    venue = desk.post("/api/venues", a_venue())["id"]

    def make(number: int) -> int:
        body = an_event(venue, slug=f"n-{number}", code=f"N{number}")
        return Desk(office.app.test_client(), desk.headers).ask("POST", "/api/events", body).status_code

    with ThreadPoolExecutor(4) as pool:
        statuses = sorted(pool.map(make, range(4)))
    assert statuses == [201, 409, 409, 409] and len(listed(desk)) == 1


def test_lists_say_what_is_upcoming_called_off_or_laid_by(office: Office, desk: Desk) -> None:
    venue = desk.post("/api/venues", a_venue())["id"]
    steps: dict[str, list[str]] = {
        "Draft": [],
        "Shown": ["publish"],
        "Off": ["publish", "cancel"],
        "Later": ["publish", "postpone"],
        "Gone": ["archive"],
    }
    for name, path in steps.items():
        office.advance(1)
        event = desk.post("/api/events", an_event(venue, name=name))
        for step in path:
            desk.post(f"/api/events/{event['id']}/{step}", {"reason": "because"}, 200)
    assert listed(desk) == ["Draft", "Shown", "Off", "Later"]
    assert listed(desk, "?archived=true") == list(steps) and listed(desk, "?status=archived") == ["Gone"]
    assert listed(desk, "?upcoming=true") == ["Shown", "Later"]
    assert listed(desk, "?status=cancelled,postponed") == ["Off", "Later"]
    assert listed(desk, "?slug=shown") == ["Shown"]
    assert desk.refused("GET", "/api/events?status=lost")[0] == 400
    office.advance(DAY)
    assert listed(desk, "?upcoming=true") == []
    later = desk.get("/api/events?slug=later")["items"][0]["id"]
    desk.post(f"/api/events/{later}/reschedule", {"rescheduled_at": EVENING + 2 * DAY}, 200)
    assert listed(desk, "?upcoming=true") == ["Later"]
    start = EVENING + 2 * DAY - HOUR
    soon = desk.post("/api/events", an_event(venue, name="Soon", start_at=start, end_at=start + HOUR))["id"]
    desk.post(f"/api/events/{soon}/publish", {}, 200)
    assert listed(desk, "?upcoming=true") == ["Soon", "Later"]  # by the date on which it takes place
    first = desk.get("/api/events?upcoming=true&limit=1")
    assert [event["name"] for event in first["items"]] == ["Soon"]
    assert listed(desk, f"?upcoming=true&limit=1&after={first['next']}") == ["Later"]


def test_everybody_lists_their_own_events_newest_first(office: Office) -> None:
    marquee = office.organisation("marquee")
    sam, ada = (office.user(f"{who}@example.org", marquee, role) for who, role in (("sam", "staff"), ("ada", "admin")))
    as_sam, as_ada = office.browser("sam@example.org"), office.browser("ada@example.org")
    venue = as_sam.post("/api/venues", a_venue())["id"]
    for name in ("One", "Two", "Three"):
        office.advance(1)
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


def test_another_organisation_sees_and_doubles_nothing(office: Office, evening: Evening) -> None:
    rival = office.desk(office.organisation("rival"))
    assert rival.get("/api/me/events")["items"] == [] and rival.get("/api/events?slug=night-music")["items"] == []
    an_evening(rival)
