"""Turns: who may hold seats of an event with a queue, from which tab, and for how long."""

from __future__ import annotations

import pytest

from tests.app_server import AppServer
from tests.builders import HOUR, MINUTE, a_ticket_type
from tests.contracts.queueing.rush import OPENING, TAB, Rush, a_rush

OTHER_TAB = "0b" * 16


def test_two_shop_and_the_third_waits_until_one_is_done(rush: Rush) -> None:
    rush.open_room()
    guests = [rush.join() for _ in range(3)]
    rush.until(OPENING)
    first, second, third = rush.in_order(guests)
    assert [rush.place(guest)["state"] for guest in (first, second, third)] == ["admitted", "admitted", "waiting"]
    assert (rush.place(third)["position"], rush.place(third)["waiting"]) == (1, 1)
    assert rush.hold(third, "A-5") == (403, "queue_not_your_turn")
    assert rush.hold(rush.sale.guest(), "A-5") == (403, "queue_required")
    assert rush.take_pass(first) == (200, "")
    assert rush.hold(first, "A-1") == (201, "")
    first.ask("DELETE", rush.path)
    rush.app_server.advance(1_001)
    assert rush.place(third)["state"] == "admitted"
    assert rush.hold(first, "A-2") == (403, "queue_required")


def test_a_pass_belongs_to_one_tab_of_one_browser(rush: Rush) -> None:
    rush.until(OPENING)
    guest, thief = rush.join(), rush.join()
    assert rush.hold(guest, "A-1") == (403, "pass_of_another_tab")  # not taken yet
    assert rush.take_pass(guest) == (200, "")
    assert rush.take_pass(guest) == (200, "")  # the answer was lost: the same tab asks again
    assert rush.take_pass(guest, OTHER_TAB) == (403, "pass_of_another_tab")
    assert rush.hold(guest, "A-1", OTHER_TAB) == (403, "pass_of_another_tab")
    assert rush.hold(guest, "A-1", "") == (403, "pass_of_another_tab")
    assert rush.hold(thief, "A-1", TAB) == (403, "pass_of_another_tab")  # the secret without the cookie
    assert rush.hold(rush.sale.guest(), "A-1", TAB) == (403, "queue_required")
    assert rush.hold(guest, "A-1") == (201, "")


def test_a_turn_that_nobody_takes_keeps_no_slot_and_is_not_lost(app_server: AppServer) -> None:
    rush = a_rush(app_server, slots=1)
    rush.until(OPENING)
    away, there, last = (rush.join() for _ in range(3))
    app_server.advance(2 * MINUTE - 1)
    assert [rush.place(guest)["state"] for guest in (away, there)] == ["admitted", "waiting"]
    app_server.advance(1_001)
    assert [rush.place(guest)["state"] for guest in (there, last)] == ["admitted", "waiting"]
    rush.take_pass(there)
    assert rush.take_pass(away, OTHER_TAB) == (200, ""), "comes back late: the turn lasts as long as for everybody"
    assert rush.hold(away, "A-1", OTHER_TAB) == (201, "")
    checkout = f"/api/o/{rush.sale.slug}/events/{rush.sale.id}/checkout"
    there.post(checkout, {}, **{"X-Queue-Tab": TAB})
    refused = away.ask("POST", checkout, {}, **{"X-Queue-Tab": OTHER_TAB})
    assert refused.status_code == 429, "and there are never more in the checkout than may be"
    app_server.advance(2 * MINUTE)
    assert rush.place(last)["state"] == "waiting", "both are there now, and take slots"
    there.ask("DELETE", checkout)
    away.post(checkout, {}, **{"X-Queue-Tab": OTHER_TAB})


def test_a_turn_that_was_taken_keeps_its_slot_to_the_end(app_server: AppServer) -> None:
    rush = a_rush(app_server, slots=1)
    rush.until(OPENING)
    first, second = rush.join(), rush.join()
    rush.take_pass(first)
    app_server.advance(10 * MINUTE - 1)
    assert rush.place(second)["state"] == "waiting"


def test_groups_and_places_are_for_those_whose_turn_it_is_too(rush: Rush) -> None:
    rush.until(OPENING)
    stranger = rush.sale.guest()
    for wish in (
        {"best": 2},
        {"seat_ids": [rush.sale.seats["A-1"][0]]},
        {"count": 2, "zone_id": rush.sale.zones["Floor"]},
    ):
        assert stranger.refused("POST", f"{rush.sale.path}/holds", wish) == (403, "queue_required")
    box_office = rush.sale.api  # does not queue
    assert box_office.post(f"{rush.sale.path}/holds", {"best": 2})["data"]["holds"]


def test_a_turn_runs_out_and_the_next_begins(rush: Rush) -> None:
    rush.until(OPENING)
    guests = [rush.join() for _ in range(3)]
    assert rush.take_pass(guests[0]) == (200, "")
    rush.app_server.advance(10 * MINUTE)
    assert rush.hold(guests[0], "A-1") == (403, "pass_expired")
    assert rush.place(guests[0])["state"] == "expired"
    assert rush.place(guests[2])["state"] == "admitted"
    assert rush.place(rush.join(guests[0]))["position"] is None  # and joins again at the end, which is free


