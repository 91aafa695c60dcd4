"""An event of two days: Friday's guest does not block Saturday, and a guest of both days meets each of them."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from tests.app_server import ApiClient, AppServer
from tests.builders import DAY, EVENING, HOUR, MINUTE, a_ticket_type
from tests.contracts.holds.agreement import disagreements
from tests.contracts.holds.at_once import guests, together, tried
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event
from tests.contracts.seating.stage import a_layout, floor, stalls

SATURDAY, SUNDAY = "2026-07-04", "2026-07-05"
BOTH = [SATURDAY, SUNDAY]


@pytest.fixture
def sale(app_server: AppServer) -> SeatedEvent:
    """Two rows of eight seats and a floor for five, on two days."""
    layout = a_layout(zones=[stalls(), floor(capacity=5)])
    made = a_seated_event(app_server, layout=layout, end_at=EVENING + 2 * HOUR + DAY, sale_end_at=EVENING + DAY)
    made.api.patch("/api/organisation/seating-policy", {"orphan_avoidance_strict": False, "max_holds_per_ip": None})
    numbers = {zone["name"]: zone["event_zone"] for zone in made.api.get(f"{made.path}/layout")["zones"]}
    for name in ("Stalls", "Floor"):
        kind = a_ticket_type(name=name, zone=numbers[name], entitlement="unlimited_multi_day", quantity=20)
        made.api.post(f"{made.path}/ticket-types", kind)
    return made


def refusal(sale: SeatedEvent, path: str, body: dict[str, Any], who: ApiClient | None = None) -> dict[str, Any]:
    """The error of a request that is refused."""
    answer = (who or sale.guest()).ask("POST", path, body)
    assert answer.status_code >= 400 and answer.json is not None, answer.get_data(as_text=True)
    error: dict[str, Any] = answer.json["error"]
    return error


def places(sale: SeatedEvent, count: int, *days: str) -> dict[str, Any]:
    """A request for places on the floor."""
    return {"count": count, "zone_id": sale.zones["Floor"], **({"days": list(days)} if days else {})}


def agree(sale: SeatedEvent) -> None:
    """Check that all tables that count seats and places agree, day by day."""
    with sale.app_server.database.reading() as session:
        assert disagreements(session, sale.id) == []


def seats_by_day(sale: SeatedEvent, name: str = "A-1") -> dict[int, int]:
    """The state of a seat on each day on which it was ever taken."""
    query = "SELECT day, state FROM event_seats WHERE event_id = :event AND seat = :seat"
    return dict(sale.rows(query, event=sale.id, seat=sale.number(name)))


def test_friday_and_saturday_of_a_seat_go_to_two_guests_and_both_days_to_neither(sale: SeatedEvent) -> None:
    both_first = sale.reserve(sale.guest(), "B-1", days=BOTH)
    assert both_first["days"] == BOTH
    first, second = sale.guest(), sale.guest()
    assert sale.reserve(first, "A-1", days=[SATURDAY])["days"] == [SATURDAY]
    for wanted, taken in ((BOTH, [SATURDAY]), (None, [SATURDAY]), ([SATURDAY], [SATURDAY])):
        error = refusal(sale, sale.reserve_path("A-1"), {"days": wanted} if wanted else {})
        assert (error["code"], error["details"]["days"]) == ("seat_held_by_another_user", taken)
        assert SATURDAY in error["message"] and SUNDAY not in error["message"]
    sale.reserve(second, "A-1", days=[SUNDAY])
    error = refusal(sale, sale.reserve_path("A-1"), {"days": BOTH})
    assert error["details"]["days"] == BOTH
    for day in BOTH:
        error = refusal(sale, sale.reserve_path("B-1"), {"days": [day]})
        assert error["details"]["days"] == [day], "who has both days blocks each"
    assert seats_by_day(sale) == {0: 1, 1: 1}
    agree(sale)


def test_without_days_a_seat_is_held_for_all_of_them(sale: SeatedEvent) -> None:
    held = sale.reserve(sale.guest(), "A-1")
    assert held["days"] == BOTH and seats_by_day(sale) == {0: 1, 1: 1}
    assert sale.refused(sale.guest(), "A-1", days=[SUNDAY])[1] == "seat_held_by_another_user"


def test_day_that_the_event_does_not_have_is_named(sale: SeatedEvent, app_server: AppServer) -> None:
    for path in (sale.reserve_path("A-1"), f"{sale.path}/holds"):
        body = {"days": [SUNDAY, "2026-07-09"], **({} if "reserve" in path else {"best": 2})}
        error = refusal(sale, path, body)
        assert error["code"] == "unknown_day" and "2026-07-09" in error["message"]
        assert f"{SATURDAY}, {SUNDAY}" in error["message"]
    one_day = a_seated_event(app_server, slug="club")
    assert one_day.refused(one_day.guest(), "A-1", days=[SUNDAY])[1] == "unknown_day"
    held = one_day.reserve(one_day.guest(), "A-1", days=[SATURDAY])
    assert "days" not in held, "an event of one day has nothing to tell apart"


def test_guest_who_holds_a_day_takes_the_other_but_not_both_in_one(sale: SeatedEvent) -> None:
    guest = sale.guest()
    first = sale.reserve(guest, "A-1", days=[SATURDAY])
    assert sale.reserve(guest, "A-1", status=200, days=[SATURDAY])["hold_id"] == first["hold_id"]
    error = refusal(sale, sale.reserve_path("A-1"), {"days": BOTH}, guest)
    assert (error["code"], error["details"]["days"]) == ("seat_held_for_other_days", [SATURDAY])
    error = refusal(sale, f"{sale.path}/holds", {"seat_ids": ["A-1", "A-2"]}, guest)
    assert (error["code"], error["details"]["seats"]) == ("seat_held_for_other_days", ["A-1"])
    second = sale.reserve(guest, "A-1", days=[SUNDAY])
    assert second["hold_id"] != first["hold_id"]
    both = sale.reserve(guest, "A-2")
    again = sale.reserve(guest, "A-2", status=200, days=[SUNDAY])
    assert (again["hold_id"], again["days"]) == (both["hold_id"], BOTH), "that hold has the day asked for"
    agree(sale)


def test_release_and_expiry_give_back_exactly_the_days_of_the_hold(sale: SeatedEvent) -> None:
    first, second = sale.guest(), sale.guest()
    saturday = sale.reserve(first, "A-1", days=[SATURDAY])
    sale.reserve(second, "A-1", days=[SUNDAY])
    first.ask("DELETE", f"/api/holds/{saturday['hold_id']}")
    assert seats_by_day(sale) == {0: 0, 1: 1}
    both = sale.reserve(sale.guest(), "A-2")
    sale.app_server.advance(6 * MINUTE)
    held = sale.reserve(sale.guest(), "A-2", days=[SUNDAY])
    assert held["days"] == [SUNDAY], "the hold for both days has run out, whichever day is asked for"
    assert seats_by_day(sale, "A-2") == {0: 0, 1: 1}
    ended = sale.rows("SELECT status FROM holds WHERE id = :id", id=both["hold_id"])
    assert ended == [("expired",)]
    sale.app_server.run_worker()
    assert seats_by_day(sale) == {0: 0, 1: 0}, "swept"
    agree(sale)


def test_facts_of_the_end_of_a_hold_name_its_days(sale: SeatedEvent) -> None:
    guest = sale.guest()
    given_up = sale.reserve(guest, "A-1", days=[SUNDAY])["hold_id"]
    guest.ask("DELETE", f"/api/holds/{given_up}")
    run_out = sale.reserve(guest, "A-2")["hold_id"]
    floor = guest.post(f"{sale.path}/holds", places(sale, 2, SATURDAY))["data"]["holds"][0]["hold_id"]
    bought = sale.reserve(sale.guest(), "A-3", days=[SATURDAY])["hold_id"]
    issue(sale, seats=[{"seat_id": "A-3"}], holds=[bought])
    sale.app_server.advance(20 * MINUTE)
    sale.app_server.run_worker()
    rows = sale.rows("SELECT name, subjects, payload FROM outbox WHERE name LIKE 'seat_hold_%'")
    said = {(name, decoded(subjects)["hold"]): decoded(payload)["days"] for name, subjects, payload in rows}
    assert said == {
        ("seat_hold_released", given_up): [SUNDAY],
        ("seat_hold_expired", run_out): BOTH,
        ("seat_hold_expired", floor): [SATURDAY],
        ("seat_hold_converted", bought): [SATURDAY],
    }


def decoded(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def test_groups_and_the_best_seats_are_found_for_their_days(sale: SeatedEvent) -> None:
    whole_row = [f"A-{n}" for n in range(1, 9)]
    sale.guest().post(f"{sale.path}/holds", {"seat_ids": whole_row, "days": [SATURDAY]})
    best = {"best": 8, "zone_ids": [sale.zones["Stalls"]]}
    found = sale.guest().post(f"{sale.path}/holds", {**best, "days": [SUNDAY]})["data"]["holds"]
    assert {hold["row"] for hold in found} == {"A"}, "on Sunday the first row is still free"
    found = sale.guest().post(f"{sale.path}/holds", best)["data"]["holds"]
    assert {hold["row"] for hold in found} == {"B"} and all(hold["days"] == BOTH for hold in found)
    error = refusal(sale, f"{sale.path}/holds", {"seat_ids": ["A-1", "B-1"], "days": [SATURDAY]})
    assert error["details"]["seats"] == ["A-1", "B-1"] and error["details"]["days"] == [SATURDAY]
    for days, count in (([SATURDAY], 0), ([SUNDAY], 0), (BOTH, 0)):
        answer = sale.api.ask("POST", f"{sale.path}/layout/best-seats", {"size": 2, "days": days})
        assert answer.status_code == 409, (days, count)
    agree(sale)


def test_places_are_counted_for_each_day(sale: SeatedEvent) -> None:
    path = f"{sale.path}/holds"
    saturday = sale.guest().post(path, places(sale, 3, SATURDAY))["data"]["holds"][0]
    sale.guest().post(path, places(sale, 5, SUNDAY))
    assert refusal(sale, path, places(sale, 1))["code"] == "block_at_capacity", "Sunday is full"
    assert refusal(sale, path, places(sale, 3, SATURDAY))["code"] == "block_at_capacity"
    sale.guest().post(path, places(sale, 2, SATURDAY))
    sale.api.ask("DELETE", f"/api/holds/{saturday['hold_id']}")
    assert sale.rows("SELECT day, held FROM event_places ORDER BY day") == [(0, 2), (1, 5)]
    sale.app_server.advance(6 * MINUTE)
    sale.guest().post(path, places(sale, 5))
    assert sale.rows("SELECT day, held FROM event_places ORDER BY day") == [(0, 5), (1, 5)]
    agree(sale)


def issue(sale: SeatedEvent, status: int = 201, **body: Any) -> Any:
    """Tickets, sold by the organiser."""
    return sale.api.post(f"{sale.path}/tickets", body, status)


def test_tickets_take_seats_and_places_for_their_days_and_give_them_back(sale: SeatedEvent) -> None:
    saturday = issue(sale, seats=[{"seat_id": "A-1"}], days=[SATURDAY])["items"][0]
    sunday = issue(sale, seats=[{"seat_id": "A-1"}], days=[SUNDAY])["items"][0]
    assert (saturday["valid_days"], sunday["valid_days"]) == ([1], [2])
    for days in (BOTH, [SUNDAY], None):
        body = {"seats": [{"seat_id": "A-1"}], **({"days": days} if days else {})}
        error = refusal(sale, f"{sale.path}/tickets", body, sale.api)
        assert (error["code"], error["details"]["days"]) == ("seat_taken", days or BOTH)
    sale.api.post(f"/api/tickets/{saturday['id']}/cancel", {"reason": "ill"}, 200)
    assert seats_by_day(sale) == {0: 0, 1: 2}
    both = issue(sale, seats=[{"seat_id": "A-2"}])["items"][0]
    assert both["valid_days"] == [] and seats_by_day(sale, "A-2") == {0: 2, 1: 2}
    issue(sale, ticket_type=2, count=5, days=[SATURDAY])
    issue(sale, ticket_type=2, count=4, days=[SUNDAY])
    error = refusal(sale, f"{sale.path}/tickets", {"ticket_type": 2, "count": 2, "days": [SUNDAY]}, sale.api)
    assert (error["code"], error["details"]["days"]) == ("zone_full", [SUNDAY])
    agree(sale)
    sale.api.post(f"/api/tickets/{both['id']}/cancel", {"reason": "ill"}, 200)
    assert seats_by_day(sale, "A-2") == {0: 0, 1: 0}
    agree(sale)


def test_ticket_from_a_hold_has_the_days_of_the_hold(sale: SeatedEvent) -> None:
    guest = sale.guest()
    hold = sale.reserve(guest, "A-1", days=[SUNDAY])["hold_id"]
    ticket = issue(sale, seats=[{"seat_id": "A-1"}], holds=[hold])["items"][0]
    assert ticket["valid_days"] == [2] and seats_by_day(sale) == {1: 2}
    hold = sale.reserve(guest, "A-2")["hold_id"]
    ticket = issue(sale, seats=[{"seat_id": "A-2"}], holds=[hold], days=[SATURDAY])["items"][0]
    assert ticket["valid_days"] == [1] and seats_by_day(sale, "A-2") == {0: 2, 1: 0}, "the other day is free again"
    held = guest.post(f"{sale.path}/holds", places(sale, 2, SUNDAY))["data"]["holds"][0]["hold_id"]
    tickets = issue(sale, ticket_type=2, count=3, holds=[held])["items"]
    assert [each["valid_days"] for each in tickets] == [[2]] * 3
    assert sale.rows("SELECT day, held, sold FROM event_places WHERE day = 1") == [(1, 0, 3)]
    agree(sale)


def test_quota_and_capacity_count_for_each_day(app_server: AppServer) -> None:
    sale = a_seated_event(app_server, end_at=EVENING + 2 * HOUR + DAY, sale_end_at=EVENING + DAY, capacity=10)
    sale.api.post(f"{sale.path}/ticket-types", a_ticket_type(name="Day", quantity=6, zone=0))
    zone = next(zone["event_zone"] for zone in sale.api.get(f"{sale.path}/layout")["zones"] if zone["name"] == "Floor")
    for number, days in ((2, [1]), (3, [2])):
        kind = a_ticket_type(name=f"Day {number}", quantity=4, valid_days=days, zone=zone)
        sale.api.post(f"{sale.path}/ticket-types", kind)
    error = refusal(sale, f"{sale.path}/ticket-types", a_ticket_type(name="Too many", quantity=1), sale.api)
    assert error["code"] == "capacity_exceeded" and SATURDAY in error["message"]
    issue(sale, ticket_type=1, count=6, days=[SATURDAY])
    error = refusal(sale, f"{sale.path}/tickets", {"ticket_type": 1, "count": 1, "days": BOTH}, sale.api)
    assert (error["code"], error["details"]["days"]) == ("insufficient_inventory", [SATURDAY])
    issue(sale, ticket_type=1, count=6, days=[SUNDAY])
    issue(sale, ticket_type=2, count=4)
    assert sale.api.get(sale.path)["tickets_issued"] == 16
    by_day = [kind["taken_by_day"] for kind in sale.api.get(f"{sale.path}/ticket-types")["items"]]
    assert by_day[:2] == [{SATURDAY: 6, SUNDAY: 6}, {SATURDAY: 4, SUNDAY: 0}]
    assert sale.api.get(sale.path)["sale_status"] == "on_sale", "Sunday has room"
    held = sale.guest().post(f"{sale.path}/holds", places(sale, 4, SUNDAY))["data"]["holds"][0]["hold_id"]
    assert refusal(sale, f"{sale.path}/holds", places(sale, 1, SUNDAY))["code"] == "block_at_capacity"
    error = refusal(sale, f"{sale.path}/tickets", {"ticket_type": 3, "count": 1}, sale.api)
    assert error["code"] == "capacity_exceeded"
    last = issue(sale, ticket_type=3, count=4, holds=[held])["items"]
    assert sale.api.get(sale.path)["sale_status"] == "sold_out"
    sale.api.post(f"/api/tickets/{last[0]['id']}/cancel", {"reason": "ill"}, 200)
    assert sale.api.get(sale.path)["sale_status"] == "on_sale"
    agree(sale)


def test_printed_seats_of_an_event_without_a_layout_have_days_too(app_server: AppServer, api: ApiClient) -> None:
    venue = api.post(
        "/api/venues",
        {
            "name": "Barn",
            "timezone": "Europe/Berlin",
            "city": "Kiel",
            "country": "DE",
            "address": "Hof 1",
            "max_capacity": 10,
        },
    )
    event = api.post(
        "/api/events",
        {
            "venue_id": venue["id"],
            "name": "Fair",
            "description": "Two days.",
            "start_at": EVENING + HOUR,
            "end_at": EVENING + HOUR + DAY,
        },
    )
    path = f"/api/events/{event['id']}"
    api.post(f"{path}/ticket-types", a_ticket_type(quantity=10))
    chair = {"row": "A", "number": "1"}
    api.post(f"{path}/tickets", {"ticket_type": 1, "seats": [chair], "days": [SATURDAY]})
    answer = api.ask("POST", f"{path}/tickets", {"ticket_type": 1, "seats": [chair]})
    assert answer.json is not None and answer.json["error"]["details"]["days"] == [SATURDAY]
    api.post(f"{path}/tickets", {"ticket_type": 1, "seats": [chair], "days": [SUNDAY]})
    api.post(f"{path}/tickets", {"ticket_type": 1, "count": 9, "days": [SUNDAY]})
    answer = api.ask("POST", f"{path}/tickets", {"ticket_type": 1, "count": 1})
    assert answer.status_code == 409, "Sunday is full"
    api.post(f"{path}/tickets", {"ticket_type": 1, "count": 9, "days": [SATURDAY]})


@pytest.mark.parametrize("_again", range(3))
def test_race_for_one_seat_has_one_winner_a_day(sale: SeatedEvent, nodes: list[AppServer], _again: int) -> None:
    path, choices = sale.reserve_path("A-1"), ([SATURDAY], [SUNDAY], BOTH, None)
    crowd = guests(sale, nodes, 16)
    works = [
        lambda who=who, days=choices[at % 4]: tried(who, path, {"days": days} if days else {})
        for at, who in enumerate(crowd)
    ]
    answers = Counter(together(works))
    assert set(answers) <= {(201, ""), (409, "seat_held_by_another_user"), (409, "seat_no_longer_available")}, answers
    held = sale.rows("SELECT days FROM holds WHERE event_id = :event AND status = 'active'", event=sale.id)
    assert sorted(held) in ([("0",)], [("3",)], [("1",), ("2",)], [("1",)], [("2",)]), held
    assert len(held) == answers[201, ""]
    agree(sale)


def test_race_for_seats_and_places_sells_no_day_twice(sale: SeatedEvent, nodes: list[AppServer]) -> None:
    crowd = guests(sale, nodes, 24)
    seats = [sale.seats[f"A-{n}"][0] for n in range(1, 5)]
    bodies: list[dict[str, Any]] = []
    for at in range(24):
        days = ([SATURDAY], [SUNDAY], BOTH)[at % 3]
        wanted = {"seat_ids": seats[at % 2 : at % 2 + 3]} if at % 2 else {"count": 2, "zone_id": sale.zones["Floor"]}
        bodies.append({**wanted, "days": days})
    works = [
        lambda who=who, body=body: tried(who, f"{sale.path}/holds", body)
        for who, body in zip(crowd, bodies, strict=True)
    ]
    answers = Counter(together(works))
    assert answers[201, ""] >= 2 and all(status in {201, 409} for status, _ in answers), answers
    assert all(held <= 5 for (held,) in sale.rows("SELECT held FROM event_places"))
    agree(sale)


def test_race_of_the_box_office_against_guests(sale: SeatedEvent, nodes: list[AppServer]) -> None:
    crowd = guests(sale, nodes, 8)
    sells = [
        lambda days=days: tried(sale.api, f"{sale.path}/tickets", {"seats": [{"seat_id": "A-1"}], "days": days})
        for days in ([SATURDAY], [SUNDAY], BOTH, BOTH)
    ]
    holds = [
        lambda who=who, at=at: tried(who, sale.reserve_path("A-1"), {"days": ([SATURDAY], [SUNDAY], BOTH)[at % 3]})
        for at, who in enumerate(crowd)
    ]
    answers = Counter(together([*sells, *holds]))
    assert all(status in {201, 409} for status, _ in answers), answers
    assert 1 <= answers[201, ""] <= 2
    agree(sale)
