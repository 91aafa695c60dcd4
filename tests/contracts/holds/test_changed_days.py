"""An event gets another day, or loses one, while seats and places are sold and held."""

from __future__ import annotations

from typing import Any

import pytest

from tests.app_server import AppServer
from tests.builders import DAY, EVENING, HOUR, MINUTE, a_ticket_type
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event
from tests.contracts.holds.test_days import SATURDAY, SUNDAY, agree, issue, places, refusal, seats_by_day
from tests.contracts.seating.stage import a_layout, floor, stalls

ONE_DAY, TWO_DAYS, THREE_DAYS = (EVENING + 2 * HOUR + length for length in (5 * HOUR, DAY, 2 * DAY))
MONDAY = "2026-07-06"


def an_event_of(app_server: AppServer, end: int) -> SeatedEvent:
    """Two rows of eight seats and a floor for five."""
    layout = a_layout(zones=[stalls(), floor(capacity=5)])
    made = a_seated_event(app_server, layout=layout, end_at=end, sale_end_at=EVENING + 3 * HOUR)
    numbers = {zone["name"]: zone["event_zone"] for zone in made.api.get(f"{made.path}/layout")["zones"]}
    for name in ("Stalls", "Floor"):
        kind = a_ticket_type(name=name, zone=numbers[name], entitlement="unlimited_multi_day", quantity=20)
        made.api.post(f"{made.path}/ticket-types", kind)
    return made


def lasts(sale: SeatedEvent, end: int, **also: Any) -> list[str]:
    """Let the event end then; its days."""
    changed = sale.api.patch(sale.path, {"end_at": end, **also})
    return [day["date"] for day in changed["days"]]


@pytest.fixture
def sale(app_server: AppServer) -> SeatedEvent:
    """An event of one day."""
    return an_event_of(app_server, ONE_DAY)


def test_tickets_and_holds_without_days_take_the_day_that_is_added(sale: SeatedEvent) -> None:
    issue(sale, seats=[{"seat_id": "A-1"}, {"seat_id": "A-2"}])
    issue(sale, ticket_type=2, count=2)
    first, second = sale.guest(), sale.guest()
    held = sale.reserve(first, "B-1")["hold_id"]
    second.post(f"{sale.path}/holds", places(sale, 1))
    assert lasts(sale, TWO_DAYS) == [SATURDAY, SUNDAY]
    for name, state in (("A-1", 2), ("A-2", 2), ("B-1", 1)):
        assert seats_by_day(sale, name) == {0: state, 1: state}
    assert sale.rows("SELECT day, held, sold FROM event_places ORDER BY day") == [(0, 1, 2), (1, 1, 2)]
    for name in ("A-1", "B-1"):
        assert refusal(sale, sale.reserve_path(name), {"days": [SUNDAY]})["details"]["days"] == [SUNDAY]
    assert refusal(sale, f"{sale.path}/holds", places(sale, 3, SUNDAY))["code"] == "block_at_capacity"
    sale.reserve(sale.guest(), "B-8", days=[SUNDAY])
    agree(sale)
    issue(sale, seats=[{"seat_id": "B-1"}], holds=[held])
    assert seats_by_day(sale, "B-1") == {0: 2, 1: 2}
    sale.app_server.advance(6 * MINUTE)
    sale.app_server.run_worker()
    agree(sale)


def test_event_that_grows_from_two_days_to_three_leaves_the_third_to_those_without_days(app_server: AppServer) -> None:
    sale = an_event_of(app_server, TWO_DAYS)
    issue(sale, seats=[{"seat_id": "A-1"}])
    issue(sale, seats=[{"seat_id": "A-2"}], days=[SATURDAY])
    issue(sale, seats=[{"seat_id": "A-2"}], days=[SUNDAY])
    both = sale.reserve(sale.guest(), "B-1", days=[SATURDAY, SUNDAY])
    assert lasts(sale, THREE_DAYS) == [SATURDAY, SUNDAY, MONDAY]
    assert (seats_by_day(sale, "A-1"), seats_by_day(sale, "A-2")) == ({0: 2, 1: 2, 2: 2}, {0: 2, 1: 2})
    assert both["days"] == [SATURDAY, SUNDAY] and seats_by_day(sale, "B-1") == {0: 1, 1: 1}, "that one named its days"
    sale.reserve(sale.guest(), "B-1", days=[MONDAY])
    sale.reserve(sale.guest(), "A-2", days=[MONDAY])
    agree(sale)


