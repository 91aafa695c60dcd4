"""Holding one seat: what is answered, what is written, and what is refused in which words."""

from __future__ import annotations

import pytest

from tests.builders import MINUTE
from tests.contracts.holds.house import House


def test_a_guest_holds_a_seat_for_five_minutes(house: House) -> None:
    guest = house.guest()
    answer = guest.ask("POST", house.reserve_path("A-1"), {"source": "web"})
    assert answer.status_code == 201, answer.get_data(as_text=True)
    assert answer.json is not None
    told = answer.json["data"]
    assert answer.headers["Cache-Control"] == "no-cache, no-store"
    assert told == {
        "hold_id": told["hold_id"],
        "seat_id": house.seats["A-1"][0],
        "event_id": house.id,
        "block_name": "Stalls",
        "section": None,
        "row": "A",
        "seat_number": "1",
        "seat_name": "A-1",
        "status": "held",
        "held_until": "2026-07-04T16:05:00Z",
        "held_until_unix": (house.office.now + 5 * MINUTE) // 1000,
        "expires_in_seconds": 300,
        "party_id": None,
        "message": "Seat reserved for 5 minutes. Proceed to checkout.",
    }
    assert house.states() == {"A-1": 1}


def test_the_seat_of_somebody_else_is_refused_with_a_countdown_and_no_name(house: House) -> None:
    house.reserve(house.guest(), "A-1")
    house.office.advance(MINUTE)
    answer = house.guest().ask("POST", house.reserve_path("A-1"), {})
    assert answer.status_code == 409 and answer.json is not None
    error = answer.json["error"]
    assert error["code"] == "seat_held_by_another_user"
    assert error["details"] == {"expires_at": "2026-07-04T16:05:00Z", "expires_in": 240}


def test_the_same_seat_twice_is_one_hold(house: House) -> None:
    guest = house.guest()
    first = house.reserve(guest, "A-1")
    house.office.advance(MINUTE)
    again = house.reserve(guest, "A-1", 200)
    assert again["hold_id"] == first["hold_id"] and again["expires_in_seconds"] == 240
    assert house.rows("SELECT COUNT(*) FROM holds") == [(1,)]


def test_a_hold_whose_time_is_over_is_free_at_that_instant(house: House) -> None:
    first = house.reserve(house.guest(), "A-1")
    house.office.advance(5 * MINUTE - 1)
    other = house.guest()
    assert house.refused(other, "A-1") == (409, "seat_held_by_another_user")
    house.office.advance(1)
    again = house.reserve(other, "A-1")
    assert again["hold_id"] != first["hold_id"]
    assert house.rows("SELECT status FROM holds ORDER BY created_at") == [("expired",), ("active",)]


@pytest.mark.parametrize(
    ("held", "asked", "alone"),
    [("A-3", "A-5", "A-4"), ("A-6", "A-4", "A-5"), ("", "A-2", "A-1"), ("", "A-7", "A-8")],
    ids=["one free to the left", "one free to the right", "the row's first", "the row's last"],
)
def test_one_seat_that_would_leave_another_alone_is_refused(house: House, held: str, asked: str, alone: str) -> None:
    if held:
        house.desk.post(house.reserve_path(held), {"override": True})
    guest = house.guest()
    assert house.refused(guest, asked) == (409, "leaves_single_seat")
    if held:
        house.reserve(guest, alone)
    house.reserve(house.guest(), "B-1")
