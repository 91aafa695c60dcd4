"""A ticket that was passed on is its new owner's: nothing that the buyer gets shows its code."""

from __future__ import annotations

from pathlib import Path

from tests.contracts.checkout.shop_floor import Shop
from tests.contracts.order_mails.post import delivered, files_of
from tests.contracts.self_service.buyers import BOB, a_paid_order, accept, link_of, offer, ticket_id
from tests.contracts.ticket_files.paper import Printed
from tests.services.mail_server import MailBox

ADA = {"name": "Ada Lovelace", "email": "ada@lovelace.example", "locale": "en"}


def test_buyer_keeps_the_other_tickets_only(shop: Shop, mail_box: MailBox, tmp_path: Path) -> None:
    ada = shop.guest()
    order = a_paid_order(shop, ada, "A-1", "A-2", buyer=ADA)
    offer(shop, ada, order)
    delivered(shop.app_server, mail_box)
    offer(shop, ada, order, line=1, to="eve@friends.example")
    accept(shop, link_of(shop, mail_box))
    delivered(shop.app_server, mail_box)
    kept = ada.get(f"{shop.path(order)}/tickets/{ticket_id(order)}/code")["code"]
    shown = ada.get(f"{shop.path(order)}/tickets")["tickets"]
    assert [ticket["number"] for ticket in shown] == [order["lines"][0]["ticket"]["number"]]
    paper = ada.ask("GET", f"{shop.path(order)}/tickets.pdf").data
    assert Printed(bytes(paper), tmp_path).codes() == [(kept,)]
    ada.post(f"{shop.path(order)}/mails", status=202)
    (mail,) = delivered(shop.app_server, mail_box)
    assert Printed(files_of(mail)[f"{order['number']}.pdf"], tmp_path).codes() == [(kept,)]
    lines = shop.api.ask("GET", f"{shop.sale.path}/exports/attendees").text.splitlines()
    (passed_on,) = [line for line in lines if order["lines"][1]["ticket"]["number"] in line.split(",")]
    assert ADA["email"] not in passed_on and BOB not in passed_on
