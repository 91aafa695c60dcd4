"""Which currencies there are prices in: those with hundredths, because every amount is a number of them."""

from __future__ import annotations

import re
from typing import Final

from shared.errors import InvalidRequest

_FORM: Final = re.compile("[A-Z]{3}")
WITHOUT_HUNDREDTHS: Final = frozenset(
    {
        *("BHD", "BIF", "CLF", "CLP", "DJF", "GNF", "IQD", "ISK", "JOD", "JPY", "KMF", "KRW", "KWD", "LYD"),
        *("MGA", "MRU", "OMR", "PYG", "RWF", "TND", "UGX", "UYI", "UYW", "VND", "VUV", "XAF", "XOF", "XPF"),
    }
)
"""By ISO 4217: their smallest unit is the whole, a thousandth or less, or a fifth."""


def check_currency(currency: str) -> None:
    """InvalidRequest for what is no currency, or one in which payment services would read cents as something else."""
    if not _FORM.fullmatch(currency):
        raise InvalidRequest("A currency has three capital letters, such as EUR.", field="currency")
    if currency in WITHOUT_HUNDREDTHS:
        raise InvalidRequest(
            f"currency: prices are whole cents, and {currency} has no hundredths. Choose another currency.",
            field="currency",
            code="currency_without_cents",
        )
