"""A ticket is passed on: the old code is worth nothing at once, and of two who decide about it one comes first."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from shared.wire.snapshot import RowKind
from tests.app_server import ApiClient, AppServer, Concert
from tests.builders import DAY
from tests.contracts.checkout.shop_floor import Shop
from tests.contracts.customers.people import ADA, a_customer
from tests.contracts.self_service.buyers import BOB, a_paid_order, accept, link_of, offer, ticket_id
from tests.contracts.sync.office_gates import a_gate, shown
from tests.services.mail_server import MailBox

MY = "/api/o/marquee/my"


def codes(refusal: Any) -> str:
    return str(refusal["error"]["code"])


def issue_at_gates(shop: Shop, ticket: str) -> tuple[int, int]:
    """Issue and state of a ticket as gates hold it."""
    number = shop.api.get(shop.sale.path)["number"]
    (row,) = [row for row in shop.app_server.gate_rows_of(number, RowKind.TICKET) if f"{row.ticket_id:016x}" == ticket]
    return row.issue, row.state


def test_a_friend_gets_a_link_and_with_it_a_new_code(shop: Shop, mail_box: MailBox) -> None:
    ada = shop.guest()
    order = a_paid_order(shop, ada, "A-1")
    ticket, code_path = ticket_id(order), f"{shop.path(order)}/tickets/{ticket_id(order)}/code"
    old = ada.get(code_path)["code"]
    offer(shop, ada, order)
    assert ada.get(code_path)["code"] == old, "until it is accepted, it is hers"
    code = link_of(shop, mail_box)
    mail = mail_box.arrived[-1]
    assert mail["To"] == BOB and "Ada" in str(mail.get_body(("plain",)))
    assert issue_at_gates(shop, ticket)[0] == 1
    bobs = accept(shop, code, "Bob Hope")
    assert issue_at_gates(shop, ticket) == (2, 0), "a gate that has this row answers the old code ticket_replaced"
    friend = shop.app_server.app.test_client()
    path = f"/api/o/marquee/received/{ticket}/code"
    fresh: Any = friend.get(path, headers={"X-Ticket-Secret": bobs["secret"]}).json
    assert (fresh["issue"], fresh["code"] != old) == (2, True)
    assert friend.get(path, headers={"X-Ticket-Secret": "0" * 64}).status_code == 404
    assert ada.refused("GET", code_path) == (409, "ticket_passed_on")
    line = shop.shown(order)["lines"][0]
    assert (line["holder_name"], line["passed_on"]) == ("Bob Hope", True)
    assert codes(accept(shop, code, status=404)) == "link_ended"


def test_the_organiser_does_not_rename_what_was_passed_on(shop: Shop, mail_box: MailBox) -> None:
    ada = shop.guest()
    order = a_paid_order(shop, ada, "A-1")
    offer(shop, ada, order)
    accept(shop, link_of(shop, mail_box))
    names = {"guests": [{"position": 1, "holder_name": "Ada"}]}
    assert shop.api.refused("POST", f"/api/orders/{order['id']}/names", names) == (409, "ticket_passed_on")


def test_the_recipient_sees_it_among_their_tickets_and_passes_it_on(
    app_server: AppServer, shop: Shop, mail_box: MailBox
) -> None:
    guest = shop.guest()
    order = a_paid_order(shop, guest, "A-1", "A-2", buyer={"email": ADA})
    offer(shop, guest, order)
    accept(shop, link_of(shop, mail_box))
    bob = a_customer(app_server, shop.sale.organisation_id, BOB)
    (mine,) = bob.get(f"{MY}/tickets")["items"]
    assert (mine["received"], mine["seat_label"] != "") == (True, True)
    first = bob.get(f"{MY}/tickets/{mine['id']}/code")
    ada = a_customer(app_server, shop.sale.organisation_id)
    assert [ticket["seat_label"] for ticket in ada.get(f"{MY}/tickets")["items"]] != [mine["seat_label"]]
    assert len(ada.get(f"{MY}/tickets")["items"]) == 1
    assert ada.refused("GET", f"{MY}/tickets/{mine['id']}/code") == (404, "ticket_not_found")
    bob.post(f"{MY}/tickets/{mine['id']}/transfer", {"email": "carol@friends.example"})
    carols = accept(shop, link_of(shop, mail_box), "Carol")
    assert bob.get(f"{MY}/tickets")["items"] == []
    assert bob.refused("GET", f"{MY}/tickets/{mine['id']}/code") == (404, "ticket_not_found")
    assert issue_at_gates(shop, carols["ticket_id"])[0] == first["issue"] + 1 == 3


def test_an_offer_is_withdrawn_declined_or_lapses_and_the_ticket_stays(shop: Shop, mail_box: MailBox) -> None:
    ada = shop.guest()
    order = a_paid_order(shop, ada, "A-1")
    path = f"{shop.path(order)}/tickets/{ticket_id(order)}/transfer"
    offer(shop, ada, order)
    assert codes(offer(shop, ada, order, to="eve@friends.example", status=409)) == "already_offered"
    withdrawn = link_of(shop, mail_box)
    assert ada.ask("DELETE", path).status_code == 204
    assert codes(accept(shop, withdrawn, status=404)) == "link_ended"
    offer(shop, ada, order)
    declined = link_of(shop, mail_box)
    friend = ApiClient(shop.app_server.app.test_client(), {})
    assert friend.post("/api/o/marquee/transfers/preview", {"code": declined}, 200)["event_name"]
    assert friend.ask("POST", "/api/o/marquee/transfers/decline", {"code": declined}).status_code == 204
    offer(shop, ada, order)
    late = link_of(shop, mail_box)
    shop.app_server.advance(8 * DAY)
    assert codes(accept(shop, late, status=404)) == "link_ended"
    shop.run_jobs()
    states = [state for (state,) in shop.sale.rows("SELECT state FROM ticket_transfers ORDER BY created_at, id")]
    assert sorted(states) == ["declined", "lapsed", "withdrawn"]
    assert issue_at_gates(shop, ticket_id(order)) == (1, 0)


@pytest.mark.parametrize(
    ("settings", "advance", "code"),
    [
        ({"transfers": False}, 0, "transfers_forbidden"),
        ({"transfer_until_minutes": 60}, 30 * DAY - 30 * 60_000, "too_late_to_transfer"),
    ],
)
def test_the_organiser_may_forbid_it(shop: Shop, settings: dict[str, Any], advance: int, code: str) -> None:
    ada = shop.guest()
    order = a_paid_order(shop, ada, "A-1")
    shop.api.patch("/api/organisation/self-service", settings)
    secret = ada.get(f"{shop.path(order)}/link")["secret"]
    shop.app_server.advance(advance)
    by_link = ApiClient(shop.app_server.app.test_client(), {"X-Order-Secret": secret})
    assert codes(offer(shop, by_link, order, status=409)) == code


def test_a_ticket_changes_hands_only_so_often(app_server: AppServer, shop: Shop, mail_box: MailBox) -> None:
    shop.api.patch("/api/organisation/self-service", {"max_transfers": 1})
    ada = shop.guest()
    order = a_paid_order(shop, ada, "A-1")
    offer(shop, ada, order)
    accept(shop, link_of(shop, mail_box))
    bob = a_customer(app_server, shop.sale.organisation_id, BOB)
    path = f"{MY}/tickets/{ticket_id(order)}/transfer"
    assert bob.refused("POST", path, {"email": "carol@friends.example"}) == (409, "too_many_transfers")


def test_nobody_accepts_a_ticket_that_was_refunded_meanwhile(shop: Shop, mail_box: MailBox) -> None:
    ada = shop.guest()
    order = a_paid_order(shop, ada, "A-1")
    offer(shop, ada, order)
    code = link_of(shop, mail_box)
    shop.refund(order)
    assert codes(accept(shop, code, status=409)) == "ticket_not_valid"


def test_a_ticket_that_has_let_somebody_in_is_not_passed_on(shop: Shop, mail_box: MailBox) -> None:
    ada = shop.guest()
    order = a_paid_order(shop, ada, "A-1")
    offer(shop, ada, order)
    code = link_of(shop, mail_box)
    let_in(shop, order)
    assert codes(accept(shop, code, status=409)) == "ticket_used"
    assert codes(offer(shop, ada, order, status=409)) == "ticket_used"


def let_in(shop: Shop, order: dict[str, Any]) -> None:
    """A gate admits the first ticket of an order, and reports it."""
    event = shop.api.get(shop.sale.path)
    concert = Concert(shop.api, shop.api.get(f"/api/venues/{event['venue_id']}"), event)
    shop.api.post(f"/api/venues/{event['venue_id']}/gates", {"code": "W", "name": "West"})
    shop.api.post(f"{concert.path}/go-live", {}, 200)
    _, gate = a_gate(shop.app_server, concert)
    shown(gate, concert, order["lines"][0]["ticket"])
    gate.upload()


def test_of_two_who_accept_at_once_and_a_refund_one_comes_first(shop: Shop, mail_box: MailBox) -> None:
    for seat in ("A-1", "B-1"):
        ada = shop.guest()
        order = a_paid_order(shop, ada, seat)
        offer(shop, ada, order)
        code = link_of(shop, mail_box)
        start = threading.Barrier(3)

        def taken(name: str, code: str = code, start: threading.Barrier = start) -> bool:
            start.wait()
            friend = ApiClient(shop.app_server.app.test_client(), {})
            body = {"code": code, "name": name}
            return friend.ask("POST", "/api/o/marquee/transfers/accept", body).status_code == 200

        def refunded(order: dict[str, Any] = order, start: threading.Barrier = start) -> bool:
            start.wait()
            api = ApiClient(shop.app_server.app.test_client(), shop.api.headers)
            return api.ask("POST", f"/api/orders/{order['id']}/refunds", {"method": "cash"}).status_code == 200

        with ThreadPoolExecutor(3) as pool:
            asked = [pool.submit(taken, "Bob"), pool.submit(taken, "Eve"), pool.submit(refunded)]
            bob, eve, back = (each.result() for each in asked)
        assert back and bob + eve <= 1
        issue, state = issue_at_gates(shop, ticket_id(order))
        assert (issue, state) == (1 + bob + eve, 1), "cancelled for everybody, whoever had it last"
        accepted = shop.sale.rows(
            "SELECT count(*) FROM ticket_transfers WHERE state = 'accepted' AND order_id = :id",
            id=order["id"],
        )
        assert accepted[0][0] == bob + eve


def test_offers_do_not_flood_mailboxes(shop: Shop, mail_box: MailBox) -> None:
    ada = shop.guest()
    order = a_paid_order(shop, ada, "A-1")
    path = f"{shop.path(order)}/tickets/{ticket_id(order)}/transfer"
    statuses = []
    for _ in range(14):
        statuses.append(ada.ask("POST", path, {"email": BOB}).status_code)
        ada.ask("DELETE", path)
    assert statuses.count(201) == 12 and statuses[-1] == 429
