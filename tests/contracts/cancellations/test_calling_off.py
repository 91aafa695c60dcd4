"""An event is called off: seen before, refunded once each, stopped and resumed, and nobody's money is forgotten."""

from __future__ import annotations

from typing import Any

import pytest

from shared.errors import Conflict
from sync_server.cancellations import service
from sync_server.checkout.orders import dates, links
from sync_server.checkout.payments import refunding
from tests.app_server import ApiClient
from tests.builders import DAY, EVENING, MINUTE
from tests.contracts.checkout.shop_floor import assert_everything_agrees
from tests.contracts.checkout.stripe.card_shop import CardShop

NEW_DATE = EVENING + 60 * DAY


def path(cards: CardShop) -> str:
    return f"{cards.shop.sale.path}/cancellation"


def sold_by_card(cards: CardShop, seat: str) -> tuple[dict[str, Any], str]:
    _guest, order, intent = cards.paid(seat)
    assert cards.tell(cards.succeeded(intent))[0] == 200
    return order, intent


def sold_for_cash(cards: CardShop, seat: str) -> tuple[ApiClient, dict[str, Any]]:
    guest = cards.shop.guest()
    order = cards.shop.order(guest, seat)
    cards.shop.note(order, "cash")
    return guest, dict(order)


def call_off(cards: CardShop, choice: str, status: int = 202, **body: Any) -> Any:
    orders = cards.shop.api.get(f"{path(cards)}/affected")["orders"]
    return cards.shop.api.post(path(cards), {"choice": choice, "orders": orders, **body}, status)


def shown(cards: CardShop) -> Any:
    return cards.shop.api.get(path(cards))


def test_organiser_sees_before_whom_it_concerns(cards: CardShop) -> None:
    sold_by_card(cards, "A-1")
    sold_for_cash(cards, "A-8")
    cards.shop.order(cards.shop.guest(), "B-1")
    cards.shop.api.post(f"{cards.shop.sale.path}/tickets", {"ticket_type": cards.shop.floor, "count": 3})
    affected = cards.shop.api.get(f"{path(cards)}/affected")
    assert affected == {
        "event_mark": None,
        "orders": 2,
        "tickets": 2,
        "tickets_without_order": 3,
        "cents": 10280,
        "by_itself_cents": 5140,
        "by_hand_cents": 5140,
        "unpaid_orders": 1,
    }
    without_fees = cards.shop.api.get(f"{path(cards)}/affected?keep_fees=true")
    assert (without_fees["cents"], without_fees["by_itself_cents"]) == (9980, 4990)
    wrong = {"choice": "refund", "orders": 1}
    assert cards.shop.api.refused("POST", path(cards), wrong) == (409, "affected_changed")
    assert cards.shop.api.get(cards.shop.sale.path)["status"] == "published", "nothing has happened"
    assert cards.shop.api.refused("GET", path(cards)) == (404, "not_called_off")


def test_what_was_refunded_in_part_counts_with_what_is_left(cards: CardShop) -> None:
    order = cards.shop.order(cards.shop.guest(), "A-1", "A-2")
    cards.shop.note(order, "cash")
    cards.shop.api.post(f"/api/orders/{order['id']}/refunds", {"lines": [1], "method": "cash"}, 200)
    affected = cards.shop.api.get(f"{path(cards)}/affected")
    assert [affected[name] for name in ("orders", "tickets", "cents")] == [1, 1, 5140]
    assert cards.shop.api.get(f"{path(cards)}/affected?keep_fees=true")["cents"] == 4990


