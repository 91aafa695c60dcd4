"""What the codes of a batch give, in plain words: what is off and of what, or what they open and when."""

from __future__ import annotations

from collections.abc import Mapping

from shared.clock import Millis
from sync_server.admin import display
from sync_server.checkout.codes.code_schemas import BatchView
from sync_server.plumbing.language.texts import Translator


def gives(t: Translator, batch: BatchView, types: Mapping[int, str], currency: str) -> str:
    """One sentence, such as `15% off each ticket of Regular, Student.`"""
    names = ", ".join(types.get(number, str(number)) for number in batch.ticket_types)
    if batch.kind == "presale":
        return t("codes.opens_early" if batch.opens_sale else "codes.opens", types=names)
    off = t("codes.percent", percent=batch.percent) if batch.percent else display.money(batch.cents, currency)
    if batch.per == "order":
        return t("codes.off_order_of", off=off, types=names) if names else t("codes.off_order", off=off)
    return t("codes.off_ticket_of", off=off, types=names) if names else t("codes.off_ticket", off=off)


def standing(batch: BatchView, valid_from: Millis | None, valid_until: Millis | None, now: Millis) -> str:
    """Whether the codes are taken now: `revoked`, `spent`, `early`, `over` or `open`."""
    if batch.revoked_at is not None:
        return "revoked"
    if batch.uses >= batch.codes * batch.max_uses:
        return "spent"
    if valid_from is not None and now < valid_from:
        return "early"
    return "over" if valid_until is not None and now > valid_until else "open"
