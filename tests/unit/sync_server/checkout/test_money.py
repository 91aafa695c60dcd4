"""Amounts: the tax they include, rounded half up, and what transfers say."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import Conflict, InvalidRequest
from sync_server.checkout.money import epc
from sync_server.checkout.money.amounts import decimal, tax_included
from sync_server.checkout.rules import TRANSITIONS, OrderState, require_transition


@given(st.integers(0, 99_999_999), st.integers(0, 10_000))
def test_included_tax_is_rounded_half_up_to_the_cent(cents: int, rate: int) -> None:
    exact = Decimal(cents) * rate / (10_000 + rate)
    assert tax_included(cents, rate) == int(exact.quantize(Decimal(1), ROUND_HALF_UP))


@pytest.mark.parametrize(("cents", "rate", "tax"), [(11_900, 1900, 1900), (107, 700, 7), (3, 10_000, 2), (1, 1900, 0)])
def test_included_tax_of_known_amounts(cents: int, rate: int, tax: int) -> None:
    assert tax_included(cents, rate) == tax


def test_amounts_have_two_places() -> None:
    assert [decimal(cents) for cents in (0, 5, 50, 1205, 100_000)] == ["0.00", "0.05", "0.50", "12.05", "1000.00"]


@pytest.mark.parametrize("iban", ["DE75 5121 0800 1245 1261 99", "gb33bukb20201555555555", "NO9386011117947"])
def test_an_iban_is_stored_without_spaces(iban: str) -> None:
    assert epc.checked_iban(iban) == "".join(iban.split()).upper()


@pytest.mark.parametrize(
    "iban", ["DE75512108001245126198", "DE7551210800124512619", "12345", "DE75-5121-0800", "ÄÖ12" * 5]
)
def test_a_mistyped_iban_is_refused(iban: str) -> None:
    with pytest.raises(InvalidRequest):
        epc.checked_iban(iban)


@pytest.mark.parametrize("bic", ["DEUTDEFF500", "nolade21sho"])
def test_a_bic_has_eight_or_eleven_characters(bic: str) -> None:
    assert epc.checked_bic(bic) == bic.upper()


def test_every_pair_of_states_is_decided_by_the_table() -> None:
    for old in OrderState:
        for new in OrderState:
            if new in TRANSITIONS[old]:
                require_transition(old, new)
            else:
                with pytest.raises(Conflict):
                    require_transition(old, new)


def test_the_diagram_of_the_page_shows_the_table() -> None:
    page = (Path(__file__).parents[4] / "docs" / "sell.md").read_text(encoding="utf-8")
    drawn = set(re.findall(r"^  (\w+) --> (\w+)", page, re.MULTILINE))
    assert drawn == {(old.value, new.value) for old, following in TRANSITIONS.items() for new in following}
