"""A start that moves takes the evening along, and says so loudly when people may be on their way."""

from __future__ import annotations

from typing import Any

from shared.lifecycle import scanning
from shared.reasons import Reason
from shared.snapshot import RowKind
from tests.builders import DAY, EVENING, HOUR, MINUTE, a_venue, an_event
from tests.office import Desk, Evening, Office, an_evening

PLANNED: dict[str, Any] = {
    "start_at": EVENING + 3 * DAY,
    "end_at": EVENING + 3 * DAY + 6 * HOUR,
    "doors_at": EVENING + 3 * DAY - HOUR,
    "go_live_at": EVENING + 3 * DAY - HOUR,
    "end_at_auto": EVENING + 3 * DAY + 7 * HOUR,
    "sale_start_at": EVENING + HOUR,
}
TIMED = {"name": "Early", "price_cents": 1, "quantity": 9, "not_after_at": EVENING + 3 * DAY + HOUR}


def facts(office: Office, desk: Desk, action: str) -> list[dict[str, Any]]:
    lines = desk.get("/api/audit?limit=200")["items"]
    return [line for line in lines if line["action"] == action]


def test_a_later_start_takes_the_whole_evening_along(office: Office, desk: Desk) -> None:
    evening = an_evening(desk, kind=TIMED, **PLANNED)
    evening.ticket()
    moved = desk.patch(evening.path, {"start_at": PLANNED["start_at"] + DAY})
    assert {name: moved[name] for name in ("start_at", "end_at", "doors_at", "go_live_at", "end_at_auto")} == {
        "start_at": "2026-07-08T16:00:00Z",
        "end_at": "2026-07-08T22:00:00Z",
        "doors_at": "2026-07-08T15:00:00Z",
        "go_live_at": "2026-07-08T15:00:00Z",
        "end_at_auto": "2026-07-08T23:00:00Z",
    }
    assert (moved["sale_start_at"], moved["sale_end_at"]) == ("2026-07-05T17:00:00Z", "2026-07-08T16:00:00Z")
    assert office.held_of(evening.number, RowKind.TICKET)[0].not_after * 1000 == TIMED["not_after_at"] + DAY
    desk.post(f"{evening.path}/publish", {}, 200)
    office.advance(3 * DAY)
    office.work()  # the old evening's plan opens nothing
    row = office.held_of(evening.number, RowKind.EVENT)[0]
    assert row.status == "published" and scanning(row, office.now) is Reason.EVENT_NOT_LIVE


def test_what_is_given_itself_does_not_move_and_sales_stay_where_told(office: Office, desk: Desk) -> None:
    evening = an_evening(desk, kind=TIMED, **PLANNED)
    evening.ticket()
    wish = {"start_at": PLANNED["start_at"] + HOUR, "end_at": PLANNED["end_at"], "go_live_at": None}
    moved = desk.patch(evening.path, wish | {"move_times": False})
    assert (moved["end_at"], moved["go_live_at"]) == ("2026-07-07T22:00:00Z", None)
    assert moved["sale_end_at"] == "2026-07-07T16:00:00Z"
    assert office.held_of(evening.number, RowKind.TICKET)[0].not_after * 1000 == TIMED["not_after_at"]
    assert desk.refused("PATCH", evening.path, {"end_at": PLANNED["start_at"]}) == (400, "invalid_times")


def test_nothing_moves_into_the_past_or_round_a_postponement(desk: Desk, evening: Evening) -> None:
    assert desk.refused("PATCH", evening.path, {"start_at": EVENING - HOUR}) == (400, "invalid_times")
    desk.post(f"{evening.path}/publish", {}, 200)
    desk.post(f"{evening.path}/postpone", {"reason": "storm"}, 200)
    assert desk.refused("PATCH", evening.path, {"start_at": EVENING + DAY}) == (409, "event_postponed")
    assert desk.get(evening.path)["start_at"] == "2026-07-04T18:00:00Z"


def test_a_change_at_short_notice_is_a_fact_of_its_own(office: Office, desk: Desk) -> None:
    evening = an_evening(desk, **PLANNED)
    desk.patch(evening.path, {"start_at": PLANNED["start_at"] + MINUTE})
    desk.post(f"{evening.path}/publish", {}, 200)
    desk.patch(evening.path, {"start_at": PLANNED["start_at"]})
    assert facts(office, desk, "event_moved_at_short_notice") == []  # three days are time enough
    office.advance(2 * DAY + HOUR)
    desk.patch(evening.path, {"description": "With a choir"})
    assert facts(office, desk, "event_moved_at_short_notice") == []  # words are no times
    desk.patch(evening.path, {"start_at": PLANNED["start_at"] + 2 * HOUR})
    (line,) = facts(office, desk, "event_moved_at_short_notice")
    assert line["before"]["start_at"] == PLANNED["start_at"]
    assert line["after"]["start_at"] == PLANNED["start_at"] + 2 * HOUR and "doors_at" in line["after"]
    assert office.held_of(evening.number, RowKind.EVENT)[0].starts_at == PLANNED["start_at"] + 2 * HOUR


def test_words_are_found_as_they_are_now(office: Office, desk: Desk) -> None:
    from sync_server.events.models import EventRecord

    venue = desk.post("/api/venues", a_venue(name="Volkshaus", city="Zürich"))
    event = desk.post("/api/events", an_event(venue["id"], name="Große  Nacht", category="Jazz"))
    with office.database.reading() as session:
        row = session.get_one(EventRecord, event["id"])
        assert (row.search_text, row.city_norm) == ("grosse nacht volkshaus zurich jazz", "zurich")
    desk.patch(f"/api/events/{event['id']}", {"name": "Kleine Nacht", "category": None})
    with office.database.reading() as session:
        assert session.get_one(EventRecord, event["id"]).search_text == "kleine nacht volkshaus zurich"
