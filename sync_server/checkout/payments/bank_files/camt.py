"""Reads CAMT.053, the ISO 20022 statement that banks offer for download, in any of its versions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final
from xml.etree.ElementTree import ParseError

import defusedxml.ElementTree as SafeXml
from defusedxml import DefusedXmlException

from sync_server.checkout.payments.bank_files.entries import Entry, cents_of, unreadable

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_CREDIT: Final = "CRDT"
_BOOKED: Final = "BOOK"
_TEXTS: Final = ("RmtInf/Ustrd", "RmtInf/Strd/CdtrRefInf/Ref", "RmtInf/Strd/AddtlRmtInf", "Refs/EndToEndId")


def read(content: str) -> Iterator[Entry]:
    """The booked credits of a statement; InvalidRequest for what is no statement, or dangerous XML."""
    try:
        root = SafeXml.fromstring(content, forbid_dtd=True)
    except (DefusedXmlException, ParseError, ValueError):
        raise unreadable("it is no plain XML") from None
    for element in root.iter():
        element.tag = str(element.tag).rpartition("}")[2]
    if root.tag != "Document" or root.find("BkToCstmrStmt") is None:
        raise unreadable("it is not a CAMT.053 statement")
    for statement in root.iterfind("BkToCstmrStmt/Stmt/Ntry"):
        yield from _entries(statement)


def _entries(booking: Element) -> Iterator[Entry]:
    """One entry, or those that it sums up; what is not booked yet, or taken back, is left out."""
    status = _text(booking, "Sts/Cd") or _text(booking, "Sts")
    taken_back = _text(booking, "RvslInd") == "true"
    if _text(booking, "CdtDbtInd") != _CREDIT or status not in {_BOOKED, ""} or taken_back:
        return
    details = booking.findall("NtryDtls/TxDtls")
    if len(details) <= 1:
        yield _entry(booking, booking, details[0] if details else booking)
        return
    for detail in details:
        if (_text(detail, "CdtDbtInd") or _CREDIT) == _CREDIT:
            yield _entry(booking, detail, detail)


def _entry(booking: Element, priced: Element, detail: Element) -> Entry:
    amount = priced.find("Amt")
    if amount is None:
        amount = priced.find("AmtDtls/TxAmt/Amt")
    if amount is None:
        raise unreadable("an entry has no amount")
    try:
        cents = cents_of((amount.text or "").strip())
    except ValueError:
        raise unreadable("an amount is not a number") from None
    own = _text(detail, "Refs/AcctSvcrRef") or (_text(booking, "AcctSvcrRef") if priced is booking else "")
    reference = own[:120] or _batched(booking, detail)
    day = _text(booking, "BookgDt/Dt") or _text(booking, "BookgDt/DtTm")[:10]
    return Entry(reference, cents, amount.get("Ccy", ""), day, _said(booking, detail))


def _batched(booking: Element, detail: Element) -> str:
    """The name of an entry that the bank has summed up with others, where it names only the sum."""
    bank, payer = _text(booking, "AcctSvcrRef"), _text(detail, "Refs/EndToEndId")
    return f"{bank} {payer}"[:120] if bank and payer not in {"", "NOTPROVIDED"} else ""


def _said(booking: Element, detail: Element) -> str:
    parts = [each.text or "" for path in _TEXTS for each in detail.iterfind(path)]
    return " ".join([*parts, _text(booking, "AddtlNtryInf")]).strip()


def _text(element: Element, path: str) -> str:
    return (element.findtext(path) or "").strip()
