"""Codes: what they take off and open, that nobody uses one too often, and that they come back with an unpaid order."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sync_server.accounts.sign_in import throttling
from sync_server.accounts.sign_in.throttling import Tried
from sync_server.checkout.codes.guessing import MESSAGE
from sync_server.checkout.codes.rules import GUESSES
from sync_server.plumbing.requests.addresses import network_of
from tests.app_server import AppServer
from tests.builders import DAY, EVENING, MINUTE
from tests.contracts.checkout.shop_floor import Shop, assert_everything_agrees
from tests.contracts.holds.at_once import guests, together, tried
from tests.contracts.holds.seated_event import ADDRESS


def a_batch(shop: Shop, **body: Any) -> list[str]:
    """The codes of a new batch."""
    made = shop.api.post(f"{shop.sale.path}/code-batches", {"kind": "discount", "name": "Newsletter"} | body)
    return codes_of(shop, made["number"])


def codes_of(shop: Shop, number: int) -> list[str]:
    answer = shop.api.ask("GET", f"{shop.sale.path}/code-batches/{number}/codes")
    assert answer.status_code == 200 and answer.content_type == "text/csv; charset=utf-8"
    head, *codes = answer.get_data(as_text=True).split()
    assert head == "code"
    return codes


def offers(shop: Shop, who: Any, *codes: str) -> Any:
    path = f"/api/o/{shop.sale.slug}/events/{shop.sale.id}/ticket-types"
    return who.ask("GET", path, None, **{"X-Codes": ", ".join(codes)})


def refused(who: Any, path: str, headers: dict[str, str]) -> tuple[int, str]:
    """Status and error code of a hold that is refused."""
    answer = who.ask("POST", path, {}, **headers)
    return answer.status_code, answer.json["error"]["code"]


def test_a_percentage_is_taken_off_each_ticket_and_the_tax_is_computed_anew(shop: Shop) -> None:
    (code,) = a_batch(shop, percent=15)
    guest = shop.guest()
    holds = [*shop.hold(guest, "A-1"), {"hold_id": shop.hold_places(guest, 2)}]
    order = guest.post(shop.orders_path, {"holds": holds, "codes": [code.lower().replace("-", " ")]})
    assert [line["discount_cents"] for line in order["lines"]] == [749, 375, 375]  # of 49.90, and of 25.00 twice
    assert order["discount_cents"] == 1499 and order["total_cents"] == 4990 + 150 + 5000 - 1499
    assert [line["tax_cents"] for line in order["lines"]] == [287, 339, 339]  # 7 % in 43.91, 19 % in 21.25
    paid = shop.note(order, "card")
    assert (paid["state"], paid["due_cents"]) == ("paid", 0)
    prices = shop.sale.rows("SELECT price_cents FROM tickets WHERE event_id = :event ORDER BY id", event=shop.sale.id)
    assert sorted(prices) == [(2125,), (2125,), (4241,)]
    assert_everything_agrees(shop)


def test_an_amount_off_the_order_is_shared_out_to_the_cent(shop: Shop) -> None:
    (code,) = a_batch(shop, cents=1000, per="order", ticket_types=[shop.floor])
    guest = shop.guest()
    holds = [*shop.hold(guest, "A-1"), {"hold_id": shop.hold_places(guest, 3)}]
    order = guest.post(shop.orders_path, {"holds": holds, "codes": [code]})
    assert [line["discount_cents"] for line in order["lines"]] == [0, 334, 333, 333]
    paid = shop.note(order, "card")
    assert shop.refund(paid, lines=[2])["refunded_cents"] == 2500 - 334
    assert shop.refund(paid)["refunded_cents"] == paid["total_cents"] == 5140 + 7500 - 1000
    assert_everything_agrees(shop)


def test_what_a_code_makes_free_is_paid_by_the_guest(shop: Shop) -> None:
    (code,) = a_batch(shop, cents=999_999, ticket_types=[shop.floor])
    guest = shop.guest()
    order = guest.post(shop.orders_path, {"holds": [{"hold_id": shop.hold_places(guest, 2)}], "codes": [code]})
    assert order["total_cents"] == 0
    assert shop.pay(guest, order, "free")["state"] == "paid"
    assert_everything_agrees(shop)


def test_a_code_is_used_once_and_comes_back_with_an_unpaid_order(shop: Shop) -> None:
    first, second = a_batch(shop, percent=50, codes=2)
    order = shop.order(shop.guest(), "A-1", codes=[first])
    other = shop.guest()
    body = {"holds": shop.hold(other, "A-8"), "codes": [first]}
    assert other.refused("POST", shop.orders_path, body) == (409, "code_spent")
    shop.api.post(f"/api/orders/{order['id']}/cancel", {}, 200)
    again = other.post(shop.orders_path, body)
    shop.app_server.advance(11 * MINUTE)
    shop.run_jobs()
    assert shop.shown(again)["state"] == "expired"
    shop.order(shop.guest(), "B-1", codes=[first])
    late = shop.note(again, "card", status=200)  # its code is gone: the money is kept, nothing is sold
    assert (late["state"], late["due_cents"]) == ("expired", -again["total_cents"])
    shop.order(shop.guest(), "B-8", codes=[second])
    assert_everything_agrees(shop)


def test_an_expired_order_whose_code_is_still_free_is_sold_late_at_its_price(shop: Shop) -> None:
    (code,) = a_batch(shop, percent=50)
    order = shop.order(shop.guest(), "A-1", codes=[code])
    shop.app_server.advance(11 * MINUTE)
    shop.run_jobs()
    paid = shop.note(order, "card", cents=order["total_cents"])
    assert (paid["state"], paid["due_cents"]) == ("paid", 0)
    guest = shop.guest()
    body = {"holds": shop.hold(guest, "A-8"), "codes": [code]}
    assert guest.refused("POST", shop.orders_path, body) == (409, "code_spent")
    assert_everything_agrees(shop)


def test_many_want_the_last_uses_of_one_code(shop: Shop, nodes: list[AppServer]) -> None:
    (code,) = a_batch(shop, percent=10, max_uses=3)
    buyers = guests(shop.sale, nodes, 8)
    bodies = [{"holds": [{"hold_id": shop.hold_places(each, 1)}], "codes": [code]} for each in buyers]
    works = [
        lambda who=who, body=body: tried(who, shop.orders_path, body) for who, body in zip(buyers, bodies, strict=True)
    ]
    assert Counter(together(works)) == {(201, ""): 3, (409, "code_spent"): 5}  # type: ignore[arg-type]
    assert shop.sale.rows("SELECT use FROM code_uses ORDER BY use") == [(1,), (2,), (3,)]
    assert_everything_agrees(shop)


def test_a_presale_opens_hidden_types_and_those_whose_sale_starts_later(shop: Shop) -> None:
    shop.api.patch(f"{shop.sale.path}/ticket-types/{shop.stalls}", {"hidden": True})
    shop.api.patch(f"{shop.sale.path}/ticket-types/{shop.floor}", {"sale_start_at": EVENING + 10 * DAY})
    (code,) = a_batch(shop, kind="presale", ticket_types=[shop.stalls, shop.floor], max_uses=10)
    guest = shop.guest()
    seen = {each["name"]: each["on_sale"] for each in offers(shop, guest).json["items"]}
    assert seen == {"Floor": False}
    opened = offers(shop, guest, code).json["items"]
    assert [(each["name"], each["on_sale"], each["opened_by_code"]) for each in opened] == [
        ("Stalls", True, True),
        ("Floor", True, True),
    ]
    holds = [*shop.hold(guest, "A-1"), {"hold_id": shop.hold_places(guest, 1)}]
    assert guest.refused("POST", shop.orders_path, {"holds": holds[:1]}) == (409, "ticket_type_hidden")
    assert guest.refused("POST", shop.orders_path, {"holds": holds[1:]}) == (409, "ticket_type_not_on_sale")
    guest.post(shop.orders_path, {"holds": holds, "codes": [code]})
    assert_everything_agrees(shop)


def test_a_presale_opens_the_sale_of_the_event_before_it_begins(shop: Shop) -> None:
    api, path, begins = shop.api, shop.sale.path, shop.app_server.now + 30 * MINUTE
    api.patch(path, {"sale_start_at": begins})
    plain = a_batch(shop, kind="presale", ticket_types=[shop.stalls])[0]
    terms = {"kind": "presale", "ticket_types": [shop.stalls], "opens_sale": True}
    first, second = a_batch(shop, **terms, codes=2)
    early = {"X-Codes": first}
    guest, seat = shop.guest(), shop.sale.reserve_path("A-1")
    for shown in ({}, {"X-Codes": plain}):
        assert refused(guest, seat, shown) == (400, "event_sales_closed")
    assert refused(guest, seat, {"X-Codes": "0000-0000-0000"}) == (404, "unknown_code")
    assert guest.refused("POST", shop.checkout_path, {}) == (400, "event_sales_closed")
    on_sale = {each["name"]: each["on_sale"] for each in offers(shop, guest, first).json["items"]}
    assert on_sale == {"Stalls": True, "Floor": False}

    held = guest.post(seat, {}, **early)["data"]["hold_id"]
    floor = guest.post(f"{path}/holds", {"count": 1, "zone_id": shop.sale.zones["Floor"]}, **early)["data"]["holds"]
    guest.post(f"/api/holds/{held}/extend", {}, 200, **early)
    guest.post(shop.checkout_path, {}, **early)
    api.patch(path, {"description": "The choirs are sold by code first."})
    assert [each["hold_id"] for each in guest.get("/api/me/holds")["data"]["holds"]].count(held) == 1, (
        "a presale goes on"
    )
    mine, floors = {"holds": [{"hold_id": held}]}, {"holds": [{"hold_id": floor[0]["hold_id"]}]}
    assert guest.refused("POST", shop.orders_path, mine) == (400, "event_sales_closed")
    assert guest.refused("POST", shop.orders_path, mine | {"codes": [plain]}) == (400, "event_sales_closed")
    assert guest.refused("POST", shop.orders_path, floors | {"codes": [first]}) == (409, "ticket_type_not_on_sale")
    order = guest.post(shop.orders_path, mine | {"codes": [first]})
    assert shop.note(order)["state"] == "paid"
    late = shop.guest()
    other = shop.sale.reserve_path("A-8")
    assert refused(late, other, early) == (409, "code_spent"), "it was used by an order"
    late.post(other, {}, **{"X-Codes": second})
    api.post(f"{path}/code-batches/2/revoke", {}, 200)
    assert refused(late, seat, {"X-Codes": second}) == (409, "code_revoked")
    api.patch(path, {"description": "No codes any more."})
    assert late.get("/api/me/holds")["data"]["holds"] == [], "what only a withdrawn code kept open has ended"
    shop.app_server.now = begins
    late.post(other, {}, **{"X-Codes": "0000-0000-0000"})
    assert_everything_agrees(shop)


def test_one_presale_code_in_several_sessions_sells_as_often_as_it_may_and_comes_back(
    shop: Shop, nodes: list[AppServer]
) -> None:
    terms = {"kind": "presale", "ticket_types": [shop.stalls, shop.floor], "opens_sale": True, "max_uses": 2}
    shop.api.patch(shop.sale.path, {"sale_start_at": shop.app_server.now + 30 * MINUTE})
    (code,) = a_batch(shop, **terms)
    early = {"X-Codes": code}
    buyers = guests(shop.sale, nodes, 6)
    bodies = []
    for each in buyers:
        wish = {"count": 1, "zone_id": shop.sale.zones["Floor"]}
        (held,) = each.post(f"{shop.sale.path}/holds", wish, **early)["data"]["holds"]
        each.post(shop.checkout_path, {}, **early)
        bodies.append({"holds": [{"hold_id": held["hold_id"]}], "codes": [code]})
    works = [
        lambda who=who, body=body: tried(who, shop.orders_path, body) for who, body in zip(buyers, bodies, strict=True)
    ]
    found = together(works)  # type: ignore[arg-type]
    assert Counter(found) == {(201, ""): 2, (409, "code_spent"): 4}
    late = next(number for number, each in enumerate(found) if each[0] == 409)
    assert buyers[late].refused("POST", shop.checkout_path, None)[1] == "event_sales_closed"
    (order, _) = shop.api.get("/api/orders")["items"]
    shop.api.post(f"/api/orders/{order['id']}/cancel", {}, 200)
    buyers[late].post(shop.orders_path, bodies[late])
    assert_everything_agrees(shop)


def test_a_revoked_batch_is_refused_and_orders_that_have_it_keep_their_price(shop: Shop) -> None:
    codes = a_batch(shop, percent=10, codes=3)
    order = shop.order(shop.guest(), "A-1", codes=[codes[0]])
    revoked = shop.api.post(f"{shop.sale.path}/code-batches/1/revoke", {}, 200)
    assert revoked["uses"] == 1 and revoked["revoked_at"]
    guest = shop.guest()
    body = {"holds": shop.hold(guest, "A-8"), "codes": [codes[1]]}
    assert guest.refused("POST", shop.orders_path, body) == (409, "code_revoked")
    assert offers(shop, guest, codes[1]).json["error"]["code"] == "code_revoked"
    assert shop.note(order, "card")["paid_cents"] == order["total_cents"]


def test_codes_are_of_one_event_one_batch_and_their_own_time(shop: Shop, app_server: AppServer) -> None:
    (code,) = a_batch(shop, percent=10, valid_from=EVENING + DAY, valid_until=EVENING + 2 * DAY)
    (second,) = a_batch(shop, percent=20)
    (third,) = a_batch(shop, cents=100, ticket_types=[shop.floor])
    guest = shop.guest()
    hold = shop.hold(guest, "A-1")

    def tried_with(*codes: str) -> tuple[int, str]:
        return guest.refused("POST", shop.orders_path, {"holds": hold, "codes": list(codes)})

    assert tried_with(code) == (409, "code_not_valid")
    assert tried_with(second, third) == (409, "one_discount")
    assert tried_with(third) == (409, "code_not_applicable")
    assert tried_with("0000-0000-0000") == (404, "unknown_code")
    letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    changed = second[:-1] + letters[(letters.index(second[-1]) + 1) % 32]
    assert tried_with(changed) == (404, "unknown_code")
    assert guest.post(shop.orders_path, {"holds": hold, "codes": [second, second]})["discount_cents"] == 998


def test_guessing_is_slowed_down_and_right_codes_are_not(shop: Shop) -> None:
    (code,) = a_batch(shop, percent=10)
    guest = shop.guest()
    for _ in range(30):
        assert offers(shop, guest, code).status_code == 200
    answers = [offers(shop, guest, f"{number:012}").status_code for number in range(25)]
    assert answers[:20] == [404] * 20 and set(answers[20:]) == {429}
    assert offers(shop, guest, code).status_code == 429, "while whoever guesses waits, nothing is told"
    shop.app_server.advance(2 * MINUTE)
    assert offers(shop, guest, code).status_code == 200


def test_right_codes_that_are_shown_at_the_same_moment_make_nobody_wait(shop: Shop) -> None:
    """Clocks of requests that overlap, and of several servers, are not read in the order in which rows are written."""
    (code,) = a_batch(shop, percent=10)
    guest = shop.guest()
    database, now = shop.app_server.database, shop.app_server.now
    holders = Tried(GUESSES, network_of(ADDRESS))
    for earlier in range(GUESSES.free):  # so many are being looked at
        throttling.check(database, [holders], now - earlier, MESSAGE)
    assert offers(shop, guest, code).status_code == 429, "they might all be guesses"
    with database.writing() as session:
        throttling.take_back(session, holders)
    assert offers(shop, guest, code).status_code == 200, "one of them was right, and there is room for this one"


def test_only_organisers_make_and_read_codes(shop: Shop) -> None:
    guest = shop.guest()
    body = {"kind": "discount", "name": "Mine", "percent": 100}
    assert guest.refused("POST", f"{shop.sale.path}/code-batches", body)[0] == 403
    a_batch(shop, percent=10)
    assert guest.refused("GET", f"{shop.sale.path}/code-batches/1/codes")[0] == 403
    for wrong in (
        {},
        {"percent": 10, "cents": 10},
        {"kind": "presale"},
        {"percent": 5, "opens_sale": True},
        {"percent": 101},
        {"percent": 5, "codes": 0},
    ):
        refused = shop.api.ask("POST", f"{shop.sale.path}/code-batches", {"kind": "discount", "name": "x"} | wrong)
        assert refused.status_code == 400, wrong
    unknown = {"kind": "discount", "name": "x", "percent": 1, "ticket_types": [99]}
    assert shop.api.refused("POST", f"{shop.sale.path}/code-batches", unknown) == (400, "unknown_type")
    assert shop.api.get(f"{shop.sale.path}/code-batches")["items"][0]["uses"] == 0
