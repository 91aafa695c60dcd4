"""Holding one seat: the response, the rows, and the refusals."""

from __future__ import annotations

import pytest

from tests.builders import MINUTE
from tests.contracts.holds.seated_event import SeatedEvent


def test_a_guest_holds_a_seat_for_five_minutes(sale: SeatedEvent) -> None:
    guest = sale.guest()
    answer = guest.ask("POST", sale.reserve_path("A-1"), {"source": "web"})
    assert answer.status_code == 201, answer.get_data(as_text=True)
    assert answer.json is not None
    hold = answer.json["data"]
    assert answer.headers["Cache-Control"] == "no-cache, no-store"
    assert hold == {
        "hold_id": hold["hold_id"],
        "seat_id": sale.seats["A-1"][0],
        "event_id": sale.id,
        "block_name": "Stalls",
        "section": None,
        "row": "A",
        "seat_number": "1",
        "seat_name": "A-1",
        "category": "standard",
        "price_category": None,
        "status": "held",
        "held_until": "2026-07-04T16:05:00Z",
        "held_until_unix": (sale.app_server.now + 5 * MINUTE) // 1000,
        "expires_in_seconds": 300,
        "party_id": None,
        "message": "Seat reserved for 5 minutes. Proceed to checkout.",
    }
    assert sale.states() == {"A-1": 1}


def test_the_same_seat_twice_is_one_hold(sale: SeatedEvent) -> None:
    guest = sale.guest()
    first = sale.reserve(guest, "A-1")
    sale.app_server.advance(MINUTE)
    again = sale.reserve(guest, "A-1", 200)
    assert again["hold_id"] == first["hold_id"] and again["expires_in_seconds"] == 240
    assert sale.rows("SELECT COUNT(*) FROM holds") == [(1,)]


def test_a_seat_is_free_the_moment_its_hold_runs_out(sale: SeatedEvent) -> None:
    first = sale.reserve(sale.guest(), "A-1")
    sale.app_server.advance(5 * MINUTE - 1)
    other = sale.guest()
    assert sale.refused(other, "A-1") == (409, "seat_held_by_another_user")
    sale.app_server.advance(1)
    again = sale.reserve(other, "A-1")
    assert again["hold_id"] != first["hold_id"]
    assert sale.rows("SELECT status FROM holds ORDER BY created_at") == [("expired",), ("active",)]


@pytest.mark.parametrize(
    ("held", "asked", "alone"),
    [("A-3", "A-5", "A-4"), ("A-6", "A-4", "A-5"), ("", "A-2", "A-1"), ("", "A-7", "A-8")],
    ids=["one free to the left", "one free to the right", "the row's first", "the row's last"],
)
def test_a_seat_that_would_leave_a_single_one_is_refused(sale: SeatedEvent, held: str, asked: str, alone: str) -> None:
    if held:
        sale.api.post(sale.reserve_path(held), {"override": True})
    guest = sale.guest()
    assert sale.refused(guest, asked) == (409, "leaves_single_seat")
    if held:
        sale.reserve(guest, alone)
    sale.reserve(sale.guest(), "B-1")
