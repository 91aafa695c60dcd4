"""A new start shifts the other times of an event, with a separate fact at short notice."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from shared.lifecycle import scanning
from shared.reasons import Reason
from shared.wire.snapshot import RowKind
from tests.app_server import ApiClient, AppServer, Concert, a_concert
from tests.builders import DAY, EVENING, HOUR, MINUTE, a_venue, an_event

PLANNED: dict[str, Any] = {
    "start_at": EVENING + 3 * DAY,
    "end_at": EVENING + 3 * DAY + 6 * HOUR,
    "doors_at": EVENING + 3 * DAY - HOUR,
    "go_live_at": EVENING + 3 * DAY - HOUR,
    "end_at_auto": EVENING + 3 * DAY + 7 * HOUR,
    "sale_start_at": EVENING + HOUR,
}
TIMED = {"name": "Early", "price_cents": 1, "quantity": 9, "not_after_at": EVENING + 3 * DAY + HOUR}


def facts(app_server: AppServer, api: ApiClient, action: str) -> list[dict[str, Any]]:
    lines = api.get("/api/audit?limit=200")["items"]
    return [line for line in lines if line["action"] == action]


def test_a_later_start_shifts_all_times_of_the_event(app_server: AppServer, api: ApiClient) -> None:
    concert = a_concert(api, kind=TIMED, **PLANNED)
    concert.ticket()
    moved = api.patch(concert.path, {"start_at": PLANNED["start_at"] + DAY})
    assert {name: moved[name] for name in ("start_at", "end_at", "doors_at", "go_live_at", "end_at_auto")} == {
        "start_at": "2026-07-08T16:00:00Z",
        "end_at": "2026-07-08T22:00:00Z",
        "doors_at": "2026-07-08T15:00:00Z",
        "go_live_at": "2026-07-08T15:00:00Z",
        "end_at_auto": "2026-07-08T23:00:00Z",
    }
    assert (moved["sale_start_at"], moved["sale_end_at"]) == ("2026-07-05T17:00:00Z", "2026-07-08T16:00:00Z")
    assert app_server.gate_rows_of(concert.number, RowKind.TICKET)[0].not_after * 1000 == TIMED["not_after_at"] + DAY
    api.post(f"{concert.path}/publish", {}, 200)
    app_server.advance(3 * DAY)
    app_server.run_worker()  # the plan for the old date opens nothing
    row = app_server.gate_rows_of(concert.number, RowKind.EVENT)[0]
    assert row.status == "published" and scanning(row, app_server.now) is Reason.EVENT_NOT_LIVE


def test_times_given_explicitly_do_not_shift_and_sales_stay_on_request(app_server: AppServer, api: ApiClient) -> None:
    concert = a_concert(api, kind=TIMED, **PLANNED)
    concert.ticket()
    body = {"start_at": PLANNED["start_at"] + HOUR, "end_at": PLANNED["end_at"], "go_live_at": None}
    moved = api.patch(concert.path, body | {"move_times": False})
    assert (moved["end_at"], moved["go_live_at"]) == ("2026-07-07T22:00:00Z", None)
    assert moved["sale_end_at"] == "2026-07-07T16:00:00Z"
    assert app_server.gate_rows_of(concert.number, RowKind.TICKET)[0].not_after * 1000 == TIMED["not_after_at"]
    assert api.refused("PATCH", concert.path, {"end_at": PLANNED["start_at"]}) == (400, "invalid_times")


def test_a_start_cannot_move_into_the_past_or_bypass_a_postponement(api: ApiClient, concert: Concert) -> None:
    assert api.refused("PATCH", concert.path, {"start_at": EVENING - HOUR}) == (400, "invalid_times")
    api.post(f"{concert.path}/publish", {}, 200)
    api.post(f"{concert.path}/postpone", {"reason": "storm"}, 200)
    assert api.refused("PATCH", concert.path, {"start_at": EVENING + DAY}) == (409, "event_postponed")
    assert api.get(concert.path)["start_at"] == "2026-07-04T18:00:00Z"


def test_a_change_at_short_notice_is_a_separate_fact(app_server: AppServer, api: ApiClient) -> None:
    concert = a_concert(api, **PLANNED)
    api.patch(concert.path, {"start_at": PLANNED["start_at"] + MINUTE})
    api.post(f"{concert.path}/publish", {}, 200)
    api.patch(concert.path, {"start_at": PLANNED["start_at"]})
    assert facts(app_server, api, "event_moved_at_short_notice") == []  # three days are time enough
    app_server.advance(2 * DAY + HOUR)
    api.patch(concert.path, {"description": "With a choir"})
    assert facts(app_server, api, "event_moved_at_short_notice") == []  # not a change of times
    api.patch(concert.path, {"start_at": PLANNED["start_at"] + 2 * HOUR})
    (line,) = facts(app_server, api, "event_moved_at_short_notice")
    assert line["before"]["start_at"] == PLANNED["start_at"]
    assert line["after"]["start_at"] == PLANNED["start_at"] + 2 * HOUR and "doors_at" in line["after"]
    assert app_server.gate_rows_of(concert.number, RowKind.EVENT)[0].starts_at == PLANNED["start_at"] + 2 * HOUR


def test_search_text_follows_changes(app_server: AppServer, api: ApiClient) -> None:
    from sync_server.events.models import EventRecord

    venue = api.post("/api/venues", a_venue(name="Volkshaus", city="Zürich"))
    event = api.post("/api/events", an_event(venue["id"], name="Große  Nacht", category="Jazz"))
    with app_server.database.reading() as session:
        row = session.execute(select(EventRecord)).scalar_one()
        assert (row.search_text, row.city_norm) == ("grosse nacht volkshaus zurich jazz", "zurich")
    api.patch(f"/api/events/{event['id']}", {"name": "Kleine Nacht", "category": None})
    with app_server.database.reading() as session:
        assert session.execute(select(EventRecord)).scalar_one().search_text == "kleine nacht volkshaus zurich"
