"""At an event of two days figures, releases and news are of a day; guests of either day move to another layout."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest
from sqlalchemy import text

from sync_server.holds.endings.outcomes import SUMS, outcomes
from sync_server.plumbing.event_key import EventKey
from sync_server.seating.wiring import RELEASES_EVERY_MS
from tests.app_server import ApiClient, AppServer, Concert
from tests.builders import DAY, EVENING, HOUR
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event
from tests.contracts.holds.test_days import decoded
from tests.contracts.monitoring.test_seating_checks import ROW, a_hall, alerts, check, issue
from tests.contracts.seating.stage import Stage, a_stage, floor, with_wheelchairs
from tests.contracts.seating.test_moving_guests import next_version, planned, without
from tests.contracts.seating.test_tickets_on_seats import an_evening_on, on
from tests.stream_client import StreamClient

SATURDAY, SUNDAY = "2026-07-04", "2026-07-05"
TWO_DAYS = {"end_at": EVENING + 2 * HOUR + DAY, "sale_end_at": EVENING + DAY}


def two_days_on(app_server: AppServer, api: ApiClient, layout: dict[str, Any] | None = None) -> tuple[Stage, Concert]:
    stage = a_stage(app_server, api, layout, **TWO_DAYS)
    stage.choose()
    return stage, an_evening_on(stage, entitlement="unlimited_multi_day")


@pytest.fixture
def hall(app_server: AppServer) -> SeatedEvent:
    """Three rows of twelve seats, on two days."""
    return a_hall(app_server, **TWO_DAYS)


def sold(app_server: AppServer) -> dict[tuple[int, int], int]:
    """The tickets of seats, by seat and day."""
    with app_server.database.reading() as session:
        rows = session.execute(text("SELECT seat, day, ticket_id FROM event_seats WHERE state = 2"))
        return {(row.seat, row.day): row.ticket_id for row in rows}


def test_guests_of_one_seat_on_two_days_move_each_on_their_day(app_server: AppServer, api: ApiClient) -> None:
    stage, concert = two_days_on(app_server, api)
    saturday = concert.issue(days=[SATURDAY], **on("B-1"))["items"][0]
    sunday = concert.issue(days=[SUNDAY], **on("B-1"))["items"][0]
    both = concert.issue(**on("B-2"))["items"][0]
    layout = next_version(stage, without("B-1"), floor())
    report = planned(stage, layout)
    counts = {name: report["counts"][name] for name in ("seated", "stay", "move", "unplaced")}
    assert counts == {"seated": 3, "stay": 1, "move": 2, "unplaced": 0}
    moved = {each["ticket"]: each["to_seat"] for each in report["moves"]}
    assert moved.keys() == {saturday["id"], sunday["id"]} and "B-2" not in moved.values(), "somebody has it on both"
    planned(stage, layout, fingerprint=report["fingerprint"])
    taken, tickets = sold(app_server), {each["id"]: each for each in (saturday, sunday, both)}
    by_ticket: dict[int, set[int]] = {}
    for (_, day), ticket in taken.items():
        by_ticket.setdefault(ticket, set()).add(day)
    assert sorted(map(sorted, by_ticket.values())) == [[0], [0, 1], [1]] and len(taken) == 4
    now = {each["id"]: each["valid_days"] for each in api.get(f"{concert.path}/tickets")["items"]}
    assert now == {id: each["valid_days"] for id, each in tickets.items()}, "a move changes no days"


def test_a_seat_that_is_free_on_one_day_only_takes_no_guest_of_both(app_server: AppServer, api: ApiClient) -> None:
    stage, concert = two_days_on(app_server, api)
    guest = concert.issue(**on("A-1"))["items"][0]
    names = [f"{row}-{place}" for row in "AB" for place in range(1, 9)][1:]
    concert.issue(days=[SATURDAY], **on(*names))
    report = planned(stage, next_version(stage, without("A-1"), floor()))
    assert report["counts"]["unplaced"] == 1
    assert [each["ticket"] for each in report["unplaced"]] == [guest["id"]]


def test_companion_seats_are_released_for_the_day_that_is_nearly_full(app_server: AppServer, api: ApiClient) -> None:
    stage, concert = two_days_on(app_server, api, with_wheelchairs())
    api.post(f"{concert.path}/publish", {}, 200)
    names = [f"{row}-{place}" for row in "AB" for place in range(1, 9)][2:16]
    tickets = concert.issue(days=[SATURDAY], **on(*names))["items"]
    app_server.run_worker()
    assert released(app_server) == [("companion_seats_released", [SATURDAY])]
    assert api.refused("POST", f"{concert.path}/tickets", {"ticket_type": 1, "days": [SUNDAY], **on("A-2")})[0] == 409
    concert.issue(days=[SATURDAY], **on("A-2"))
    for ticket in tickets[:3]:
        api.post(f"/api/tickets/{ticket['id']}/cancel", {}, 200)
    app_server.advance(RELEASES_EVERY_MS)
    app_server.run_worker()
    assert released(app_server)[1:] == [("companion_seats_kept_again", [SATURDAY])]
    assert stage.event["id"]


def released(app_server: AppServer) -> list[tuple[str, list[str]]]:
    query = "SELECT name, payload FROM outbox WHERE name LIKE 'companion%' ORDER BY message_id"
    with app_server.database.reading() as session:
        rows = session.execute(text(query)).all()
    return [(row.name, decoded(row.payload)["days"]) for row in rows]


def test_figures_are_of_a_day(hall: SeatedEvent, app_server: AppServer) -> None:
    with_gaps = [f"{row}-{place}" for row in "ABC" for place in range(1, ROW + 1) if place not in {2, 5, 8, 11}]
    issue(hall, *with_gaps, days=[SUNDAY])
    figures = {
        day: {each["name"]: each["percent"] for each in hall.api.get(f"{hall.path}/seating/metrics{day}")["items"]}
        for day in (f"?day={SATURDAY}", f"?day={SUNDAY}", "")
    }
    assert [figures[day]["orphan_seats"] for day in figures] == [0, 33.33, 33.33]
    assert hall.api.refused("GET", f"{hall.path}/seating/metrics?day=2026-07-09") == (404, "day_not_found")
    issue(hall, *(f"{row}-{place}" for row in "ABC" for place in (2, 5, 8, 11)), days=[SATURDAY])
    assert "house_out_of_bounds" not in alerts(hall), "not checked yet"
    check(app_server)
    assert alerts(hall)["house_out_of_bounds"]["count"] == 1, "together the days have no single seat, but Sunday has"


def test_how_holds_ended_is_of_a_day(hall: SeatedEvent, app_server: AppServer) -> None:
    guest = hall.guest()
    for name, days in (("A-1", [SATURDAY]), ("B-1", [SATURDAY, SUNDAY]), ("C-1", None)):
        hall.reserve(guest, name, **({"days": days} if days else {}))
    app_server.advance(DAY)
    app_server.run_worker()
    with app_server.database.reading() as session:
        counted = {bits: dict(outcomes(session, hall.organisation_id, hall.id, bits)) for bits in (0, 1, 2)}
        assert SUMS.differences(session, EventKey(hall.organisation_id, hall.id)) == {}
    assert counted == {0: {"expired": 3}, 1: {"expired": 3}, 2: {"expired": 2}}
    figures = hall.api.get(f"{hall.path}/seating/metrics?day={SUNDAY}")["items"]
    assert {each["name"]: each["percent"] for each in figures}["hold_expiry"] == 100


def test_news_say_how_many_seats_are_left_on_the_day(hall: SeatedEvent, app_server: AppServer) -> None:
    app_server.run_worker()
    public = ApiClient(app_server.app.test_client(), {}), f"/api/public/events/{hall.id}/live"
    with (
        closing(StreamClient(app_server, hall.api, f"{hall.path}/live")) as organiser,
        closing(StreamClient(app_server, *public)) as visitor,
    ):
        organiser.until("counters")
        first = visitor.until("occupancy").data
        assert [(each["date"], each["available"]) for each in first["days"]] == [(SATURDAY, 36), (SUNDAY, 36)]
        hall.reserve(hall.guest(), "A-1", days=[SUNDAY])
        app_server.run_worker()
        (seen,), (told,) = visitor.until("occupancy").data["days"], organiser.until("occupancy").data["days"]
    assert (seen["date"], seen["available"], seen["taken"]) == (SUNDAY, 35, 1)
    assert (told["date"], told["held"], told["sold"]) == (SUNDAY, 1, 0)


def test_visitors_learn_the_days_of_an_event(hall: SeatedEvent, app_server: AppServer) -> None:
    shown = app_server.app.test_client().get(f"/api/public/events/{hall.id}")
    assert shown.json is not None and shown.json["days"] == [SATURDAY, SUNDAY]


def test_an_event_of_one_day_names_none(app_server: AppServer) -> None:
    sale = a_seated_event(app_server)
    visitor = ApiClient(app_server.app.test_client(), {})
    app_server.run_worker()
    with closing(StreamClient(app_server, visitor, f"/api/public/events/{sale.id}/live")) as stream:
        assert "days" not in stream.until("occupancy").data
