"""The map and the counters of one day of an event, and of all its days together."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from sync_server.seating.bitmap import unpack
from tests.app_server import ApiClient, AppServer
from tests.builders import DAY, EVENING, HOUR, MINUTE, a_ticket_type
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event
from tests.contracts.seat_maps.mapped_event import FREE, HELD, TAKEN, Page
from tests.contracts.seating.stage import a_layout, floor, stalls

SATURDAY, SUNDAY = "2026-07-04", "2026-07-05"


@dataclass
class OfDay:
    """The map of one day, or of all ("")."""

    shop: SeatedEvent
    day: str

    @property
    def app_server(self) -> AppServer:
        return self.shop.app_server

    @property
    def path(self) -> str:
        return f"{self.shop.path}/seatmap"

    @property
    def query(self) -> str:
        return f"?day={self.day}" if self.day else ""

    def page(self, api: ApiClient) -> DayPage:
        response = api.get(f"{self.path}{self.query}")
        return DayPage(self, api, response["plan"], response["state"], day=self.day)


@dataclass
class DayPage(Page):
    """An open map of one day."""

    day: str = ""

    def changes(self) -> dict[str, object]:
        also = f"&day={self.day}" if self.day else ""
        found: dict[str, object] = self.api.get(f"{self.mapped.path}/changes?since={self.version}{also}")
        assert found["reset"] is None
        return found


@pytest.fixture
def shop(app_server: AppServer) -> SeatedEvent:
    """Two rows of eight seats and a floor for five, on two days."""
    layout = a_layout(zones=[stalls(), floor(capacity=5)])
    made = a_seated_event(app_server, layout=layout, end_at=EVENING + 2 * HOUR + DAY, sale_end_at=EVENING + DAY)
    made.api.post(f"{made.path}/ticket-types", a_ticket_type(entitlement="unlimited_multi_day"))
    return made


def test_each_day_has_its_map_and_all_days_have_one(shop: SeatedEvent, app_server: AppServer) -> None:
    whole, saturday, sunday = (OfDay(shop, day).page(shop.api) for day in ("", SATURDAY, SUNDAY))
    assert (whole.state["days"], sunday.state["days"]) == ([SATURDAY, SUNDAY], [SUNDAY])
    assert saturday.plan["id"] == whole.plan["id"], "days share the plan, which browsers keep"
    hold = shop.reserve(shop.guest(), "A-1", days=[SUNDAY])
    app_server.run_worker()
    for page, found in ((whole, [[1, HELD]]), (saturday, [[1, FREE]]), (sunday, [[1, HELD]])):
        assert page.follow() == found
    shop.api.post(f"{shop.path}/tickets", {"ticket_type": 1, "seats": [{"seat_id": "A-1"}], "days": [SATURDAY]})
    app_server.run_worker()
    for page, state in ((whole, TAKEN), (saturday, TAKEN), (sunday, HELD)):
        page.follow()
        assert page.seat(1) == state
    app_server.advance(6 * MINUTE)
    for page, state in ((whole, TAKEN), (saturday, TAKEN), (sunday, FREE)):
        page.follow()
        assert page.seat(1) == state, "the hold of Sunday has run out"
    assert hold["days"] == [SUNDAY]
    for day, bits in (("", TAKEN), (SUNDAY, FREE)):
        answer = shop.api.ask("GET", f"{shop.path}/seatmap/bits{OfDay(shop, day).query}")
        assert unpack(answer.get_data(), 16)[0] == bits


def test_version_of_one_day_is_not_taken_for_that_of_another(shop: SeatedEvent) -> None:
    saturday, sunday = (OfDay(shop, day).page(shop.api) for day in (SATURDAY, SUNDAY))
    mixed = shop.api.get(f"{shop.path}/seatmap/changes?since={saturday.version}&day={SUNDAY}")
    assert mixed["reset"] == "house_changed" and mixed["version"] == sunday.version


def test_day_that_the_event_does_not_have_is_not_found(shop: SeatedEvent) -> None:
    visitor = ApiClient(shop.app_server.app.test_client(), {})
    version = OfDay(shop, "").page(visitor).version
    for path in ("seatmap?", "seatmap/state?", "seatmap/bits?", f"seatmap/changes?since={version}&", "occupancy?"):
        code = visitor.refused("GET", f"{shop.path}/{path}day=2026-07-09")
        assert code == (404, "day_not_found"), path
    assert visitor.refused("GET", f"{shop.path}/seatmap?day=tomorrow")[0] == 400


def test_counters_of_a_day_and_of_all_days(shop: SeatedEvent) -> None:
    guest = shop.guest()
    shop.reserve(guest, "A-1", days=[SATURDAY])
    shop.reserve(shop.guest(), "B-1", days=[SUNDAY])
    places = {"count": 2, "zone_id": shop.zones["Floor"]}
    guest.post(f"{shop.path}/holds", {**places, "days": [SATURDAY]})
    shop.guest().post(f"{shop.path}/holds", {**places, "count": 4, "days": [SUNDAY]})

    def available(day: str) -> list[int]:
        found = shop.api.get(f"{shop.path}/occupancy{OfDay(shop, day).query}")
        assert found["days"] == ([day] if day else [SATURDAY, SUNDAY])
        return [found["available"], *(zone["available"] for zone in found["zones"])]

    assert available(SATURDAY) == [18, 15, 3]
    assert available(SUNDAY) == [16, 15, 1]
    assert available("") == [15, 14, 1], "free on both days"


def test_organiser_releases_the_hold_of_one_day(shop: SeatedEvent) -> None:
    first, second = shop.guest(), shop.guest()
    shop.reserve(first, "A-1", days=[SATURDAY])
    shop.reserve(second, "A-1", days=[SUNDAY])
    path = f"{shop.path}/seatmap/holds/{shop.number('A-1')}"
    assert shop.api.ask("DELETE", f"{path}?day={SUNDAY}").status_code == 204
    assert first.get("/api/me/holds")["data"]["holds"] and not second.get("/api/me/holds")["data"]["holds"]
    assert shop.api.ask("DELETE", f"{path}?day={SUNDAY}").status_code == 404
    shop.reserve(second, "A-1", days=[SUNDAY])
    assert shop.api.ask("DELETE", path).status_code == 204
    assert shop.api.ask("DELETE", path).status_code == 404, "those of both days are released"