def test_what_is_bought_ends_the_turn(rush: Rush) -> None:
    zones = {zone["name"]: zone["number"] for zone in rush.sale.api.get(f"{rush.sale.path}/zones")["items"]}
    free = a_ticket_type(price_cents=0, zone=zones["Floor"])
    rush.sale.api.post(f"{rush.sale.path}/ticket-types", free)
    rush.until(OPENING)
    guest = rush.join()
    rush.take_pass(guest)
    wish = {"count": 2, "zone_id": rush.sale.zones["Floor"]}
    held = guest.post(f"{rush.sale.path}/holds", wish, **{"X-Queue-Tab": TAB})["data"]["holds"]
    orders = f"/api/o/{rush.sale.slug}/events/{rush.sale.id}/orders"
    body = {"holds": [{"hold_id": hold["hold_id"]} for hold in held]}
    assert guest.refused("POST", orders, body) == (403, "pass_of_another_tab")
    order = guest.post(orders, body, **{"X-Queue-Tab": TAB})
    guest.post(f"/api/o/{rush.sale.slug}/orders/{order['id']}/pay", {"method": "free"}, 200)
    assert rush.hold(guest, "A-1") == (403, "pass_spent")
    assert rush.take_pass(guest) == (403, "pass_spent")


def test_whoever_leaves_waits_an_hour_before_rejoining(rush: Rush) -> None:
    rush.open_room()
    guest = rush.join()
    guest.ask("DELETE", rush.path)
    answer = guest.ask("POST", rush.path)
    assert answer.status_code == 429 and answer.json is not None
    assert answer.json["error"]["code"] == "queue_cooldown" and answer.headers["Retry-After"] == "3600"
    rush.app_server.advance(HOUR)
    rush.join(guest)


def test_a_place_is_kept_while_its_page_asks_and_half_an_hour_longer(app_server: AppServer) -> None:
    rush = a_rush(app_server, slots=1)
    rush.until(OPENING)
    first, second, third = (rush.join() for _ in range(3))
    rush.take_pass(first)
    rush.app_server.advance(9 * MINUTE)
    assert rush.place(second)["state"] == "waiting"
    rush.app_server.advance(9 * MINUTE)
    assert rush.place(first)["state"] == "expired"
    assert rush.place(second)["state"] == "admitted"
    rush.app_server.advance(13 * MINUTE)
    assert rush.place(third)["state"] == "expired"  # did not ask for half an hour


def test_joining_twice_keeps_the_first_place(rush: Rush) -> None:
    rush.open_room()
    guest = rush.join()
    receipt = rush.place(guest)["receipt"]
    rush.join(guest, status=200)
    assert rush.place(guest)["receipt"] == receipt


def test_the_queue_opens_and_closes_with_the_sale(rush: Rush) -> None:
    guest = rush.sale.guest()
    assert guest.refused("POST", rush.path) == (400, "queue_not_open")
    assert guest.refused("GET", rush.path) == (404, "not_in_queue")
    rush.until(int(rush.sale.rows("SELECT sale_end_at FROM events")[0][0]) + 1)
    assert rush.sale.guest().refused("POST", rush.path) == (400, "event_sales_closed")
    rush.sale.api.post(f"{rush.sale.path}/cancel", {"reason": "Storm."}, 200)
    assert rush.sale.guest().refused("POST", rush.path) == (400, "event_not_available")


def test_no_more_are_admitted_in_a_minute_than_the_organiser_wishes(app_server: AppServer) -> None:
    rush = a_rush(app_server, slots=50, per_minute=3)
    rush.until(OPENING)
    guests = [rush.join() for _ in range(7)]

    def admitted() -> int:
        rush.app_server.run_worker()
        return int(rush.sale.api.get(rush.settings)["figures"]["admitted"])

    assert admitted() == 3
    rush.app_server.advance(30_000)
    assert admitted() == 3
    rush.app_server.advance(30_001)
    assert admitted() == 6
    assert rush.place(guests[6])["estimated_wait_seconds"] == 50  # six in five minutes


def test_a_queue_begun_during_the_sale_is_heeded_at_once_and_taken_away_again(app_server: AppServer) -> None:
    rush = a_rush(app_server)
    rush.sale.api.ask("DELETE", rush.settings)
    rush.until(OPENING)
    guest = rush.sale.guest()
    assert rush.hold(guest, "A-1") == (201, "")
    rush.let_in(1)
    rush.sale.api.put(rush.settings, {})
    assert rush.hold(guest, "A-2") == (403, "queue_required")
    rush.join(guest)
    assert rush.place(guest)["state"] == "admitted"
    rush.take_pass(guest)
    assert rush.hold(guest, "A-2") == (201, "")
    assert rush.sale.api.ask("DELETE", rush.settings).status_code == 204
    assert rush.hold(rush.sale.guest(), "B-1") == (201, "")


@pytest.mark.parametrize("path", ["", "/receipt", "/draw", "/draw/entries"])
def test_another_shop_sees_nothing_of_it(rush: Rush, path: str) -> None:
    rush.app_server.organisation("neighbour")
    client = rush.app_server.app.test_client()
    client.post("/api/o/neighbour/session")
    assert client.get(f"/api/o/neighbour/events/{rush.sale.id}/queue{path}").status_code == 404


def test_a_guest_of_another_shop_has_no_place_here(rush: Rush) -> None:
    rush.app_server.organisation("neighbour")
    client = rush.app_server.app.test_client()
    client.post("/api/o/neighbour/session")
    answer = client.get(rush.path)
    assert (answer.status_code, answer.json["error"]["code"]) == (401, "no_session")  # type: ignore[index]
