"""Which currencies there are prices in: those with hundredths, because every amount is a number of them."""

from __future__ import annotations

from typing import Final

from shared.errors import InvalidRequest

_HUNDREDTHS: Final = """
AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC CUP CVE CZK
DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD
KZT LAK LBP LKR LRD LSL MAD MDL MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN
QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU
UZS VED VES WST XCD XCG YER ZAR ZMW ZWG
"""
_OTHERS: Final = """
BHD BIF CLP DJF GNF IQD ISK JOD JPY KMF KRW KWD LYD MGA MRU OMR PYG RWF TND UGX VND VUV XAF XOF XPF
"""
WITH_HUNDREDTHS: Final = frozenset(_HUNDREDTHS.split())
"""Money with two decimals in list one of ISO 4217, as its maintenance agency (SIX) published it on 2026-01-01. Left out
are funds and units of account (such as USN and XAD), and the ariary and the ouguiya, which have fifths."""
WITHOUT_HUNDREDTHS: Final = frozenset(_OTHERS.split())
"""Money of the same list whose smallest unit is the whole, a thousandth or a fifth."""


def check_currency(currency: str) -> None:
    """InvalidRequest for what is no money, or money in which payment services would read cents as something else."""
    if currency in WITHOUT_HUNDREDTHS:
        raise InvalidRequest(
            f"currency: prices are whole cents, and {currency} has no hundredths. Choose another currency.",
            field="currency",
            code="currency_without_cents",
        )
    if currency not in WITH_HUNDREDTHS:
        raise InvalidRequest(
            "currency: no currency of today has this code. Send three capital letters, such as EUR.",
            field="currency",
            code="unknown_currency",
        )
