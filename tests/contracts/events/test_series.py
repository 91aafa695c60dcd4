"""Copying, repeating, replacing and deleting events."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from shared.ids import NIL_ID
from sync_server.plumbing.sql.bulk import insert_many
from sync_server.revisions import queries as revisions
from sync_server.scans.models import ScanCount
from tests.app_server import ApiClient, AppServer, Concert, a_concert
from tests.builders import DAY, EVENING, HOUR, a_gate, a_ticket_type, a_venue, a_zone, an_event
from tests.contracts.seating.stage import Stage, a_stage

WEEK = 7 * DAY
START = EVENING + 2 * HOUR


@pytest.fixture
def full(api: ApiClient) -> Concert:
    """An event with all that an organiser sets up."""
    concert = a_concert(
        api,
        description="A choir",
        category="Choir",
        doors_at=START - HOUR,
        go_live_at=START - HOUR,
        anti_passback=True,
        settings={"age": 16},
    )
    api.post(f"/api/venues/{concert.venue['id']}/gates", a_gate())
    api.post(f"{concert.path}/zones", a_zone(capacity=50))
    api.put(f"{concert.path}/gates/1", {"zones": [1]})
    late = {"sale_end_at": START, "not_after_at": START + HOUR, "zone": 1}
    api.post(f"{concert.path}/ticket-types", a_ticket_type(name="Late", **late))
    return concert


def test_a_copy_after_the_clocks_change_opens_its_sales_at_the_same_local_hour(full: Concert) -> None:
    opens = {"sale_start_at": START - 3 * DAY - 8 * HOUR}  # ten in Berlin in summer
    full.api.patch(full.path, opens)
    full.api.patch(f"{full.path}/ticket-types/1", opens)
    winter = START + 26 * WEEK + HOUR  # eight in the evening too
    made = full.api.post(f"{full.path}/copy", {"start_at": winter})
    kind = full.api.get(f"/api/events/{made['id']}/ticket-types")["items"][0]
    assert (full.api.get(full.path)["sale_start_at"], made["sale_start_at"]) == (
        "2026-07-01T10:00:00Z",
        "2026-12-30T11:00:00Z",
    )
    assert kind["sale_start_at"] == made["sale_start_at"] and made["doors_at"] == "2027-01-02T18:00:00Z"


def test_a_copy_has_everything_but_sales(app_server: AppServer, full: Concert) -> None:
    full.issue(count=2)
    full.api.post(f"{full.path}/publish", {}, 200)
    made = full.api.post(f"{full.path}/copy", {"start_at": START + WEEK})
    same = ("name", "description", "category", "anti_passback", "settings", "venue_id", "capacity")
    source = full.api.get(full.path)
    assert {name: made[name] for name in same} == {name: source[name] for name in same}
    assert (made["status"], made["tickets_issued"], made["slug"]) == ("draft", 0, "night-music-2")
    assert (made["doors_at"], made["end_at"]) == ("2026-07-11T17:00:00Z", "2026-07-12T00:00:00Z")
    path = f"/api/events/{made['id']}"
    assert full.api.get(f"{path}/zones") == full.api.get(f"{full.path}/zones")
    assert full.api.get(f"{path}/gates") == full.api.get(f"{full.path}/gates")
    kinds = full.api.get(f"{path}/ticket-types")["items"]
    assert [(kind["name"], kind["issued"], kind["zone"]) for kind in kinds] == [("Regular", 0, 0), ("Late", 0, 1)]
    assert (kinds[1]["sale_end_at"], kinds[1]["not_after_at"]) == ("2026-07-11T18:00:00Z", "2026-07-11T19:00:00Z")
    app_server.gate_rows(made["number"])
    held = {type(row).__name__ for row in app_server.gate_rows(made["number"])}
    assert {"ZoneRow", "GateRow", "TicketTypeRow", "KeyRow"} <= held
    Concert(full.api, full.venue, made).issue(count=1)  # it can be sold like any other


def test_a_copy_keeps_its_layout(app_server: AppServer, api: ApiClient) -> None:
    stage: Stage = a_stage(app_server, api)
    stage.choose()
    made = api.post(f"/api/events/{stage.event['id']}/copy", {"start_at": START + WEEK})
    own, source = (
        api.get(f"{path}/layout") for path in (f"/api/events/{made['id']}", stage.path.removesuffix("/layout"))
    )
    assert own["layout_id"] == source["layout_id"] and own["zones"] == source["zones"]


def test_a_series_keeps_its_local_time_when_the_clocks_change(api: ApiClient) -> None:
    october = EVENING + 112 * DAY  # 2026-10-24, the night before the clocks go back in Berlin
    concert = a_concert(api, start_at=october, end_at=october + HOUR)
    made = api.post(f"{concert.path}/series", {"every_days": 1, "count": 2})
    assert [event["start_at"] for event in made["items"]] == ["2026-10-25T17:00:00Z", "2026-10-26T17:00:00Z"]


def test_a_series_is_created_by_weekdays_or_dates_and_listed(api: ApiClient, concert: Concert) -> None:
    weekly = api.post(f"{concert.path}/series", {"weekdays": ["sa", "we"], "until": "2026-07-15"})
    assert [event["start_at"][:10] for event in weekly["items"]] == ["2026-07-08", "2026-07-11", "2026-07-15"]
    more = api.post(f"{concert.path}/series", {"dates": [START + 3 * WEEK, START + 3 * WEEK, START + 2 * WEEK]})
    assert [event["start_at"][:10] for event in more["items"]] == ["2026-07-18", "2026-07-25"]
    group = weekly["recurrence_group_id"]
    assert more["recurrence_group_id"] == group
    (series,) = api.get("/api/series")["items"]
    assert series == {
        "recurrence_group_id": group,
        "name": "Night Music",
        "events": 6,
        "first_start_at": "2026-07-04T18:00:00Z",
        "last_start_at": "2026-07-25T18:00:00Z",
    }
    assert len(api.get(f"/api/events?recurrence_group_id={group}")["items"]) == 6


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
def test_an_endless_or_empty_series_is_refused(concert: Concert, wrong: dict[str, Any]) -> None:
    assert concert.api.refused("POST", f"{concert.path}/series", wrong)[0] == 400
    assert len(concert.api.get("/api/events")["items"]) == 1
    assert concert.api.get(concert.path)["recurrence_group_id"] is None


def test_one_duplicate_event_stops_the_whole_series(concert: Concert) -> None:
    concert.api.post(f"{concert.path}/copy", {"start_at": START + 2 * DAY})
    refused = concert.api.refused("POST", f"{concert.path}/series", {"every_days": 1, "count": 3})
    assert refused == (409, "duplicate_event") and len(concert.api.get("/api/events")["items"]) == 2


def test_a_postponed_event_names_its_replacement(app_server: AppServer, api: ApiClient, concert: Concert) -> None:
    later = api.post(f"{concert.path}/copy", {"start_at": START + WEEK})["id"]
    assert api.refused("PUT", f"{concert.path}/replacement", {"event_id": later}) == (409, "event_not_called_off")
    api.post(f"{concert.path}/publish", {}, 200)
    body = {"reason": "storm", "replaced_by_event_id": later}
    assert api.post(f"{concert.path}/postpone", body, 200)["replaced_by_event_id"] == later
    own = {"event_id": concert.event["id"]}
    assert api.refused("PUT", f"{concert.path}/replacement", own) == (409, "replacement_in_a_circle")
    api.post(f"/api/events/{later}/cancel", {"reason": "storm"}, 200)
    assert api.refused("PUT", f"/api/events/{later}/replacement", own) == (409, "replacement_in_a_circle")
    rival = a_concert(app_server.api(app_server.organisation("rival")))
    foreign = {"event_id": rival.event["id"]}
    assert api.refused("PUT", f"{concert.path}/replacement", foreign) == (404, "event_not_found")
    assert api.put(f"{concert.path}/replacement", {"event_id": None})["replaced_by_event_id"] is None


def test_a_refused_replacement_leaves_the_event_unchanged(api: ApiClient, concert: Concert) -> None:
    api.post(f"{concert.path}/publish", {}, 200)
    body = {"reason": "storm", "replaced_by_event_id": NIL_ID}
    assert api.refused("POST", f"{concert.path}/postpone", body) == (404, "event_not_found")
    assert api.get(concert.path)["status"] == "published"


def test_concurrent_replacements_close_no_cycle(app_server: AppServer, api: ApiClient, concert: Concert) -> None:
    other = api.post(f"{concert.path}/copy", {"start_at": START + WEEK})["id"]
    ids = [concert.event["id"], other]
    for id in ids:
        api.post(f"/api/events/{id}/cancel", {"reason": "storm"}, 200)

    def link(pair: list[str]) -> int:
        path = f"/api/events/{pair[0]}/replacement"
        return ApiClient(app_server.app.test_client(), api.headers).ask("PUT", path, {"event_id": pair[1]}).status_code

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(link, [ids, ids[::-1]])) == [200, 409]


def test_a_draft_without_dependents_is_deleted_for_good(app_server: AppServer, api: ApiClient) -> None:
    venue = api.post("/api/venues", a_venue())["id"]
    event = api.post("/api/events", an_event(venue))
    api.post(f"/api/events/{event['id']}/zones", a_zone())
    key = app_server.event_key(event["number"])
    gone = api.ask("DELETE", f"/api/events/{event['id']}").json
    assert (gone["deleted"], gone["uses"]) == (True, {})
    assert api.refused("GET", f"/api/events/{event['id']}") == (404, "event_not_found")
    with app_server.database.reading() as session:
        assert revisions.head(session, key) is None and revisions.frame_rows(session, key, 0, 0, 10) == []
    assert api.ask("DELETE", f"/api/venues/{venue}").status_code == 204
    lines = [line["action"] for line in api.get("/api/audit?limit=200")["items"]]
    assert "event_deleted" in lines


def test_a_scanned_draft_is_archived_and_keeps_its_rows(app_server: AppServer, api: ApiClient) -> None:
    event = api.post("/api/events", an_event(api.post("/api/venues", a_venue())["id"]))
    key = app_server.event_key(event["number"])
    with app_server.database.writing() as session:
        insert_many(session, ScanCount, [key._asdict() | {"gate": 1, "direction": "in", "reason": "", "n": 1}], "")
    with app_server.database.reading() as session:
        before = revisions.frame_rows(session, key, 0, 0, 10)
    gone = api.ask("DELETE", f"/api/events/{event['id']}").json
    assert (gone["deleted"], gone["archived"]) == (False, True) and "other records refer to it" in gone["message"]
    with app_server.database.reading() as session:
        assert before and revisions.head(session, key) is not None
        kept = {(row.kind, row.key) for row in revisions.frame_rows(session, key, 0, 0, 10)}
        assert kept >= {(row.kind, row.key) for row in before}


def test_an_event_with_dependents_is_archived_instead(api: ApiClient, concert: Concert) -> None:
    concert.issue(count=2)
    answer = api.ask("DELETE", concert.path).json
    assert (answer["deleted"], answer["archived"]) == (False, True)
    assert answer["uses"] == {"ticket types": 1, "tickets": 2} and "2 tickets" in answer["message"]
    stored = api.get(concert.path)
    assert stored["status"] == "archived" and stored["archived_at"] is not None
    assert api.get("/api/events")["items"] == [] and api.get("/api/me/events")["items"] == []
    assert len(api.get("/api/events?archived=true")["items"]) == 1
    assert api.ask("DELETE", concert.path).json["archived"] is True  # again changes nothing


def test_an_event_that_is_still_on_is_not_deleted(app_server: AppServer, api: ApiClient, concert: Concert) -> None:
    api.post(f"{concert.path}/publish", {}, 200)
    assert api.refused("DELETE", concert.path) == (409, "event_not_over")
    api.post(f"{concert.path}/cancel", {"reason": "rain"}, 200)
    assert api.ask("DELETE", concert.path).json["archived"] is True
    rival = app_server.api(app_server.organisation("rival"))
    assert rival.refused("DELETE", concert.path) == (404, "event_not_found")
