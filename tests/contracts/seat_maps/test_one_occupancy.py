"""Whoever tells how full an event is tells the same: pages, maps, streams, the feed, alerts and the sale itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from sync_server.holds import queries as holds
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.messaging.bus import Listener, occupancy_topic
from tests.app_server import ApiClient, AppServer
from tests.builders import HOUR, MINUTE, a_ticket_type
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event
from tests.contracts.listings.town import FEED
from tests.stream_client import StreamClient

NAMES = ("available", "held", "sold")
PUBLIC = ("available", "taken")


class Places:
    """Every place that tells how full an event is."""

    def __init__(self, sale: SeatedEvent, page: Listener) -> None:
        self.sale, self.app_server, self.page = sale, sale.app_server, page
        self.visitor = ApiClient(sale.app_server.app.test_client(), {})

    def told(self) -> tuple[int, ...]:
        """What the bus has told last: available, held and sold."""
        self.app_server.run_worker()
        return _numbers(self.page.wait(0)[-1].body, NAMES)

    def agreed(self) -> tuple[int, ...]:
        """Available, held and sold, as everybody tells them now."""
        organiser, anybody = self.sale.api, self.visitor
        found = organiser.get(f"{self.sale.path}/occupancy")
        counts = available, held, sold = _numbers(found, NAMES)
        public = available, held + sold
        zones = organiser.get(f"{self.sale.path}/seatmap/state")["zones"]
        assert [_numbers(zone, NAMES) for zone in zones] == [_numbers(zone, NAMES) for zone in found["zones"]]
        assert _sums(zones, ("held", "sold")) == (held, sold)
        seen = anybody.get(f"{self.sale.path}/occupancy")
        assert _numbers(seen, PUBLIC) == _numbers(self._opening(), PUBLIC) == public
        public_zones = anybody.get(f"{self.sale.path}/seatmap/state")["zones"]
        assert [_numbers(zone, PUBLIC) for zone in public_zones] == [_numbers(zone, PUBLIC) for zone in seen["zones"]]
        assert not {"held", "sold"} & {*seen, *seen["zones"][0], *public_zones[0]}
        assert {each["total"] for each in (found, seen, self._opening())} == {found["total"]}
        self._compare_with_the_sale(held, sold, found["total"])
        return counts

    def _compare_with_the_sale(self, held: int, sold: int, total: int) -> None:
        with self.app_server.database.reading() as session:
            key, now = EventKey(self.sale.organisation_id, self.sale.id), self.app_server.now
            assert (
                holds.held(session, *key, now).total()
                == holds.count_held(session, [key], now).get(self.sale.id, 0)
                == held
            )
        assert self.sale.api.get(self.sale.path)["tickets_issued"] == sold
        (card,) = self.visitor.get(FEED)["items"]
        assert (card["sale_status"] == "sold_out") is (sold == total)

    def _opening(self) -> Mapping[str, Any]:
        with StreamClient(self.app_server, self.visitor, f"/api/public/events/{self.sale.id}/live") as stream:
            data: Mapping[str, Any] = stream.until("occupancy").data
            return data


def _numbers(counts: Mapping[str, Any], names: Sequence[str]) -> tuple[int, ...]:
    return tuple(counts[name] for name in names)


def _sums(zones: Sequence[Mapping[str, Any]], names: Sequence[str]) -> tuple[int, ...]:
    return tuple(sum(zone[name] for zone in zones) for name in names)


@pytest.mark.parametrize(("capacity", "total"), [(0, 316), (6, 6)])
def test_everybody_tells_the_same_through_holds_sales_refunds_and_expiry(
    app_server: AppServer, capacity: int, total: int
) -> None:
    """Once with as many places as the layout has, once at an event that may sell fewer."""
    sale = a_seated_event(app_server, capacity=capacity)
    sale.api.post(f"{sale.path}/ticket-types", a_ticket_type(entitlement="unlimited_multi_day", quantity=6))
    with app_server.parts.bus.listen([occupancy_topic(sale.organisation_id, sale.event["number"])]) as page:
        places, guest = Places(sale, page), sale.guest()
        assert places.agreed() == (total, 0, 0)
        sale.reserve(guest, "A-1")
        guest.post(f"{sale.path}/holds", {"count": 3, "zone_id": sale.zones["Floor"]})
        assert places.told() == places.agreed() == (total - 4, 4, 0)
        ticket = sale.api.post(f"{sale.path}/tickets", {"ticket_type": 1, "seats": [{"seat_id": "A-2"}]})["items"][0]
        assert places.told() == places.agreed() == (total - 5, 4, 1)
        app_server.advance(HOUR)  # the holds have run out, and nobody has swept them
        assert places.agreed() == (total - 1, 0, 1)
        assert places.told() == (total - 1, 0, 1)
        sale.api.post(f"/api/tickets/{ticket['id']}/cancel", {"reason": "the singer's knee"}, 200)
        assert places.told() == places.agreed() == (total, 0, 0)


def test_the_last_ticket_sells_the_event_out_everywhere(app_server: AppServer) -> None:
    sale = a_seated_event(app_server, capacity=2)
    sale.api.post(f"{sale.path}/ticket-types", a_ticket_type(entitlement="unlimited_multi_day", quantity=2))
    with app_server.parts.bus.listen([occupancy_topic(sale.organisation_id, sale.event["number"])]) as page:
        places = Places(sale, page)
        sale.reserve(sale.guest(), "A-1")
        assert places.told() == places.agreed() == (1, 1, 0)
        app_server.advance(20 * MINUTE)
        app_server.run_worker()
        seats = [{"seat_id": "A-2"}, {"seat_id": "A-3"}]
        sale.api.post(f"{sale.path}/tickets", {"ticket_type": 1, "seats": seats})
        assert places.told() == places.agreed() == (0, 0, 2)


def test_an_alert_counts_what_the_occupancy_calls_held(app_server: AppServer) -> None:
    sale = a_seated_event(app_server)
    guest = sale.guest()
    sale.reserve(guest, "A-1")
    guest.post(f"{sale.path}/holds", {"count": 3, "zone_id": sale.zones["Floor"]})
    sale.api.post(f"{sale.path}/postpone", {"reason": "storm"}, 200)
    app_server.run_worker()
    alerts = {alert["kind"]: alert for alert in sale.api.get("/api/alerts")["items"]}
    held = sale.api.get(f"{sale.path}/occupancy")["held"]
    assert alerts["holds_on_called_off_event"]["count"] == held == 4
