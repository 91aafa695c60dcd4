"""Evenings that come again, evenings that take another's place, and evenings that go."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from shared.snapshot import RowKind
from tests.builders import DAY, EVENING, HOUR, a_gate, a_ticket_type, a_venue, a_zone, an_event
from tests.contracts.seating.stage import Stage, a_stage
from tests.office import Desk, Evening, Office, an_evening

WEEK = 7 * DAY
START = EVENING + 2 * HOUR


@pytest.fixture
def full(desk: Desk) -> Evening:
    """An event with all that an organiser sets up."""
    evening = an_evening(
        desk,
        description="A choir",
        category="Choir",
        doors_at=START - HOUR,
        go_live_at=START - HOUR,
        anti_passback=True,
        settings={"age": 16},
    )
    desk.post(f"/api/venues/{evening.venue['id']}/gates", a_gate())
    desk.post(f"{evening.path}/zones", a_zone(capacity=50))
    desk.put(f"{evening.path}/gates/1", {"zones": [1]})
    late = {"sale_end_at": START, "not_after_at": START + HOUR, "zone": 1}
    desk.post(f"{evening.path}/ticket-types", a_ticket_type(name="Late", **late))
    return evening


def test_a_copy_brings_everything_along_but_what_was_sold(office: Office, full: Evening) -> None:
    full.issue(count=2)
    full.desk.post(f"{full.path}/publish", {}, 200)
    made = full.desk.post(f"{full.path}/copy", {"start_at": START + WEEK})
    kept = ("name", "description", "category", "anti_passback", "settings", "venue_id", "capacity")
    source = full.desk.get(full.path)
    assert {name: made[name] for name in kept} == {name: source[name] for name in kept}
    assert (made["status"], made["tickets_issued"], made["slug"]) == ("draft", 0, "night-music-2")
    assert (made["doors_at"], made["end_at"]) == ("2026-07-11T17:00:00Z", "2026-07-12T00:00:00Z")
    path = f"/api/events/{made['id']}"
    assert full.desk.get(f"{path}/zones") == full.desk.get(f"{full.path}/zones")
    assert full.desk.get(f"{path}/gates") == full.desk.get(f"{full.path}/gates")
    kinds = full.desk.get(f"{path}/ticket-types")["items"]
    assert [(kind["name"], kind["issued"], kind["zone"]) for kind in kinds] == [("Regular", 0, 0), ("Late", 0, 1)]
    assert (kinds[1]["sale_end_at"], kinds[1]["not_after_at"]) == ("2026-07-11T18:00:00Z", "2026-07-11T19:00:00Z")
    office.held(made["number"])
    held = {type(row).__name__ for row in office.held(made["number"])}
    assert {"ZoneRow", "GateRow", "TicketTypeRow", "KeyRow"} <= held
    Evening(full.desk, full.venue, made).issue(count=1)  # it can be sold like any other


def test_a_copy_keeps_its_layout(office: Office, desk: Desk) -> None:
    stage: Stage = a_stage(office, desk)
    stage.choose()
    made = desk.post(f"/api/events/{stage.event['id']}/copy", {"start_at": START + WEEK})
    own, source = (
        desk.get(f"{path}/layout") for path in (f"/api/events/{made['id']}", stage.path.removesuffix("/layout"))
    )
    assert own["layout_id"] == source["layout_id"] and own["zones"] == source["zones"]


def test_a_series_keeps_its_hour_on_the_wall_when_the_clocks_change(desk: Desk) -> None:
    october = EVENING + 112 * DAY  # 2026-10-24, the night before the clocks go back in Berlin
    evening = an_evening(desk, start_at=october, end_at=october + HOUR)
    made = desk.post(f"{evening.path}/series", {"every_days": 1, "count": 2})
    assert [event["start_at"] for event in made["items"]] == ["2026-10-25T17:00:00Z", "2026-10-26T17:00:00Z"]


def test_a_series_is_made_by_weekdays_or_dates_and_listed(desk: Desk, evening: Evening) -> None:
    weekly = desk.post(f"{evening.path}/series", {"weekdays": ["sa", "we"], "until": "2026-07-15"})
    assert [event["start_at"][:10] for event in weekly["items"]] == ["2026-07-08", "2026-07-11", "2026-07-15"]
    more = desk.post(f"{evening.path}/series", {"dates": [START + 3 * WEEK, START + 3 * WEEK, START + 2 * WEEK]})
    assert [event["start_at"][:10] for event in more["items"]] == ["2026-07-18", "2026-07-25"]
    group = weekly["recurrence_group_id"]
    assert more["recurrence_group_id"] == group
    (series,) = desk.get("/api/series")["items"]
    assert series == {
        "recurrence_group_id": group,
        "name": "Night Music",
        "events": 6,
        "first_start_at": "2026-07-04T18:00:00Z",
        "last_start_at": "2026-07-25T18:00:00Z",
    }
    assert len(desk.get(f"/api/events?recurrence_group_id={group}")["items"]) == 6


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"every_days": 7},
        {"every_days": 7, "count": 2, "until": "2026-08-01"},
        {"every_days": 0, "count": 1},
        {"every_days": 7, "weekdays": ["mo"], "count": 2},
        {"weekdays": ["monday"], "count": 2},
        {"dates": []},
        {"every_days": 1, "count": 101},
        {"every_days": 1, "until": "2027-07-04"},
        {"every_days": 1, "until": "soon"},
        {"every_days": 30, "until": "2026-07-05"},
        {"dates": [EVENING - DAY]},
        {"weekdays": [], "count": 1},
    ],
)
def test_a_series_that_never_ends_or_never_begins_is_refused_whole(evening: Evening, wrong: dict[str, Any]) -> None:
    assert evening.desk.refused("POST", f"{evening.path}/series", wrong)[0] == 400
    assert len(evening.desk.get("/api/events")["items"]) == 1
    assert evening.desk.get(evening.path)["recurrence_group_id"] is None


def test_one_evening_that_is_there_already_stops_the_whole_series(evening: Evening) -> None:
    evening.desk.post(f"{evening.path}/copy", {"start_at": START + 2 * DAY})
    refused = evening.desk.refused("POST", f"{evening.path}/series", {"every_days": 1, "count": 3})
    assert refused == (409, "duplicate_event") and len(evening.desk.get("/api/events")["items"]) == 2


def test_a_postponed_event_points_at_what_takes_its_place(office: Office, desk: Desk, evening: Evening) -> None:
    later = desk.post(f"{evening.path}/copy", {"start_at": START + WEEK})["id"]
    assert desk.refused("PUT", f"{evening.path}/replacement", {"event_id": later}) == (409, "event_not_called_off")
    desk.post(f"{evening.path}/publish", {}, 200)
    wish = {"reason": "storm", "replaced_by_event_id": later}
    assert desk.post(f"{evening.path}/postpone", wish, 200)["replaced_by_event_id"] == later
    own = {"event_id": evening.event["id"]}
    assert desk.refused("PUT", f"{evening.path}/replacement", own) == (409, "replacement_in_a_circle")
    desk.post(f"/api/events/{later}/cancel", {"reason": "storm"}, 200)
    assert desk.refused("PUT", f"/api/events/{later}/replacement", own) == (409, "replacement_in_a_circle")
    rival = an_evening(office.desk(office.organisation("rival")))
    foreign = {"event_id": rival.event["id"]}
    assert desk.refused("PUT", f"{evening.path}/replacement", foreign) == (404, "event_not_found")
    assert desk.put(f"{evening.path}/replacement", {"event_id": None})["replaced_by_event_id"] is None


def test_a_replacement_that_is_refused_leaves_the_event_as_it_was(desk: Desk, evening: Evening) -> None:
    desk.post(f"{evening.path}/publish", {}, 200)
    wish = {"reason": "storm", "replaced_by_event_id": "nowhere"}
    assert desk.refused("POST", f"{evening.path}/postpone", wish) == (404, "event_not_found")
    assert desk.get(evening.path)["status"] == "published"


def test_two_links_at_once_close_no_circle(office: Office, desk: Desk, evening: Evening) -> None:
    other = desk.post(f"{evening.path}/copy", {"start_at": START + WEEK})["id"]
    ids = [evening.event["id"], other]
    for id in ids:
        desk.post(f"/api/events/{id}/cancel", {"reason": "storm"}, 200)

    def link(pair: list[str]) -> int:
        path = f"/api/events/{pair[0]}/replacement"
        return Desk(office.app.test_client(), desk.headers).ask("PUT", path, {"event_id": pair[1]}).status_code

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(link, [ids, ids[::-1]])) == [200, 409]


def test_a_draft_on_which_nothing_hangs_is_gone_for_good(office: Office, desk: Desk) -> None:
    venue = desk.post("/api/venues", a_venue())["id"]
    event = desk.post("/api/events", an_event(venue))
    desk.post(f"/api/events/{event['id']}/zones", a_zone())
    gone = desk.ask("DELETE", f"/api/events/{event['id']}").json
    assert (gone["deleted"], gone["uses"]) == (True, {})
    assert desk.refused("GET", f"/api/events/{event['id']}") == (404, "event_not_found")
    assert office.held_of(event["number"], RowKind.EVENT) == []
    assert desk.ask("DELETE", f"/api/venues/{venue}").status_code == 204
    lines = [line["action"] for line in desk.get("/api/audit?limit=200")["items"]]
    assert "event_deleted" in lines


def test_what_hangs_on_an_event_keeps_it_in_the_archive(desk: Desk, evening: Evening) -> None:
    evening.issue(count=2)
    answer = desk.ask("DELETE", evening.path).json
    assert (answer["deleted"], answer["archived"]) == (False, True)
    assert answer["uses"] == {"ticket types": 1, "tickets": 2} and "2 tickets" in answer["message"]
    kept = desk.get(evening.path)
    assert kept["status"] == "archived" and kept["archived_at"] is not None
    assert desk.get("/api/events")["items"] == [] and desk.get("/api/me/events")["items"] == []
    assert len(desk.get("/api/events?archived=true")["items"]) == 1
    assert desk.ask("DELETE", evening.path).json["archived"] is True  # again changes nothing


def test_an_event_that_people_count_on_is_not_deleted(office: Office, desk: Desk, evening: Evening) -> None:
    desk.post(f"{evening.path}/publish", {}, 200)
    assert desk.refused("DELETE", evening.path) == (409, "event_not_over")
    desk.post(f"{evening.path}/cancel", {"reason": "rain"}, 200)
    assert desk.ask("DELETE", evening.path).json["archived"] is True
    rival = office.desk(office.organisation("rival"))
    assert rival.refused("DELETE", evening.path) == (404, "event_not_found")
