"""Nobody takes a whole house without a word of the organiser: neither one address nor one membership card."""

from __future__ import annotations

import pytest

from tests.app_server import AppServer
from tests.contracts.holds.seated_event import ADDRESS, SeatedEvent, a_seated_event
from tests.contracts.seating.stage import a_layout, floor, stalls

POLICY = "/api/organisation/seating-policy"


def sale_in(app_server: AppServer, capacity: int) -> SeatedEvent:
    return a_seated_event(app_server, layout=a_layout(zones=[stalls(), floor(capacity=capacity)]))


def ask(sale: SeatedEvent, address: str = ADDRESS, count: int = 10) -> tuple[int, dict[str, int]]:
    """The answer to a new guest at this address who asks for places."""
    guest = sale.guest()
    guest.client.environ_base["REMOTE_ADDR"] = address
    answer = guest.ask("POST", f"{sale.path}/holds", {"count": count, "zone_id": sale.zones["Floor"]})
    assert answer.json is not None
    return answer.status_code, answer.json.get("error", {}).get("details", {})


def test_one_address_does_not_get_the_house_however_many_guests_it_is(app_server: AppServer) -> None:
    sale = sale_in(app_server, 500)
    assert [ask(sale)[0] for _ in range(6)] == [201] * 6
    assert ask(sale) == (429, {"retry_after": 60, "limit": 60})
    assert ask(sale, "198.51.100.2")[0] == 201  # the neighbours
    app_server.advance(6 * 60_000)
    app_server.run_worker()
    assert ask(sale)[0] == 201  # what ran out no longer counts


def test_of_a_small_house_one_address_gets_half(app_server: AppServer) -> None:
    sale = sale_in(app_server, 24)  # and sixteen seats
    assert [ask(sale)[0] for _ in range(2)] == [201, 201]
    assert ask(sale) == (429, {"retry_after": 60, "limit": 20})


@pytest.mark.parametrize("listed", ["198.51.100.0/24", "2001:db8:77::/48"])
def test_the_organiser_lists_networks_that_may_take_more(app_server: AppServer, listed: str) -> None:
    sale = sale_in(app_server, 500)
    address = ADDRESS if "." in listed else "2001:db8:77::5"
    sale.api.patch(POLICY, {"exempt_networks": [listed], "max_holds_per_ip": 10})
    assert [ask(sale, address)[0] for _ in range(3)] == [201] * 3
    app_server.advance(1)
    sale.api.patch(POLICY, {"exempt_networks": []})
    assert ask(sale, address)[0] == 201  # exempt holds were not counted
    assert ask(sale, address)[0] == 429
    assert sale.api.refused("PATCH", POLICY, {"exempt_networks": ["198.51.100.1/24"]}) == (400, "invalid_request")


def test_an_ipv6_client_counts_by_its_network(app_server: AppServer) -> None:
    sale = sale_in(app_server, 500)
    sale.api.patch(POLICY, {"max_holds_per_ip": 10})
    assert ask(sale, "2001:db8::1")[0] == 201
    assert ask(sale, "2001:db8::ffff")[0] == 429
    assert ask(sale, "2001:db8:0:1::1")[0] == 201


@pytest.mark.parametrize("proxy", ["127.0.0.1", "10.0.0.7", "192.168.1.1", "::1", "fd00::1", "::ffff:10.0.0.7"])
def test_guests_behind_a_proxy_that_is_not_trusted_are_not_taken_for_one(app_server: AppServer, proxy: str) -> None:
    sale = sale_in(app_server, 500)
    assert [ask(sale, proxy)[0] for _ in range(8)] == [201] * 8


def test_one_card_does_not_get_the_members_zone(app_server: AppServer) -> None:
    sale = a_seated_event(app_server)
    card, other = (sale.api.post("/api/memberships", {"tier": "gold"})["card"] for _ in range(2))
    for name in ("A-1", "A-2", "A-3", "A-4", "A-5", "A-6"):
        sale.reserve(sale.guest(), name, membership=card)
    refused = sale.reserve_path("B-1")
    answer = sale.guest().ask("POST", refused, {"membership": card})
    assert answer.json is not None and answer.json["error"]["code"] == "too_many_holds_with_card"
    assert answer.json["error"]["details"] == {"limit": 6}
    held = sale.reserve(sale.guest(), "B-1", membership=other)
    assert sale.rows("SELECT membership_id FROM holds WHERE id = :id", id=held["hold_id"]) != [(None,)]
    app_server.advance(6 * 60_000)
    app_server.run_worker()
    assert sale.rows("SELECT COUNT(*) FROM holds WHERE membership_id IS NOT NULL") == [(0,)]  # kept while it counts
    sale.reserve(sale.guest(), "A-1", membership=card)
