"""The calendar entry of an order follows its event."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from icalendar import Calendar

from tests.app_server import ApiClient, AppServer
from tests.builders import DAY, EVENING, HOUR, MINUTE
from tests.contracts.checkout.shop_floor import Shop, a_shop


def entries(shop: Shop, guest: ApiClient, order: dict[str, Any]) -> tuple[Any, list[Any]]:
    """The calendar and its entries, as a calendar reads them."""
    response = guest.ask("GET", f"{shop.path(order)}/calendar.ics")
    assert (response.status_code, response.content_type) == (200, "text/calendar; charset=utf-8")
    raw = bytes(response.data)
    assert all(len(line) <= 75 for line in raw.split(b"\r\n")) and b"\n" not in raw.replace(b"\r\n", b"")
    calendar = Calendar.from_ical(raw)
    return calendar, list(calendar.walk("VEVENT"))


def test_entry_moves_with_its_event_and_is_struck_out_when_that_is_cancelled(shop: Shop) -> None:
    shop.api.patch(shop.sale.path, {"name": "Nachtmusik; Chöre, Orchester"})
    guest = shop.guest()
    order = shop.note(shop.order(guest, "A-1", buyer={"locale": "de"}))
    calendar, (entry,) = entries(shop, guest, order)
    assert (calendar["METHOD"], entry["STATUS"], str(entry["SUMMARY"])) == (
        "PUBLISH",
        "CONFIRMED",
        "Nachtmusik; Chöre, Orchester",
    )
    start = entry["DTSTART"].dt
    assert start == datetime.fromtimestamp((EVENING + 30 * DAY) / 1000, UTC)
    assert entry["DTSTART"].params["TZID"] == "Europe/Berlin" and start.utcoffset().total_seconds() == 7_200
    assert [zone["TZID"] for zone in calendar.walk("VTIMEZONE")] == ["Europe/Berlin"]
    assert (entry["DTEND"].dt - start).total_seconds() * 1000 == 6 * HOUR

    seen = [entry]
    shop.app_server.advance(MINUTE)
    shop.api.post(f"{shop.sale.path}/postpone", {"reason": "storm"}, 200)
    seen += entries(shop, guest, order)[1]
    assert seen[-1]["STATUS"] == "TENTATIVE"
    shop.app_server.advance(MINUTE)
    shop.api.post(f"{shop.sale.path}/reschedule", {"rescheduled_at": EVENING + 200 * DAY}, 200)
    seen += entries(shop, guest, order)[1]
    moved = seen[-1]["DTSTART"].dt
    assert moved == datetime.fromtimestamp((EVENING + 200 * DAY) / 1000, UTC)
    assert moved.utcoffset().total_seconds() == 3_600, "in winter"
    shop.app_server.advance(MINUTE)
    shop.api.post(f"{shop.sale.path}/cancel", {"reason": "storm"}, 200)
    calendar, last = entries(shop, guest, order)
    seen += last
    assert (calendar["METHOD"], seen[-1]["STATUS"]) == ("CANCEL", "CANCELLED")
    assert len({str(each["UID"]) for each in seen}) == 1
    sequences = [int(each["SEQUENCE"]) for each in seen]
    assert sequences == sorted(set(sequences)), "each change is newer than the one before"


@pytest.mark.parametrize(
    ("begin", "end", "shown"),
    [
        ("2026-10-24T22:00+02:00", "2026-10-25T05:00+01:00", "Saturday, 24 October 2026 Start 22:00 CEST"),
        ("2026-10-24T22:00+02:00", "2026-10-25T02:30+01:00", "Saturday, 24 October 2026 Start 22:00 CEST"),
        ("2026-10-25T02:30+02:00", "2026-10-25T02:30+01:00", "Sunday, 25 October 2026 Start 02:30 CEST"),
        ("2026-10-25T02:30+01:00", "2026-10-25T03:30+01:00", "Sunday, 25 October 2026 Start 02:30 CET"),
        ("2027-03-27T23:00+01:00", "2027-03-28T03:00+02:00", "Saturday, 27 March 2027 Start 23:00 CET"),
    ],
)
def test_night_in_which_the_clocks_change_is_as_long_as_it_is(
    app_server: AppServer, begin: str, end: str, shown: str
) -> None:
    shop = a_shop(app_server, start_at=begin, end_at=end)
    shop.api.patch(f"{shop.sale.path}/ticket-types/{shop.stalls}", {"price_cents": 0, "fee_cents": 0})
    guest = shop.guest()
    order = shop.pay(guest, shop.order(guest, "A-1"), "free")
    _, (entry,) = entries(shop, guest, order)
    moments = [datetime.fromisoformat(each) for each in (begin, end)]
    assert [entry[name].dt.timestamp() for name in ("DTSTART", "DTEND")] == [each.timestamp() for each in moments]
    (ticket,) = guest.get(f"{shop.path(order)}/tickets")["tickets"]
    assert f"{ticket['day']} {ticket['time']}" == shown


def test_nobody_else_gets_the_entry(shop: Shop) -> None:
    order = shop.note(shop.order(shop.guest(), "A-1"))
    assert shop.guest().refused("GET", f"{shop.path(order)}/calendar.ics") == (404, "order_not_found")
