"""Schemas of requests and responses about how an organisation sells."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from sync_server.checkout import stripe_keys
from sync_server.checkout.models import CheckoutSettingsRow
from sync_server.checkout.payments.methods import METHODS
from sync_server.checkout.shop_checks import ShopWarning
from sync_server.config import Config
from sync_server.plumbing.api.edits import EditedView
from sync_server.plumbing.api.schemas import PatchBody, View

StripeKey = Annotated[str, Field(max_length=255)]


class ChangeSettings(PatchBody):
    """Changes to how the organisation sells; what is left out stays."""

    order_minutes: Annotated[int, Field(ge=1, le=120)] | None = None
    invoices: bool | None = None
    invoice_days: Annotated[int, Field(ge=1, le=90)] | None = None
    unpaid_tickets: bool | None = None
    dispute_tickets: Literal["block", "keep"] | None = None
    account_holder: Annotated[str, Field(max_length=70)] | None = None
    iban: Annotated[str, Field(max_length=42)] | None = None
    bic: Annotated[str, Field(max_length=11)] | None = None
    stripe_publishable_key: StripeKey | None = None
    stripe_secret_key: StripeKey | None = None
    stripe_webhook_secret: StripeKey | None = None


class WarningView(View):
    """Something that keeps buyers from buying, and what to do about it."""

    code: str
    message: str


class SettingsView(EditedView):
    """How the organisation sells. With `unpaid_tickets` an invoice has tickets, which gates refuse until it is paid.

    Secret keys are never shown: of the one of Stripe, `stripe_key_ending` are the last four characters.
    `stripe_webhook_url` is where Stripe is to tell of payments.
    """

    unedited: ClassVar[frozenset[str]] = frozenset({"warnings"})

    order_minutes: int
    invoices: bool
    invoice_days: int
    unpaid_tickets: bool
    dispute_tickets: str
    account_holder: str
    iban: str
    bic: str
    stripe_publishable_key: str
    stripe_key_ending: str
    stripe_webhook_secret_set: bool
    stripe_webhook_url: str
    methods: list[str]
    warnings: list[WarningView]


def settings_view(row: CheckoutSettingsRow, config: Config, warnings: Iterable[ShopWarning]) -> SettingsView:
    """The settings, the methods by which orders can be paid, and what keeps buyers from buying."""
    offered = {"invoice": row.invoices, "stripe": stripe_keys.is_ready(row)}
    return SettingsView.of(
        row,
        methods=[name for name in METHODS if offered.get(name, True)],
        warnings=[WarningView.of(each) for each in warnings],
        stripe_webhook_secret_set=row.stripe_sealed_webhook_secret is not None,
        stripe_webhook_url=stripe_keys.webhook_url(config, row.organisation_id),
    )
