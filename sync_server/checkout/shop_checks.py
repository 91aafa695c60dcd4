"""What an organiser should know of a shop before buyers find out: that they cannot pay for what it sells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy.orm import Session

from sync_server.accounts import queries as accounts
from sync_server.checkout.models import CheckoutSettingsRow
from sync_server.checkout.settings import settings_of
from sync_server.checkout.stripe_keys import is_ready
from sync_server.plumbing.database import Database
from sync_server.tickets import queries as tickets


@dataclass(frozen=True, slots=True)
class ShopWarning:
    """Something that keeps buyers from buying, and what to do about it."""

    code: str
    message: str


_NO_METHOD: Final = ShopWarning(
    "no_way_to_pay",
    "The shop sells tickets that cost something, and buyers have no way to pay for them. "
    "Store the keys of Stripe, or allow invoices, with PATCH /api/organisation/checkout.",
)
_ONLY_INVOICES: Final = ShopWarning(
    "only_invoices",
    "Buyers can pay by bank transfer only: nobody can buy in the last 24 hours before an event. "
    "Store the keys of Stripe with PATCH /api/organisation/checkout to take cards until it starts.",
)


NO_MAIL: Final = ShopWarning(
    "no_mail",
    "This server sends no mail, and its shop says so: buyers find their tickets on the page of their order only. "
    "Whoever runs the server sets GATEHOUSE_MAIL_URL.",
)


def warnings_of(session: Session, row: CheckoutSettingsRow) -> list[ShopWarning]:
    """What is wrong with these settings for what the organisation's shop sells, or is about to sell."""
    if is_ready(row) or not tickets.sells_for_money(session, row.organisation_id):
        return []
    return [_ONLY_INVOICES if row.invoices else _NO_METHOD]


def all_warnings(database: Database) -> dict[str, list[ShopWarning]]:
    """The warnings of every organisation, by its slug; those without any are left out."""
    with database.reading() as session:
        rows = [(each.slug, settings_of(session, each.id)) for each in accounts.organisations(session)]
        found = {slug: warnings_of(session, row) for slug, row in rows}
    return {slug: warnings for slug, warnings in found.items() if warnings}
