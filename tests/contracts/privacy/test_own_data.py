"""Customers export and erase what is stored about them: nothing about others, and what stays is said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from sync_server.migrations.tables import metadata
from tests.app_server import ApiClient, AppServer
from tests.builders import HOUR
from tests.contracts.checkout.shop_floor import ACCOUNT, Shop, a_shop, assert_everything_agrees
from tests.contracts.customers.people import ADA, a_customer
from tests.contracts.order_mails.post import delivered, link_in
from tests.services.mail_server import MailBox

NAME, BOB = "Ada Lovelace", "bob@hope.example"


@pytest.fixture
def app_server(database_url: str, tmp_path: Path, mail_box: MailBox) -> Iterator[AppServer]:
    made = AppServer(database_url, tmp_path, mail_url=mail_box.url, base_url="https://tickets.example")
    yield made
    made.close()


@pytest.fixture
def shop(app_server: AppServer) -> Shop:
    made = a_shop(app_server)
    made.api.patch("/api/organisation/checkout", ACCOUNT)
    return made


def account(shop: Shop) -> str:
    return f"/api/o/{shop.sale.slug}/account"


def where(shop: Shop, *words: str) -> set[str]:
    """The columns of all tables in which any of these words stands."""
    found = set()
    with shop.app_server.database.reading() as session:
        for table in metadata().sorted_tables:
            for row in session.execute(select(table)).mappings():
                found |= {f"{table.name}.{name}" for name, value in row.items() if _has(value, words)}
    return found


def _has(value: Any, words: tuple[str, ...]) -> bool:
    text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
    return any(word in text for word in words)


def bought(shop: Shop, who: ApiClient, *seats: str) -> Any:
    holds = shop.hold(who, *seats)
    holds = [hold | {"holder_name": NAME} for hold in holds]
    order = who.post(
        shop.orders_path, {"holds": holds, "buyer": {"name": NAME, "email": ADA}}, **{"Idempotency-Key": "k"}
    )
    return shop.note(order, "card")


def passed_on(shop: Shop, mail_box: MailBox) -> tuple[ApiClient, Any]:
    """Ada, who has bought two tickets and given one to Bob; and her order."""
    guest = shop.guest()
    order = bought(shop, guest, "A-1", "A-2")
    ada = a_customer(shop.app_server, shop.sale.organisation_id, client=guest.client)
    given = order["lines"][1]["ticket"]["id"]
    offer = f"/api/o/{shop.sale.slug}/orders/{order['id']}/tickets/{given}/transfer"
    ada.post(offer, {"email": BOB})
    (mail,) = [each for each in delivered(shop.app_server, mail_box) if each["To"] == BOB]
    taken = {"code": link_in(mail).partition("#")[2], "name": "Bob Hope"}
    shop.sale.guest().post(f"/api/o/{shop.sale.slug}/transfers/accept", taken, 200)
    return ada, order


def test_customer_exports_what_is_theirs_and_nothing_of_others(shop: Shop, mail_box: MailBox) -> None:
    ada, order = passed_on(shop, mail_box)
    answer = ada.ask("POST", f"{account(shop)}/export", {})
    assert answer.status_code == 200 and "attachment" in answer.headers["Content-Disposition"]
    records = answer.json["records"]  # type: ignore[index]
    assert [row["number"] for row in records["orders"]] == [order["number"]]
    assert {row["kind"] for row in records["money_movements"]} == {"charge", "payment"}
    assert [row["holder_name"] for row in records["tickets"]] == [NAME]
    assert records["customers"][0]["email"] == ADA
    said = json.dumps(answer.json)
    assert [name for name, rows in records.items() if _has(rows, (BOB, "Bob Hope"))] == [], "somebody else's"
    assert "password_hash" not in said and "secret" not in said


def test_customer_is_erased_and_what_stays_is_said(
    shop: Shop, mail_box: MailBox, caplog: pytest.LogCaptureFixture
) -> None:
    ada, order = passed_on(shop, mail_box)
    meant = ada.get(f"{account(shop)}/erasure")
    assert (meant["email"], meant["orders"], meant["tickets_to_come"], meant["open_orders"]) == (ADA, 1, 1, [])
    assert {each["what"] for each in meant["kept"]} >= {"orders", "ledger", "tickets"}
    shop.api.post(f"/api/orders/{order['id']}/mails", {}, 202)
    assert ada.refused("POST", f"{account(shop)}/erasure", {"email": BOB}) == (400, "not_confirmed")
    assert where(shop, NAME, ADA) >= {"orders.buyer_name", "tickets.holder_name", "idempotency_keys.body"}
    with caplog.at_level("DEBUG"):
        done = ada.post(f"{account(shop)}/erasure", {"email": ADA.upper()}, 200)
        assert delivered(shop.app_server, mail_box) == [], "the mail that waited is given up"
    assert done["erased"]["orders"] == 1 and done["kept"] == meant["kept"]
    assert where(shop, NAME, ADA) == set() and NAME not in caplog.text and ADA not in caplog.text
    assert "tickets.holder_name" in where(shop, "Bob Hope"), "who got the ticket keeps it, with the name"
    assert ada.refused("GET", account(shop))[0] == 401, "signed out"
    kept = shop.shown(order)
    assert (kept["state"], kept["paid_cents"], kept["buyer"]["name"]) == ("paid", 10_280, "")
    assert [line["ticket"]["state"] for line in kept["lines"]] == ["valid", "valid"]
    assert_everything_agrees(shop)


def test_erasure_waits_for_open_orders_and_asks_who_it_is(shop: Shop, mail_box: MailBox) -> None:
    guest = shop.guest()
    order = shop.order(guest, "A-1", buyer={"name": NAME, "email": ADA})
    shop.pay(guest, order, "invoice")
    ada = a_customer(shop.app_server, shop.sale.organisation_id, client=guest.client)
    erase, body = f"{account(shop)}/erasure", {"email": ADA}
    assert ada.get(erase)["open_orders"] == [order["number"]]
    assert ada.refused("POST", erase, body) == (409, "orders_open")
    assert "orders.buyer_name" in where(shop, NAME), "nothing went"
    shop.api.post(f"/api/orders/{order['id']}/cancel", {}, 200)
    shop.app_server.advance(HOUR)
    assert ada.refused("POST", erase, body) == (403, "bad_password"), "whoever finds the browser open erases nothing"
    assert shop.sale.guest().refused("POST", erase, body)[0] == 401
    assert ada.refused("POST", erase, {"email": ADA, "current_password": "guessed"}) == (403, "bad_password")
    again = a_customer(shop.app_server, shop.sale.organisation_id)
    again.post(erase, body, 200)
    delivered(shop.app_server, mail_box)
    assert where(shop, NAME, ADA) == set()


def test_organisers_erase_no_buyer_whose_order_waits_to_be_paid(shop: Shop) -> None:
    guest = shop.guest()
    order = shop.order(guest, "A-1", buyer={"name": NAME, "email": ADA})
    shop.pay(guest, order, "invoice")
    body = {"email": ADA, "reason": "asked for"}
    refused = shop.api.ask("POST", "/api/people/erase", body)
    assert refused.status_code == 409 and refused.json is not None
    assert refused.json["error"]["details"]["orders"] == [order["number"]]
    assert "orders.buyer_name" in where(shop, NAME), "nothing went"
    shop.note(order, "invoice")
    shop.api.post("/api/people/erase", body, 200)
    assert "orders.buyer_name" not in where(shop, NAME)
    assert_everything_agrees(shop)
