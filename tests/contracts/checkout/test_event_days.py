"""Orders at an event of several days: each day is sold by itself, also late, and a new day takes nothing away."""

from __future__ import annotations

import pytest

from tests.app_server import ApiClient, AppServer
from tests.builders import DAY, EVENING, HOUR, MINUTE
from tests.contracts.checkout.shop_floor import Shop, a_shop, assert_ledger_balances

FRIDAY, SATURDAY = "2026-08-03", "2026-08-04"


@pytest.fixture
def festival(app_server: AppServer) -> Shop:
    """Two days."""
    return a_shop(app_server, start_at=EVENING + 30 * DAY, end_at=EVENING + 31 * DAY + HOUR)


def hold(shop: Shop, who: ApiClient, seat: str, *days: str) -> dict[str, str]:
    """Hold a seat for some days, as an order takes it."""
    chosen = {"days": list(days)} if days else {}
    return {"hold_id": shop.sale.reserve(who, seat, **chosen)["hold_id"]}


def order(shop: Shop, seat: str, *days: str) -> dict[str, str]:
    """Order a seat for some days."""
    guest = shop.guest()
    made: dict[str, str] = guest.post(shop.orders_path, {"holds": [hold(shop, guest, seat, *days)]})
    return made


def days_of_tickets(shop: Shop) -> list[list[int]]:
    return sorted(ticket["valid_days"] for ticket in shop.api.get(f"{shop.sale.path}/tickets")["items"])


def test_a_seat_is_sold_to_one_guest_for_each_day(festival: Shop) -> None:
    first, second = order(festival, "A-1", FRIDAY), order(festival, "A-1", SATURDAY)
    for each in (first, second):
        assert festival.note(each)["state"] == "paid"
    assert days_of_tickets(festival) == [[1], [2]]
    assert_ledger_balances(festival.sale)


def test_late_payment_buys_the_days_that_were_ordered(festival: Shop) -> None:
    late = order(festival, "A-1", FRIDAY)
    festival.app_server.advance(11 * MINUTE)
    festival.run_jobs()
    other = order(festival, "A-1", SATURDAY)
    assert festival.note(other)["state"] == festival.note(late, reference="late")["state"] == "paid"
    assert days_of_tickets(festival) == [[1], [2]]
    gone = order(festival, "A-8", FRIDAY)
    festival.app_server.advance(11 * MINUTE)
    festival.run_jobs()
    festival.note(order(festival, "A-8", FRIDAY))
    kept = festival.note(gone, reference="too late")
    assert (kept["state"], kept["due_cents"]) == ("expired", -5140)
    assert_ledger_balances(festival.sale)


def test_what_is_ordered_stays_reserved_when_the_event_gets_another_day(festival: Shop) -> None:
    number = festival.stalls
    festival.api.patch(f"{festival.sale.path}/ticket-types/{number}", {"quantity": 1})
    waiting = order(festival, "A-1")
    festival.api.patch(festival.sale.path, {"end_at": EVENING + 32 * DAY + HOUR})
    guest = festival.guest()
    body = {"holds": [hold(festival, guest, "A-8", FRIDAY)]}
    assert guest.refused("POST", festival.orders_path, body) == (409, "insufficient_inventory")
    assert festival.note(waiting)["state"] == "paid"
    assert festival.refund(waiting)["state"] == "refunded"
    assert guest.post(festival.orders_path, body)["state"] == "pending"


def test_the_funnel_counts_each_day_by_itself(festival: Shop) -> None:
    festival.note(order(festival, "A-1", FRIDAY))
    festival.note(order(festival, "A-2"))
    order(festival, "A-3", SATURDAY)
    friday, saturday = festival.api.get(f"{festival.sale.path}/funnel")["days"]
    assert friday == {"date": FRIDAY, "ordered": 2, "paid": 2, "entered": 0}
    assert saturday == {"date": SATURDAY, "ordered": 2, "paid": 1, "entered": 0}
