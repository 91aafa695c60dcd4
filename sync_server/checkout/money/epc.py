"""The text of a QR code that fills in a credit transfer in banking apps: EPC069-12 of the European Payments Council."""

from __future__ import annotations

import io
from typing import Final, Literal

import segno

from shared.errors import InvalidRequest
from sync_server.checkout.money.amounts import decimal

_PIXELS: Final = 6
_QUIET_ZONE: Final = 4
_IBAN_LENGTHS = range(15, 35)
_BIC_LENGTHS = (8, 11)


def credit_transfer(*, holder: str, iban: str, bic: str, cents: int, reference: str) -> str:
    """The text of the code; the amount is in euros."""
    lines = ("BCD", "002", "1", "SCT", bic, holder, iban, f"EUR{decimal(cents)}", "", "", reference)
    return "\n".join(lines)


def picture(text: str, kind: Literal["svg", "png"]) -> bytes:
    """The code as a picture: error correction M and UTF-8, as the guideline asks, black on white on any page."""
    out, options = io.BytesIO(), {"xmldecl": False} if kind == "svg" else {}
    code = segno.make_qr(text, error="m", mode="byte", encoding="utf-8", boost_error=False)
    code.save(out, kind=kind, scale=_PIXELS, border=_QUIET_ZONE, light="#ffffff", **options)
    return out.getvalue()


def written_iban(iban: str) -> str:
    """In groups of four, as people read and compare it."""
    return " ".join(iban[at : at + 4] for at in range(0, len(iban), 4))


def checked_iban(text: str) -> str:
    """The IBAN without spaces; InvalidRequest where its check digits are wrong."""
    iban = "".join(text.split()).upper()
    well_formed = iban.isascii() and iban.isalnum() and len(iban) in _IBAN_LENGTHS and iban[:2].isalpha()
    if not well_formed or int("".join(str(int(digit, 36)) for digit in iban[4:] + iban[:4])) % 97 != 1:
        raise InvalidRequest("iban: this is not a valid IBAN. Check its digits.", field="iban", code="bad_iban")
    return iban


def checked_bic(text: str) -> str:
    """The BIC; InvalidRequest for what is none."""
    bic = text.strip().upper()
    if not bic.isascii() or not bic.isalnum() or len(bic) not in _BIC_LENGTHS or not bic[:6].isalpha():
        raise InvalidRequest("bic: a BIC has 8 or 11 letters and digits.", field="bic", code="bad_bic")
    return bic