def test_day_that_somebody_has_is_not_taken_away(app_server: AppServer) -> None:
    sale = an_event_of(app_server, THREE_DAYS)
    every_day = issue(sale, seats=[{"seat_id": "A-1"}])["items"][0]
    monday = issue(sale, seats=[{"seat_id": "A-2"}], days=[MONDAY])["items"][0]
    sale.api.post(f"{sale.path}/ticket-types", a_ticket_type(name="Monday", valid_days=[3], quantity=3))
    guest = sale.guest()
    hold = sale.reserve(guest, "B-1", days=[SUNDAY, MONDAY])["hold_id"]
    answer = sale.api.ask("PATCH", sale.path, {"end_at": TWO_DAYS})
    error = answer.json["error"]  # type: ignore[index]
    assert (answer.status_code, error["code"]) == (409, "days_in_use")
    assert error["details"]["uses"] == {"holds": 1, "ticket types": 1, "tickets": 1}
    assert error["details"]["days"] == [MONDAY] and "1 tickets" in error["message"]
    assert len(sale.api.get(sale.path)["days"]) == 3
    sale.api.post(f"/api/tickets/{monday['id']}/cancel", {"reason": "ill"}, 200)
    guest.ask("DELETE", f"/api/holds/{hold}")
    sale.api.patch(f"{sale.path}/ticket-types/3", {"valid_days": [1]})
    assert lasts(sale, TWO_DAYS) == [SATURDAY, SUNDAY]
    assert seats_by_day(sale, "A-1") == {0: 2, 1: 2} and every_day["valid_days"] == []
    agree(sale)
    assert lasts(sale, ONE_DAY, sale_end_at=EVENING + HOUR) == [SATURDAY]
    assert sale.rows("SELECT * FROM event_day_counts") == []
    sale.reserve(sale.guest(), "A-2")
    agree(sale)


def test_start_and_number_of_days_do_not_change_together_once_days_are_named(app_server: AppServer) -> None:
    sale = an_event_of(app_server, TWO_DAYS)
    issue(sale, seats=[{"seat_id": "A-1"}], days=[SATURDAY])
    earlier = {"start_at": EVENING + 2 * HOUR + DAY, "end_at": THREE_DAYS + DAY}
    error = sale.api.ask("PATCH", sale.path, earlier).json["error"]  # type: ignore[index]
    assert error["code"] == "days_in_use" and "one after the other" in error["message"]
    moved = sale.api.patch(sale.path, {"start_at": EVENING + 2 * HOUR + DAY})
    assert [day["date"] for day in moved["days"]] == [SUNDAY, MONDAY], "days keep their order"
    assert refusal(sale, sale.reserve_path("A-1"), {"days": [SUNDAY]})["details"]["days"] == [SUNDAY]
    sale.reserve(sale.guest(), "A-1", days=[MONDAY])
    agree(sale)


def test_postponed_event_keeps_the_days_of_its_guests_on_the_new_date(app_server: AppServer) -> None:
    sale = an_event_of(app_server, TWO_DAYS)
    guest = sale.guest()
    held = sale.reserve(guest, "A-1", days=[SUNDAY])
    sale.api.post(f"{sale.path}/postpone", {"reason": "storm"}, 200)
    sale.api.post(f"{sale.path}/reschedule", {"rescheduled_at": EVENING + 2 * HOUR + 7 * DAY}, 200)
    assert guest.get("/api/me/holds")["data"]["holds"][0]["days"] == ["2026-07-12"]
    assert refusal(sale, sale.reserve_path("A-1"), {})["details"]["days"] == ["2026-07-12"]
    sale.reserve(sale.guest(), "A-1", days=["2026-07-11"])
    issue(sale, seats=[{"seat_id": "A-1"}], holds=[held["hold_id"]])
    agree(sale)
