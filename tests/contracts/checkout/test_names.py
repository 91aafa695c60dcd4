"""Names on orders change on the order, its tickets and at gates; a ticket made out to another gets a new code."""

from __future__ import annotations

from typing import Any

import pytest

from shared.wire.snapshot import RowKind
from tests.contracts.checkout.shop_floor import Shop


def a_sold_order(shop: Shop, *guests: str, **buyer: str) -> dict[str, Any]:
    """A paid order of one seat for each guest."""
    who = shop.guest()
    held = shop.hold(who, *[f"A-{place}" for place in range(1, len(guests) + 1)])
    holds = [{**hold, "holder_name": name} for hold, name in zip(held, guests, strict=True)]
    order = who.post(shop.orders_path, {"holds": holds, "buyer": {"name": "Zoë Müller", **buyer}}, 201)
    sold: dict[str, Any] = shop.note(order)
    return sold


def rename(shop: Shop, order: dict[str, Any], status: int = 200, **names: Any) -> Any:
    return shop.api.post(f"/api/orders/{order['id']}/names", names, status)


def at_gates(shop: Shop) -> dict[str, tuple[int, str]]:
    """The issue and the name of each ticket, as gates know them."""
    rows = shop.app_server.gate_rows_of(shop.sale.event["number"], RowKind.TICKET)
    return {row.number: (row.issue, row.name) for row in rows}


def test_ticket_made_out_to_another_gets_a_new_code(shop: Shop) -> None:
    shop.api.patch(shop.sale.path, {"name_checks": True})
    order = a_sold_order(shop, "Ada Winter", "")
    first, second = (line["ticket"]["number"] for line in order["lines"])
    assert at_gates(shop) == {first: (1, "Ada Winter"), second: (1, "")}
    guests = [{"position": 1, "holder_name": "Bea Winter"}, {"position": 2, "holder_name": "Cem Winter"}]
    shown = rename(shop, order, guests=guests, reason="misspelt")
    assert [line["holder_name"] for line in shown["lines"]] == ["Bea Winter", "Cem Winter"]
    assert at_gates(shop) == {first: (2, "Bea Winter"), second: (1, "Cem Winter")}
    rename(shop, order, guests=guests)
    assert at_gates(shop)[first] == (2, "Bea Winter"), "what stays the same changes nothing"


def test_buyer_is_found_by_the_new_name_alone(shop: Shop) -> None:
    order = a_sold_order(shop, "")

    def found(words: str) -> list[str]:
        return [each["number"] for each in shop.api.get(f"/api/orders?search={words}")["items"]]

    assert rename(shop, order, buyer_name="Ines Sommer")["buyer"]["name"] == "Ines Sommer"
    assert (found("sommer"), found("müller"), found(order["number"])) == ([order["number"]], [], [order["number"]])


def test_change_is_recorded_without_the_names(shop: Shop) -> None:
    order = a_sold_order(shop, "Ada Winter")
    rename(shop, order, buyer_name="Ines Sommer", guests=[{"position": 1, "holder_name": "Bea Winter"}])
    lines = shop.sale.rows("SELECT action, after FROM audit_lines WHERE subject_id = :order", order=order["id"])
    assert [after for action, after in lines if action == "order_renamed"]
    everything = repr(lines) + repr(shop.sale.rows("SELECT name, payload, subjects FROM outbox"))
    assert "order_renamed" in everything
    assert not any(name in everything for name in ("Sommer", "Bea", "Ada"))


@pytest.mark.parametrize(
    ("guest", "answer"),
    [
        ({"position": 9, "holder_name": "Bea"}, (400, "invalid_request")),
        ({"position": 1, "holder_name": "Bea"}, (409, "line_ended")),
    ],
)
def test_guests_who_do_not_come_are_not_named(shop: Shop, guest: dict[str, Any], answer: tuple[int, str]) -> None:
    order = a_sold_order(shop, "Ada", "Cem")
    shop.refund(order, lines=[1])
    assert shop.api.refused("POST", f"/api/orders/{order['id']}/names", {"guests": [guest]}) == answer


def test_organiser_changes_names_on_the_page_and_sees_what_became_of_it(shop: Shop) -> None:
    order = a_sold_order(shop, "Ada Winter")
    shop.app_server.user("owner@marquee.example", shop.sale.api.get("/api/organisation")["id"], "owner")
    desk = shop.app_server.browser("owner@marquee.example")
    page = f"/admin/orders/{order['id']}"
    assert "Ada Winter" in desk.client.get(f"{page}/names").text
    form = {"csrf_token": desk.headers["X-CSRF-Token"], "buyer": "Ines Sommer", "guest-1": "Bea Winter"}
    shown = desk.client.post(f"{page}/names", data=form, follow_redirects=True).text
    assert "Bea Winter" in shown and "Ines Sommer" in shown and "Ada Winter" not in shown
    assert "One ticket has a new code" in shown and "Names changed" in shown
    stale = desk.client.post(f"{page}/names", data=form | {"etag": "old", "buyer": "Zoë"})
    assert stale.status_code == 412 and "Ines Sommer" in desk.client.get(page).text