def test_everybody_is_refunded_once(cards: CardShop) -> None:
    paid, intent = sold_by_card(cards, "A-1")
    _guest, cash = sold_for_cash(cards, "A-8")
    waiting = cards.shop.order(cards.shop.guest(), "B-1")
    begun = call_off(cards, "refund", reason="storm")
    assert (begun["state"], begun["orders"], begun["cents"], begun["event_mark"]) == ("running", 2, 10280, "cancelled")
    for _ in range(3):
        cards.shop.run_jobs()
    done = shown(cards)
    assert (done["state"], done["done_orders"], done["percent"], done["failed_orders"]) == ("done", 2, 100, 0)
    assert (done["paid_back_cents"], done["owed_orders"], done["owed_cents"]) == (5140, 1, 5140)
    assert [refund["amount"] for refund in cards.stripe.refunds(intent)] == [5140]
    states = [cards.shop.shown(order)["state"] for order in (paid, cash, waiting)]
    assert states == ["refunded", "refunded", "cancelled"]
    assert cards.shop.sale.states() == {"A-1": 0, "A-8": 0, "B-1": 0}, "seats are free"
    owed = cards.shop.api.get(f"{path(cards)}/owed")["items"]
    assert [(each["order_id"], each["cents"], each["method"]) for each in owed] == [(cash["id"], 5140, "cash")]
    cards.shop.refund(cash, lines=[], method="cash")
    assert cards.shop.api.get(f"{path(cards)}/owed")["items"] == [] and shown(cards)["owed_cents"] == 0
    facts = ["cancellation_begun", "cancellation_finished", "order_refunded", "payout_due", "payout_made"]
    assert sorted(set(cards.facts(*facts))) == facts
    assert cards.shop.api.refused("POST", path(cards), {"choice": "refund", "orders": 0}) == (409, "refunds_begun")
    assert cards.shop.api.refused("POST", f"{path(cards)}/stop") == (409, "cancellation_done")
    assert_everything_agrees(cards.shop)


def issued_by_hand(cards: CardShop) -> list[str]:
    """Seats and places that nobody ordered."""
    shop = cards.shop
    seats = {"ticket_type": shop.stalls, "seats": [{"seat_id": "B-2"}, {"seat_id": "B-4"}]}
    made = [
        shop.api.post(f"{shop.sale.path}/tickets", body)["items"]
        for body in (seats, {"ticket_type": shop.floor, "count": 30})
    ]
    return [ticket["id"] for some in made for ticket in some]


def states_of(cards: CardShop, tickets: list[str]) -> set[str]:
    return {cards.shop.api.get(f"/api/tickets/{ticket}")["state"] for ticket in tickets}


def test_tickets_that_no_order_has_end_with_the_event(cards: CardShop) -> None:
    _guest, cash = sold_for_cash(cards, "A-8")
    others = issued_by_hand(cards)
    begun = call_off(cards, "refund", reason="storm")
    assert (begun["other_tickets"], begun["ended_tickets"]) == (32, 0)
    cards.shop.run_jobs()
    done = shown(cards)
    assert (done["state"], done["done_orders"], done["ended_tickets"], done["percent"]) == ("done", 1, 32, 100)
    assert states_of(cards, others) == {"cancelled"} and cards.shop.shown(cash)["state"] == "refunded"
    assert set(cards.shop.sale.states().values()) <= {0}, "seats are free"
    assert cards.facts("ticket_cancelled") == ["ticket_cancelled"] * 33, "each of them once"
    assert cards.shop.api.get(f"{path(cards)}/affected")["tickets_without_order"] == 0
    assert_everything_agrees(cards.shop)


def test_tickets_that_no_order_has_are_kept_where_the_organiser_says_so(cards: CardShop) -> None:
    order, _intent = sold_by_card(cards, "A-1")
    others = issued_by_hand(cards)
    assert call_off(cards, "refund", end_others=False)["other_tickets"] == 0
    cards.shop.run_jobs()
    assert states_of(cards, others) == {"valid"} and cards.shop.shown(order)["state"] == "refunded"
    body = {"choice": "another_date", "orders": 0, "end_others": True}
    assert cards.shop.api.refused("POST", path(cards), body)[0] in {400, 409}


def test_tickets_that_no_order_has_may_end_without_refunds(cards: CardShop) -> None:
    order, _intent = sold_by_card(cards, "A-1")
    others = issued_by_hand(cards)
    assert call_off(cards, "nothing", end_others=True)["state"] == "running"
    key = cards.app_server.event_key(cards.shop.sale.event["number"])
    with cards.app_server.database.writing() as session:
        assert service.deal_with_some(session, key, 5, cards.app_server.context()), "piece by piece"
    assert shown(cards)["ended_tickets"] == 5
    cards.shop.run_jobs()
    assert (shown(cards)["state"], shown(cards)["ended_tickets"]) == ("done", 32)
    assert states_of(cards, others) == {"cancelled"} and cards.shop.shown(order)["state"] == "paid"
    assert cards.shop.sale.states()["A-1"] == 2


def test_fees_may_be_kept(cards: CardShop) -> None:
    _order, intent = sold_by_card(cards, "A-1")
    assert call_off(cards, "refund", keep_fees=True)["cents"] == 4990
    for _ in range(2):
        cards.shop.run_jobs()
    assert [refund["amount"] for refund in cards.stripe.refunds(intent)] == [4990]
    assert_everything_agrees(cards.shop)


