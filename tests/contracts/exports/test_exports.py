"""What is exported of an event: read again as a spreadsheet reads it."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from sqlalchemy import text

from sync_server.exports import tables
from tests.app_server import ApiClient, AppServer
from tests.contracts.archives.evening import an_evening
from tests.contracts.checkout.shop_floor import Shop
from tests.contracts.exports.workbook import cells

BUYER = {"name": '=HYPERLINK("https://evil.example")', "email": "ada@lovelace.example", "locale": "en"}


def exported(api: ApiClient, path: str, table: str, form: str = "csv") -> list[dict[str, str]]:
    """The rows of a table, by column."""
    response = api.ask("GET", f"{path}/exports/{table}?format={form}")
    assert response.status_code == 200, response.text
    assert response.headers["Cache-Control"] == "no-store"
    if form == "xlsx":
        head, *rows = cells(response.get_data())
        return [dict(zip(head, row, strict=False)) for row in rows]
    return list(csv.DictReader(io.StringIO(response.get_data().decode("utf-8-sig"))))


@pytest.fixture
def order(shop: Shop) -> dict[str, Any]:
    """An order of which one ticket was refunded."""
    made = shop.note(shop.order(shop.guest(), "A-1", "A-2", buyer=BUYER), "card", reference="terminal 7/1")
    return dict(shop.refund(made, lines=[2]))


def test_orders_and_payments_add_up(shop: Shop, order: dict[str, Any]) -> None:
    (row,) = exported(shop.api, shop.sale.path, "orders")
    wanted = {
        "order": order["number"],
        "state": "partially_refunded",
        "total": "102.80",
        "paid": "102.80",
        "due": "0.00",
    }
    assert {name: row[name] for name in wanted} == wanted, row
    assert (row["email"], row["buyer"]) == (BUYER["email"], f"'{BUYER['name']}"), "no spreadsheet runs it"
    assert row["ordered_at"].endswith("+02:00") and row["mark"] == ""
    paid = exported(shop.api, shop.sale.path, "payments")
    assert [(each["kind"], each["amount"]) for each in paid] == [
        ("charge", "99.80"),
        ("charge", "3.00"),
        ("payment", "102.80"),
        ("credit", "49.90"),
        ("credit", "1.50"),
        ("payout", "51.40"),
    ]
    assert paid[2]["reference"] == "terminal 7/1"


def test_tickets_are_all_there_and_attendees_only_those_who_come(shop: Shop, order: dict[str, Any]) -> None:
    kept, refunded = (line["ticket"]["number"] for line in order["lines"])
    rows = {row["ticket"]: row for row in exported(shop.api, shop.sale.path, "tickets")}
    assert {number: row["state"] for number, row in rows.items()} == {kept: "valid", refunded: "cancelled"}
    assert (rows[kept]["row"], rows[kept]["seat"], rows[kept]["price"], rows[kept]["zone"]) == (
        "A",
        "1",
        "49.90",
        "Stalls",
    )
    (guest,) = exported(shop.api, shop.sale.path, "attendees")
    assert (guest["ticket"], guest["order"], guest["email"]) == (kept, order["number"], BUYER["email"])
    assert guest["days"] == "2026-08-03" and guest["entered_at"] == ""


@pytest.mark.parametrize("table", tables.TABLES)
def test_workbook_says_the_same_as_the_csv(shop: Shop, order: dict[str, Any], table: str) -> None:
    assert order["state"] == "partially_refunded"
    plain = exported(shop.api, shop.sale.path, table)
    book = exported(shop.api, shop.sale.path, table, "xlsx")
    assert len(book) == len(plain)
    for one, other in zip(book, plain, strict=True):
        for column, value in other.items():
            shown = one.get(column, "")
            if value and value.replace(".", "").isdigit() and "." in value:
                assert f"{float(shown):.2f}" == value
            elif column.endswith("at") and value:
                assert shown.replace(".", "").isdigit(), "a time that can be reckoned with"
            else:
                assert shown == value.removeprefix("'"), column


def test_marks_and_days_stand_in_every_row(shop: Shop, order: dict[str, Any]) -> None:
    assert order["number"]
    shop.api.post(f"{shop.sale.path}/cancel", {"reason": "storm"}, 200)
    for table in ("orders", "tickets", "payments"):
        rows = exported(shop.api, shop.sale.path, table)
        assert rows and {row["mark"] for row in rows} == {"cancelled"}, table


def test_scans_and_entries_are_those_of_the_gates(app_server: AppServer) -> None:
    evening = an_evening(app_server)
    rows = exported(evening.api, evening.path, "scans")
    admitted = [row for row in rows if row["admitted"] == "yes"]
    assert len(admitted) == len(evening.tickets[2:-1]) and rows[-1]["reason"] == "ticket_cancelled"
    entered = {row["ticket"]: row["entered_at"] for row in exported(evening.api, evening.path, "attendees")}
    came = {ticket["number"] for ticket in evening.tickets[2:-1]}
    assert {number for number, at in entered.items() if at} == came


@pytest.mark.parametrize("table", tables.TABLES)
def test_every_row_comes_once_however_small_the_pages_are(
    app_server: AppServer, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    evening = an_evening(app_server, guests=9)
    evening.api.post(f"{evening.path}/sales", {}, 400)
    whole = exported(evening.api, evening.path, table)
    monkeypatch.setattr(tables, "PAGE", 2)
    assert exported(evening.api, evening.path, table) == whole


def test_export_is_in_the_audit_log_and_nobody_else_gets_it(shop: Shop, order: dict[str, Any]) -> None:
    assert order["number"]
    exported(shop.api, shop.sale.path, "attendees", "xlsx")
    with shop.app_server.database.reading() as session:
        noted = text("SELECT subject_id, after FROM audit_lines WHERE action = 'event.exported'")
        ((subject, after),) = session.execute(noted).all()
    assert subject == shop.sale.id and "attendees" in str(after) and "xlsx" in str(after)
    stranger = shop.app_server.api(shop.app_server.organisation("elsewhere"))
    assert stranger.refused("GET", f"{shop.sale.path}/exports/orders") == (404, "event_not_found")
    reader = shop.app_server.api(shop.sale.organisation_id, scopes=["read"])
    assert reader.refused("GET", f"{shop.sale.path}/exports/attendees")[0] == 403
    assert reader.ask("GET", f"{shop.sale.path}/exports/tickets").status_code == 200
