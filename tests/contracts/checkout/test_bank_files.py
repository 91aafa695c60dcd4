"""A bank's statement finds its orders: shown first, noted once, whatever is short, over, double, late or unknown."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import DAY, MINUTE
from tests.contracts.checkout.bank_statements import batch, credit, statement
from tests.contracts.checkout.shop_floor import ACCOUNT, Shop, assert_everything_agrees
from tests.contracts.checkout.test_walk import BUYER

COLUMNS = {"amount": "Betrag", "date": "Buchungstag", "text": ["Verwendungszweck", "Name"], "currency": "Währung"}


def invoiced(shop: Shop, *seats: str) -> dict[str, Any]:
    shop.api.patch("/api/organisation/checkout", ACCOUNT)
    guest = shop.guest()
    order = shop.order(guest, *seats, buyer=BUYER)
    shop.pay(guest, order, "invoice")
    return dict(order)


def outcomes(shown: dict[str, Any]) -> list[str]:
    return [item["outcome"] for item in shown["items"]]


def note(shop: Shop, file: dict[str, Any], *, status: int = 200, **chosen: str) -> Any:
    """Note everything that the preview shows; `chosen` are orders of unknown entries."""
    shown = shop.api.post("/api/bank-files/preview", file, 200)
    wanted = [{"reference": item["reference"]} for item in shown["items"]]
    wanted = [
        each | ({"order_id": chosen[each["reference"]]} if each["reference"] in chosen else {}) for each in wanted
    ]
    return shop.api.post("/api/bank-files", file | {"entries_to_note": wanted}, status)


@pytest.mark.parametrize("version", ["02", "08"])
def test_statement_pays_orders_once(shop: Shop, version: str) -> None:
    exact, short, over = invoiced(shop, "A-1"), invoiced(shop, "A-8"), invoiced(shop, "B-1")
    number = exact["number"].replace("-", " ").lower()
    file = statement(
        credit(5140, f"tickets {number} thank you", "S-1"),
        credit(5000, f"{short['number']}", "S-2"),
        credit(6000, f"Order {over['number']}, Ada", "S-3"),
        credit(990, "a present", "S-4"),
        credit(5140, over["number"], "S-5", sign="DBIT"),
        credit(5140, over["number"], "S-6", status="<Sts>PDNG</Sts>"),
        version=version,
    )
    shown = shop.api.post("/api/bank-files/preview", file, 200)
    assert outcomes(shown) == ["exact", "short", "over", "unknown"]
    assert [item["due_cents"] for item in shown["items"]] == [5140, 5140, 5140, 0]
    assert shop.shown(exact)["state"] == "pending", "a preview notes nothing"
    assert outcomes(note(shop, file)) == ["exact", "short", "over", "unknown"]
    found = {order["id"]: shop.shown(order) for order in (exact, short, over)}
    assert [(each["state"], each["due_cents"]) for each in found.values()] == [
        ("paid", 0),
        ("pending", 140),
        ("paid", -860),
    ]
    assert outcomes(note(shop, file)) == ["known", "known", "known", "unknown"], "told twice, counted once"
    assert {order["id"]: shop.shown(order) for order in (exact, short, over)} == found
    rest = statement(credit(140, short["number"], "S-7"), version=version)
    assert outcomes(note(shop, rest)) == ["exact"] and shop.shown(short)["state"] == "paid"
    assert_everything_agrees(shop)


def test_two_transfers_for_one_order_in_one_file(shop: Shop) -> None:
    order = invoiced(shop, "A-1")
    file = statement(batch("B-7", (5140, order["number"], "one"), (5140, order["number"], "two")))
    shown = note(shop, file)
    assert outcomes(shown) == ["exact", "double"]
    assert [item["reference"] for item in shown["items"]] == ["B-7 one", "B-7 two"]
    assert (shop.shown(order)["state"], shop.shown(order)["due_cents"]) == ("paid", -5140)
    assert outcomes(note(shop, file)) == ["known", "known"]
    assert_everything_agrees(shop)


def test_entries_without_a_reference_are_known_again(shop: Shop) -> None:
    order = invoiced(shop, "A-1")
    file = statement(credit(2570, order["number"]), credit(2570, order["number"]))
    assert outcomes(note(shop, file)) == ["short", "exact"], "two alike are two"
    assert outcomes(note(shop, file)) == ["known", "known"]
    assert shop.shown(order)["paid_cents"] == 5140


def test_late_transfer_is_sold_or_owed_back(shop: Shop) -> None:
    kept, gone = invoiced(shop, "A-1"), invoiced(shop, "B-1")
    shop.app_server.advance(15 * DAY)
    shop.run_jobs()
    assert shop.shown(kept)["state"] == "expired"
    shop.note(shop.order(shop.guest(), "B-1"))
    file = statement(credit(5140, kept["number"], "L-1"), credit(5140, gone["number"], "L-2"))
    shown = note(shop, file)
    assert outcomes(shown) == ["late", "late"]
    assert [item["order_state"] for item in shown["items"]] == ["paid", "expired"]
    assert shop.shown(gone)["due_cents"] == -5140
    assert_everything_agrees(shop)


def test_people_find_the_order_of_an_unknown_entry(shop: Shop) -> None:
    order = invoiced(shop, "A-1")
    file = statement(credit(5140, "my tickets", "U-1"), credit(5140, "my tickets", "U-2"))
    assert outcomes(note(shop, file, **{"U-1": order["id"]})) == ["exact", "unknown"]
    assert shop.shown(order)["state"] == "paid"
    missing = file | {"entries_to_note": [{"reference": "U-9"}]}
    assert shop.api.refused("POST", "/api/bank-files", missing) == (400, "unknown_entry")


def test_csv_with_the_columns_of_the_bank(shop: Shop) -> None:
    order = invoiced(shop, "A-1", "A-2")
    content = (
        "\ufeffKonto;DE75\nBuchungstag;Verwendungszweck;Name;Betrag;Währung\n"
        f"06.07.2026;SEPA {order['number']};Ada;102,80;EUR\n06.07.2026;Miete;Haus;-1.200,00;EUR\n"
        f'06.07.2026;"{order["number"]}";Ada;"1.002,80";USD\n'
    )
    file = {"format": "csv", "content": content, "columns": COLUMNS | {"skipped_lines": 1}}
    assert outcomes(note(shop, file)) == ["exact", "other_currency"]
    assert shop.shown(order)["state"] == "paid"
    assert outcomes(note(shop, file)) == ["known", "other_currency"]
    wrong = file | {"columns": COLUMNS | {"amount": "Amount", "skipped_lines": 1}}
    assert shop.api.refused("POST", "/api/bank-files/preview", wrong) == (400, "bad_bank_file")
    wrong = file | {
        "columns": COLUMNS | {"skipped_lines": 1, "decimal": "."},
        "content": content.replace("102,80", "1x"),
    }
    assert shop.api.refused("POST", "/api/bank-files/preview", wrong) == (400, "bad_bank_file")


BOMB = '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><Document><BkToCstmrStmt>&c;</BkToCstmrStmt></Document>'
OUTSIDE = (
    '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><Document><BkToCstmrStmt>&b;</BkToCstmrStmt></Document>'
)


@pytest.mark.parametrize("content", [BOMB, OUTSIDE, "<Document>", "{}", "<html/>", "<Document><Other/></Document>"])
def test_dangerous_and_other_files_are_refused(shop: Shop, content: str) -> None:
    file = {"format": "camt.053", "content": content}
    assert shop.api.refused("POST", "/api/bank-files/preview", file) == (400, "bad_bank_file")


def test_order_of_another_organisation_is_unknown(shop: Shop) -> None:
    order = invoiced(shop, "A-1")
    other = shop.app_server.api(shop.app_server.organisation("lantern"))
    file = statement(credit(5140, order["number"], "X-1"))
    assert outcomes(other.post("/api/bank-files/preview", file, 200)) == ["unknown"]
    stolen = file | {"entries_to_note": [{"reference": "X-1", "order_id": order["id"]}]}
    assert other.refused("POST", "/api/bank-files", stolen) == (404, "order_not_found")
    shop.app_server.advance(MINUTE)
    assert shop.shown(order)["paid_cents"] == 0