def test_stopped_and_resumed(cards: CardShop) -> None:
    orders = [sold_for_cash(cards, seat)[1] for seat in ("A-1", "A-8", "B-1")]
    call_off(cards, "refund")
    key = cards.app_server.event_key(cards.shop.sale.event["number"])
    with cards.app_server.database.writing() as session:
        assert service.deal_with_some(session, key, 1, cards.app_server.context())
    for _ in range(2):
        assert cards.shop.api.post(f"{path(cards)}/stop", {}, 200)["state"] == "stopped"
    cards.shop.run_jobs()
    stopped = shown(cards)
    assert (stopped["done_orders"], stopped["percent"], stopped["owed_orders"]) == (1, 33, 1)
    assert [cards.shop.shown(order)["state"] for order in orders].count("paid") == 2
    cards.shop.api.post(f"{path(cards)}/resume", {}, 200)
    cards.shop.run_jobs()
    assert (shown(cards)["state"], shown(cards)["done_orders"], shown(cards)["owed_cents"]) == ("done", 3, 15420)
    assert cards.facts("order_refunded") == ["order_refunded"] * 3
    assert_everything_agrees(cards.shop)


def test_order_that_cannot_be_refunded_holds_up_nobody(cards: CardShop, monkeypatch: pytest.MonkeyPatch) -> None:
    orders = [sold_for_cash(cards, seat)[1] for seat in ("A-1", "A-8", "B-1")]
    call_off(cards, "refund")
    original = refunding._credit

    def refuse(session: Any, order: Any, *rest: Any) -> Any:
        if order.id == orders[1]["id"]:
            raise Conflict("broken")
        return original(session, order, *rest)

    monkeypatch.setattr(refunding, "_credit", refuse)
    cards.shop.run_jobs()
    done = shown(cards)
    assert (done["state"], done["done_orders"], done["failed_orders"]) == ("done", 2, 1)
    monkeypatch.undo()
    cards.shop.api.post(f"{path(cards)}/resume", {}, 200)
    cards.shop.run_jobs()
    assert (shown(cards)["done_orders"], shown(cards)["failed_orders"]) == (3, 0)
    assert cards.facts("order_refunded") == ["order_refunded"] * 3


def test_neither_now_and_refunds_later(cards: CardShop) -> None:
    order, intent = sold_by_card(cards, "A-1")
    nothing = call_off(cards, "nothing")
    assert (nothing["state"], nothing["event_mark"]) == ("done", "cancelled")
    cards.shop.run_jobs()
    assert cards.shop.shown(order)["state"] == "paid"
    call_off(cards, "refund")
    for _ in range(2):
        cards.shop.run_jobs()
    assert [refund["amount"] for refund in cards.stripe.refunds(intent)] == [5140]
    assert_everything_agrees(cards.shop)


def test_buyers_choose_between_another_date_and_their_money(cards: CardShop) -> None:
    keeper, kept = sold_for_cash(cards, "A-1")
    order, intent = sold_by_card(cards, "A-8")
    _silent, silent = sold_for_cash(cards, "B-1")
    dates = {"new_date": NEW_DATE, "keep_until": EVENING + 10 * DAY}
    begun = call_off(cards, "another_date", reason="storm", **dates)
    assert begun["event_mark"] == "rescheduled"
    key = cards.app_server.event_key(cards.shop.sale.event["number"])
    for _ in range(2):  # the job has its place among the orders, whoever goes on with it
        with cards.app_server.database.writing() as session:
            assert service.deal_with_some(session, key, 1, cards.app_server.context())
    cards.shop.run_jobs()
    assert cards.facts("new_date_offered") == ["new_date_offered"] * 3
    offer = f"{cards.shop.path(kept)}/new-date"
    assert keeper.get(offer)["answer"] is None
    assert keeper.post(offer, {"answer": "keep"}, 200)["answer"] == "keep"
    by_link = cards.shop.sale.guest()
    link = link_of(cards, order)
    other = f"{cards.shop.path(order)}/new-date"
    assert by_link.refused("POST", other, {"answer": "refund"}) == (404, "order_not_found")
    for _ in range(2):
        answered = by_link.post(other, {"answer": "refund"}, 200, **{"X-Order-Secret": link})
    assert (answered["answer"], answered["open"]) == ("refund", False)
    assert by_link.ask("POST", other, {"answer": "keep"}, **{"X-Order-Secret": link}).status_code == 409
    cards.shop.run_jobs()
    assert [refund["amount"] for refund in cards.stripe.refunds(intent)] == [5140]
    view = shown(cards)
    assert (view["kept"], view["refunded"]) == (1, 1)
    cards.app_server.advance(10 * DAY + MINUTE)
    late = cards.shop.sale.guest().ask("POST", offer, {"answer": "refund"}, **{"X-Order-Secret": link_of(cards, kept)})
    assert (late.status_code, late.get_json()["error"]["code"]) == (409, "choice_over")
    cards.shop.run_jobs()
    assert [cards.shop.shown(each)["state"] for each in (kept, order, silent)] == ["paid", "refunded", "paid"]
    assert_everything_agrees(cards.shop)


