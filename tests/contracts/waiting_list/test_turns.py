"""Whose turn it is: told, kept, explained, and the same whichever server looks."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sync_server.outbox.fact_worker import FactWorker
from sync_server.waiting_list import links
from sync_server.waiting_list.offering import Offering
from tests.app_server import ApiClient, AppServer
from tests.builders import MINUTE
from tests.contracts.waiting_list.sold_out import SoldOut, a_sold_out_event, offering_of
from tests.subscribers import a_subscriber


@pytest.fixture
def sold(app_server: AppServer) -> SoldOut:
    return a_sold_out_event(app_server)


def states(sold: SoldOut, *parties: dict[str, Any]) -> list[str]:
    return [sold.shown(party)["state"] for party in parties]


def offers(sold: SoldOut) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = sold.sale.api.get(f"{sold.sale.path}/waiting-list/offers")["items"]
    return items


def test_the_first_whom_it_fits_gets_what_comes_back_and_who_was_passed_over_is_on_record(sold: SoldOut) -> None:
    four, pair, other = sold.join(4), sold.join(2), sold.join(2)
    sold.settle()
    assert [sold.shown(party)["position"] for party in (four, pair, other)] == [1, 2, 3]
    sold.refund("A-3", "A-4", "C-1", "E-1")
    sold.settle()
    assert states(sold, four, pair, other) == ["waiting", "offered", "waiting"]
    offer = sold.shown(pair)["offer"]
    assert offer["seats"] == ["A-3", "A-4"] and offer["ticket_type_name"] == "Stalls"
    (made,) = offers(sold)
    assert (made["seq"], made["passed"]) == (2, {"not_enough_together": [[1, 1]]})
    assert (sold.shown(four)["passed_over"], sold.shown(four)["position"]) == (1, 1)
    assert sold.shown(other)["position"] == 2


def test_what_was_taken_is_ordered_like_any_hold(sold: SoldOut) -> None:
    pair = sold.join(2)
    sold.refund("B-1", "B-2")
    sold.settle()
    taken = sold.take(pair)
    order = {"holds": [{"hold_id": hold["hold_id"], "ticket_type": taken["ticket_type"]} for hold in taken["holds"]]}
    made = pair["guest"].post(f"/api/o/marquee/events/{sold.sale.id}/orders", order)
    assert sorted(line["seat_id"] for line in made["lines"]) == ["B-1", "B-2"]
    assert (states(sold, pair), sold.take(pair, 409)["error"]["code"]) == (["taken"], "no_offer")


def test_another_browser_takes_it_with_the_secret_and_nobody_without(sold: SoldOut) -> None:
    pair = sold.join(2)
    sold.refund("B-1", "B-2")
    sold.settle()
    thief, phone = sold.sale.guest(), sold.sale.guest()
    assert thief.refused("POST", f"{sold.path(pair)}/take") == (404, "party_not_found")
    assert thief.refused("GET", sold.path(pair)) == (404, "party_not_found")
    with_secret = ApiClient(phone.client, phone.headers | {"X-Waiting-Secret": pair["secret"]})
    assert len(with_secret.post(f"{sold.path(pair)}/take", None, 200)["holds"]) == 2
    url = links.url(sold.app_server.parts, "marquee", sold.sale.organisation_id, pair["id"])
    assert url.endswith(f"/o/marquee/waiting#{pair['id']}.{pair['secret']}")


def test_an_offer_that_nobody_takes_goes_to_the_next(sold: SoldOut) -> None:
    first, second = sold.join(2), sold.join(2)
    sold.refund("B-1", "B-2")
    sold.settle()
    assert states(sold, first, second) == ["offered", "waiting"]
    sold.app_server.advance(61 * MINUTE)
    late = sold.take(first, 409)["error"]["code"]
    sold.settle()
    assert (late, states(sold, first, second)) == ("no_offer", ["lapsed", "offered"])
    assert second["guest"].ask("DELETE", sold.path(second)).status_code == 204
    third = sold.join(1)
    sold.settle()
    assert states(sold, second, third) == ["left", "offered"]


def test_a_party_of_which_half_would_fit_waits(sold: SoldOut) -> None:
    three = sold.join(3)
    sold.refund("A-1", "A-2", "C-5")
    sold.settle()
    assert states(sold, three) == ["waiting"]
    sold.refund("A-3")
    sold.settle()
    assert sold.shown(three)["offer"]["seats"] == ["A-1", "A-2", "A-3"]


def test_who_minds_no_rows_between_gets_scattered_seats(sold: SoldOut) -> None:
    three = sold.join(3, together=False)
    sold.refund("A-1", "D-6", "H-10")
    sold.settle()
    assert sorted(sold.shown(three)["offer"]["seats"]) == ["A-1", "D-6", "H-10"]


def test_across_types_and_zones_the_wish_decides(sold: SoldOut) -> None:
    zones = sold.sale.zones
    standing, seated, anywhere = sold.join(2, zone_ids=[zones["Floor"]]), sold.join(2, ticket_types=[1]), sold.join(2)
    sold.refund("A-1", "A-2", places=2)
    sold.settle()
    assert states(sold, standing, seated, anywhere) == ["offered", "offered", "waiting"]
    assert [sold.shown(party)["offer"]["zone_name"] for party in (standing, seated)] == ["Floor", "Stalls"]
    sold.refund(places=2)
    sold.settle()
    assert sold.shown(anywhere)["offer"]["zone_name"] == "Floor"


def test_seats_come_back_in_every_way(sold: SoldOut) -> None:
    """A hold is released or runs out, a block is lifted, a quantity is raised."""
    sold.refund("A-1", "B-1", "C-1")
    holder = sold.sale.guest()
    hold = sold.sale.reserve(holder, "A-1")
    sold.sale.reserve(holder, "B-1")
    layout = f"{sold.sale.path}/layout"
    chosen = {"layout_id": sold.sale.api.get(layout)["layout_id"]}
    sold.sale.api.put(layout, {**chosen, "overrides": {"blocked_seat_ids": ["C-1"]}})
    one, two, three = sold.join(1), sold.join(1), sold.join(1)
    sold.settle()
    assert states(sold, one, two, three) == ["waiting"] * 3
    holder.ask("DELETE", f"/api/holds/{hold['hold_id']}")
    sold.settle()
    assert states(sold, one, two, three) == ["offered", "waiting", "waiting"]
    sold.sale.api.put(layout, {**chosen, "overrides": {}})
    sold.settle()
    assert states(sold, two, three) == ["offered", "waiting"]
    sold.app_server.advance(11 * MINUTE)
    sold.app_server.run_worker()
    sold.settle()
    assert states(sold, three) == ["offered"]


def test_a_type_that_is_sold_out_is_not_offered_until_its_quantity_is_raised(sold: SoldOut) -> None:
    sold.sale.api.patch(f"{sold.sale.path}/ticket-types/1", {"quantity": 80})
    sold.refund("A-1", "A-2")
    sold.sale.api.patch(f"{sold.sale.path}/ticket-types/1", {"quantity": 79})
    pair = sold.join(2, ticket_types=[1])
    sold.settle()
    assert states(sold, pair) == ["waiting"]
    sold.sale.api.patch(f"{sold.sale.path}/ticket-types/1", {"quantity": 80})
    sold.app_server.advance(2 * MINUTE)  # no fact tells: the list looks by itself every minute
    sold.settle()
    assert states(sold, pair) == ["offered"]


def test_two_offers_never_promise_the_same_quantity(sold: SoldOut) -> None:
    sold.refund("A-1", "A-2", "C-1", "C-2")
    sold.sale.api.patch(f"{sold.sale.path}/ticket-types/1", {"quantity": 78})
    one, two = sold.join(2, ticket_types=[1]), sold.join(2, ticket_types=[1])
    sold.settle()
    assert states(sold, one, two) == ["offered", "waiting"]


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        ({"size": 60}, "party_too_large"),
        ({"size": 2, "zone_ids": ["elsewhere"]}, "zone_not_found"),
        ({"size": 2, "ticket_types": [9]}, "invalid_request"),
    ],
)
def test_wishes_that_can_never_be_fulfilled_are_refused(sold: SoldOut, wish: dict[str, Any], code: str) -> None:
    assert sold.join(**wish, status=400)["error"]["code"] == code


OWN = {"id", "secret", "position", "guest"}
"""What differs between two parties of the same wish, whoever they are."""


def test_nobody_learns_by_joining_whether_an_address_waits(sold: SoldOut) -> None:
    known = sold.join(2, email="ada@waiting.example")
    again = sold.join(3, email="Ada@waiting.example")
    fresh = sold.join(3, email="grace@waiting.example")
    alike = [{name: party[name] for name in party.keys() - OWN} for party in (again, fresh)]
    assert alike[0] == alike[1]
    assert [party["position"] for party in (known, again, fresh)] == [1, 2, 3]
    assert again["id"] != known["id"] and again["secret"] != known["secret"]
    assert again["guest"].refused("GET", sold.path(known)) == (404, "party_not_found")
    shown = [sold.shown(party) for party in (again, fresh)]
    assert [{name: party[name] for name in party.keys() - OWN} for party in shown] == alike


def test_who_joins_again_in_the_same_browser_has_the_same_place(sold: SoldOut) -> None:
    known = sold.join(2, email="ada@waiting.example")
    again = sold.join(2, email="ada@waiting.example", guest=known["guest"])
    assert {**again, "guest": None} == {**known, "guest": None}
    assert sold.sale.rows("SELECT COUNT(*) FROM waiting_parties") == [(1,)]


def test_of_one_address_only_the_first_party_is_offered_anything(sold: SoldOut) -> None:
    first, again, other = (
        sold.join(2, email="ada@waiting.example"),
        sold.join(2, email="ada@waiting.example"),
        sold.join(2),
    )
    sold.refund("A-1", "A-2", "C-1", "C-2")
    sold.settle()
    assert states(sold, first, again, other) == ["offered", "waiting", "offered"]
    first["guest"].ask("DELETE", sold.path(first))
    sold.settle()
    assert states(sold, first, again) == ["left", "offered"], "now it is the first of its address"


def test_nobody_waits_where_there_is_no_list(sold: SoldOut) -> None:
    sold.sale.api.put(f"{sold.sale.path}/waiting-list", {"open": False})
    assert sold.join(3, status=409)["error"]["code"] == "no_waiting_list"


def test_a_list_ends_with_its_event(sold: SoldOut) -> None:
    pair = sold.join(2)
    sold.settle()
    sold.sale.api.post(f"{sold.sale.path}/cancel", {}, 200)
    sold.settle()
    assert states(sold, pair) == ["ended"]
    assert sold.sale.rows("SELECT open, due_at FROM waiting_lists")[0][1] is None


def test_facts_tell_of_offers_without_saying_to_whom(app_server: AppServer, sold: SoldOut) -> None:
    told: list[Any] = []
    app_server.parts.subscribers.append(a_subscriber(told.append))
    pair = sold.join(2, email="ada@waiting.example")
    sold.refund("A-1", "A-2")
    sold.settle()
    sold.app_server.advance(61 * MINUTE)
    sold.settle()
    mine = [fact for fact in told if fact.name.startswith("waiting_")]
    assert [fact.name for fact in mine] == ["waiting_joined", "waiting_offered", "waiting_offer_lapsed"]
    assert {fact.subjects["party"] for fact in mine} == {pair["id"]}
    assert mine[1].payload["ends_at"] and "ada" not in repr(mine)


def test_whoever_is_erased_leaves_the_list(app_server: AppServer, sold: SoldOut) -> None:
    pair = sold.join(2, email="ada@waiting.example")
    sold.sale.api.post("/api/people/erase", {"email": "ada@waiting.example", "reason": "asked for"}, 200)
    assert states(sold, pair) == ["left"]
    assert sold.sale.rows("SELECT email FROM waiting_parties") == [("",)]


@pytest.fixture
def nodes(app_server: AppServer, sold: SoldOut, tmp_path: Path) -> Iterator[list[Offering]]:
    """Two servers on one PostgreSQL; on SQLite two threads of one."""
    if app_server.database.embedded:
        yield [offering_of(app_server), offering_of(app_server)]
        return
    other = AppServer(app_server.url, tmp_path, fresh=False)
    other.now = app_server.now
    yield [offering_of(app_server), offering_of(other)]
    other.close()


def test_two_servers_at_once_offer_each_party_once_and_in_turn(
    app_server: AppServer, sold: SoldOut, nodes: list[Offering]
) -> None:
    parties = [sold.join(2) for _ in range(8)]
    sold.refund("A-1", "A-2", "A-3", "A-4", "C-1", "C-2", "E-9", "E-10")
    facts = FactWorker(app_server.parts)
    while facts.run_once():
        pass
    with ThreadPoolExecutor(4) as pool:
        work = [pool.submit(node.run, node.database, app_server.context()) for node in nodes * 2]
        for each in work:
            each.result()
    sold.settle()
    assert states(sold, *parties) == ["offered"] * 4 + ["waiting"] * 4
    assert sold.split() == [] and sold.idle() == []


def test_a_server_that_dies_at_it_leaves_a_list_that_another_goes_on_with(sold: SoldOut) -> None:
    pair = sold.join(2)
    sold.refund("A-1", "A-2")
    facts = FactWorker(sold.app_server.parts)
    while facts.run_once():
        pass
    offering = offering_of(sold.app_server)
    assert offering._take_lease(sold.key, sold.app_server.context()) is not None  # and then nothing more is heard of it
    offering.run(sold.app_server.database, sold.app_server.context())
    assert states(sold, pair) == ["waiting"]
    sold.app_server.advance(2 * MINUTE)
    sold.settle()
    assert states(sold, pair) == ["offered"]
