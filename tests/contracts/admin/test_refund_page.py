"""The page that refunds says how much it pays back, and pays back no other sum."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.app_server import AppServer
from tests.builders import a_ticket_type
from tests.contracts.admin.desk_client import Desk, a_desk, words_of


@pytest.fixture
def app_server(sqlite_url: str, tmp_path: Path) -> Iterator[AppServer]:
    made = AppServer(sqlite_url, tmp_path)
    yield made
    made.close()


@pytest.fixture
def desk(app_server: AppServer) -> Desk:
    return a_desk(app_server)


@pytest.fixture
def order(desk: Desk) -> dict[str, Any]:
    """Two tickets for 12 euros each, of which 2 are a fee, paid by card."""
    dear = a_ticket_type(name="Balcony", price_cents=1_000, fee_cents=200)
    number = desk.concert.api.post(f"{desk.concert.path}/ticket-types", dear)["number"]
    sale = {"places": [{"ticket_type": number, "count": 2}], "method": "card"}
    sold: dict[str, Any] = desk.concert.api.post(f"{desk.concert.path}/sales", sale)
    return sold


def page_of(order: dict[str, Any]) -> str:
    return f"/admin/orders/{order['id']}/refund"


def paid_back(desk: Desk, order: dict[str, Any]) -> int:
    return int(desk.concert.api.get(f"/api/orders/{order['id']}")["refunded_cents"])


def test_the_button_names_the_sum_that_is_paid_back(desk: Desk, order: dict[str, Any]) -> None:
    assert "Refund €24.00" in desk.open(page_of(order)) and "for 2 of 2 tickets" in desk.open(page_of(order))
    desk.send(page_of(order), line=["1", "2"], method="card", sum="2400")
    assert paid_back(desk, order) == 2_400
    assert "Nothing of this order is left to refund" in desk.open(page_of(order))


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"line": ["1"]}, "Refund €12.00"),
        ({"line": ["1", "2"], "keep_fees": "1"}, "Refund €20.00"),
        ({"line": ["2"], "keep_fees": "1"}, "Refund €10.00"),
        ({}, "Refund €0.00"),
    ],
)
def test_the_sum_follows_what_is_ticked_and_looking_changes_nothing(
    desk: Desk, order: dict[str, Any], chosen: dict[str, Any], said: str
) -> None:
    seen = desk.send(page_of(order), looks="1", method="card", **chosen)
    assert seen.status_code == 200 and said in words_of(seen)
    assert paid_back(desk, order) == 0


def test_without_javascript_another_sum_is_said_before_it_is_paid_back(desk: Desk, order: dict[str, Any]) -> None:
    answer = desk.send(page_of(order), line=["1"], method="card", sum="2400")
    assert answer.status_code == 409 and paid_back(desk, order) == 0
    assert "another sum" in words_of(answer) and "Refund €12.00" in words_of(answer)
    desk.send(page_of(order), line=["1"], method="card", sum="1200")
    assert paid_back(desk, order) == 1_200


def test_what_is_owed_from_before_is_paid_back_with_it(desk: Desk, order: dict[str, Any]) -> None:
    desk.concert.api.post(f"/api/orders/{order['id']}/payments", {"method": "card", "cents": 500}, 200)
    assert "Refund €29.00" in desk.open(page_of(order))
    desk.send(page_of(order), line=["1", "2"], method="card", sum="2900")
    assert paid_back(desk, order) == 2_900