def test_what_is_paid_late_is_offered_the_date_once_and_counted_with_the_others(cards: CardShop) -> None:
    late = [cards.shop.order(cards.shop.guest(), seat) for seat in ("A-1", "A-2")]
    sold_for_cash(cards, "A-8")
    begun = call_off(cards, "another_date", new_date=NEW_DATE, keep_until=EVENING + 10 * DAY)
    assert (begun["orders"], begun["tickets"], begun["cents"]) == (1, 1, 5140)
    cards.app_server.advance(MINUTE)
    cards.shop.note(late[0], "cash")
    cards.shop.run_jobs()
    during = shown(cards)
    assert (during["state"], during["orders"], during["done_orders"], during["cents"]) == ("done", 2, 2, 10280)
    cards.shop.note(late[1], "cash")
    sold_for_cash(cards, "B-1")
    cards.shop.run_jobs()
    after = shown(cards)
    assert [after[name] for name in ("orders", "done_orders", "tickets", "cents")] == [3, 3, 3, 15420]
    offers = cards.shop.sale.rows("SELECT subject_id FROM audit_lines WHERE action = 'new_date_offered'")
    assert len(offers) == len(set(offers)) == 3, "who bought for the new date is asked nothing"
    assert_everything_agrees(cards.shop)


def test_an_offer_that_failed_is_tried_again_and_the_others_are_not_repeated(
    cards: CardShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders = [sold_for_cash(cards, seat)[1] for seat in ("A-1", "A-8", "B-1")]
    call_off(cards, "another_date", new_date=NEW_DATE, keep_until=EVENING + 10 * DAY)
    original = dates.record_offer

    def refuse(session: Any, organisation_id: str, order_id: str, *rest: Any) -> None:
        if order_id == orders[1]["id"]:
            raise Conflict("broken")
        original(session, organisation_id, order_id, *rest)

    monkeypatch.setattr(dates, "record_offer", refuse)
    cards.shop.run_jobs()
    assert [shown(cards)[name] for name in ("state", "done_orders", "failed_orders")] == ["done", 2, 1]
    monkeypatch.undo()
    cards.shop.api.post(f"{path(cards)}/resume", {}, 200)
    cards.shop.run_jobs()
    assert [shown(cards)[name] for name in ("orders", "done_orders", "failed_orders")] == [3, 3, 0]
    assert cards.facts("new_date_offered") == ["new_date_offered"] * 3


def link_of(cards: CardShop, order: dict[str, Any]) -> str:
    return links.secret_of(cards.app_server.parts.sealer, cards.shop.sale.organisation_id, order["id"])


def test_dates_and_offers_are_checked(cards: CardShop) -> None:
    guest, order = sold_for_cash(cards, "A-1")
    api, offer = cards.shop.api, f"{cards.shop.path(order)}/new-date"
    assert guest.refused("GET", offer) == (404, "not_called_off")
    for wrong in ({}, {"new_date": NEW_DATE}, {"new_date": NEW_DATE, "keep_until": NEW_DATE + 1}):
        body = {"choice": "another_date", "orders": 1, **wrong}
        assert api.refused("POST", path(cards), body) == (400, "invalid_request"), wrong
    body = {"choice": "refund", "orders": 1, "new_date": NEW_DATE}
    assert api.refused("POST", path(cards), body) == (400, "invalid_request")
    call_off(cards, "nothing")
    assert guest.refused("POST", offer, {"answer": "keep"}) == (409, "no_other_date")
    other = cards.app_server.api(cards.app_server.organisation("lantern"))
    assert other.refused("GET", path(cards)) == (404, "not_called_off")
    assert other.refused("GET", f"{path(cards)}/affected")[0] == 404
    assert other.refused("POST", path(cards), {"choice": "nothing", "orders": 0})[0] == 404
