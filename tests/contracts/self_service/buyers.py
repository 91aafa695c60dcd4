"""Buyers who have paid, and the links that their friends get."""

from __future__ import annotations

from typing import Any

from tests.app_server import ApiClient
from tests.contracts.checkout.shop_floor import Shop
from tests.services.mail_server import MailBox

BOB = "bob@friends.example"


def a_paid_order(shop: Shop, who: ApiClient, *seats: str, **body: Any) -> dict[str, Any]:
    """An order of these seats that was paid at the box office."""
    order = shop.order(who, *seats, **body)
    paid: dict[str, Any] = shop.note(order, cents=order["total_cents"])
    return paid


def ticket_id(order: dict[str, Any], line: int = 0) -> str:
    return str(order["lines"][line]["ticket"]["id"])


def offer(shop: Shop, who: ApiClient, order: dict[str, Any], *, to: str = BOB, line: int = 0, status: int = 201) -> Any:
    """Offer a ticket of an order to somebody."""
    path = f"{shop.path(order)}/tickets/{ticket_id(order, line)}/transfer"
    return who.post(path, {"email": to, "giver": "Ada"}, status)


def link_of(shop: Shop, box: MailBox) -> str:
    """The code of the link in the last mail that offers a ticket; buyers get other mails, too."""
    for _ in range(2):
        shop.run_jobs()
    bodies = [str(body.get_content()) for mail in box.arrived if (body := mail.get_body(("plain",))) is not None]
    links = [word for text in bodies for word in text.split() if "/o/marquee/ticket#" in word]
    return links[-1].partition("#")[2]


def accept(shop: Shop, code: str, name: str = "Bob", status: int = 200) -> Any:
    """Accept a ticket, in a browser of one's own."""
    friend = ApiClient(shop.app_server.app.test_client(), {})
    return friend.post(f"/api/o/{shop.sale.slug}/transfers/accept", {"code": code, "name": name}, status)
