"""Prices are in money that people pay with, and that has hundredths."""

from __future__ import annotations

import pytest
from babel.core import get_global
from babel.numbers import get_territory_currencies, list_currencies

from shared.errors import InvalidRequest
from sync_server.accounts.currencies import WITH_HUNDREDTHS, WITHOUT_HUNDREDTHS, check_currency

GONE_SINCE = {"BGN"}
"""In use by what Babel knows, and no more: its country has the euro."""


def refusal(currency: str) -> str:
    with pytest.raises(InvalidRequest) as refused:
        check_currency(currency)
    assert refused.value.details["field"] == "currency"
    return refused.value.error_code


@pytest.mark.parametrize("currency", ["EUR", "USD", "GBP", "CHF", "ZAR", "SLE", "XCG", "ZWG"])
def test_money_of_today_with_hundredths_is_taken(currency: str) -> None:
    check_currency(currency)


@pytest.mark.parametrize("currency", ["JPY", "KRW", "KWD", "ISK", "XAF", "MGA"])
def test_money_without_hundredths_is_refused_in_words_of_its_own(currency: str) -> None:
    assert refusal(currency) == "currency_without_cents"


@pytest.mark.parametrize(
    "currency", ["X" * 3, "XTS", "XAU", "XDR", "USN", "CHE", "DEM", "ANG", "ABC", "eur", "EURO", ""]
)
def test_what_nobody_pays_with_is_refused(currency: str) -> None:
    """No currency at all, for tests, gold, units of account, gone, or mistyped."""
    assert refusal(currency) == "unknown_currency"


def test_the_table_has_the_money_of_every_country_once() -> None:
    paid_with = {code for country in get_global("territory_currencies") for code in get_territory_currencies(country)}
    assert paid_with - GONE_SINCE <= WITH_HUNDREDTHS | WITHOUT_HUNDREDTHS
    assert not WITH_HUNDREDTHS & WITHOUT_HUNDREDTHS
    assert list_currencies() >= WITH_HUNDREDTHS | WITHOUT_HUNDREDTHS, "nothing is mistyped"
