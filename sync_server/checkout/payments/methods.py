"""How orders are paid: a port, and the methods that need nobody else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from sync_server.checkout.models import CheckoutSettingsRow, OrderRow
from sync_server.checkout.money import epc
from sync_server.checkout.money.ledger import Account, Told
from sync_server.checkout.rules import ONLINE
from sync_server.checkout.stripe_keys import is_ready
from sync_server.plumbing.requests.principals import Action

DAY_MS: Final = 24 * 3_600_000


@dataclass(frozen=True, slots=True)
class Terms:
    """On what a payment depends, besides the order."""

    settings: Callable[[], CheckoutSettingsRow]
    starts_at: Millis  # of the event
    now: Millis


@dataclass(frozen=True, slots=True)
class Started:
    """What follows when a buyer chooses a method."""

    paid: bool = False  # at once
    due_at: Millis | None = None  # else until when


@dataclass(frozen=True, slots=True)
class Instructions:
    """What a buyer needs to pay."""

    method: str
    reference: str
    cents: int
    currency: str
    account_holder: str = ""
    iban: str = ""
    bic: str = ""
    qr_text: str = ""
    """The text of a QR code that fills in the transfer in a banking app; empty in other currencies than euros."""
    publishable_key: str = ""
    """With which the page speaks to the payment service."""
    client_secret: str = ""
    """With which the page pays: only where a payment has just begun."""


@dataclass(frozen=True, slots=True)
class Payout:
    """Money to be paid back to a buyer."""

    cents: int
    reference: str | None = None  # as the bank or the terminal names it
    note: str = ""


def _noted_payout(method: PaymentMethod, payout: Payout) -> Told:
    """A payout that staff have made, or are about to make."""
    if method.account is None:
        raise Conflict("Choose how the money is paid back: by cash, card or invoice.", code="nothing_to_pay_back")
    return Told(method.name, method.account, payout.cents, payout.reference, payout.note)


@dataclass(frozen=True, slots=True)
class PaymentMethod:
    """A way to pay. Whoever hears that money has arrived notes it in the ledger: `paying.receive`."""

    name: str
    account: Account | None  # where the money arrives; None: nothing is ever paid
    noted_by: Action | None  # what staff need to note a payment; None: nobody notes one
    in_shop: bool  # whether buyers may choose it themselves
    start: Callable[[OrderRow, Terms], Started] = lambda *_: Started()
    """Begins a payment; a refusal where the order cannot be paid so."""
    instructions: Callable[[OrderRow, CheckoutSettingsRow, int], Instructions | None] = lambda *_: None
    """What the buyer of an order of which so much is due needs to know, if anything."""
    pay_back: Callable[[PaymentMethod, Payout], Told] = _noted_payout
    """Pays money back; returns what is to be noted. What staff pay back is only noted."""

    @property
    def online(self) -> bool:
        """Whether a payment service takes the money and pays it back by itself: `payouts.ask`."""
        return self.name in ONLINE


def _start_free(order: OrderRow, _terms: Terms) -> Started:
    if order.total_cents:
        raise Conflict("This order is not free. Choose a way to pay.", code="not_free")
    return Started(paid=True)


def _require_price(order: OrderRow) -> None:
    if not order.total_cents:
        raise Conflict("This order is free. Choose `free`.", code="is_free")


def _start_invoice(order: OrderRow, terms: Terms) -> Started:
    """Wait for the transfer until it is due, at the latest until the event starts."""
    _require_price(order)
    settings = terms.settings()
    if not settings.invoices or not settings.iban:
        raise Conflict("This organiser does not sell by invoice. Choose another way to pay.", code="no_invoices")
    if not order.buyer_name or not order.buyer_email:
        raise InvalidRequest(
            "An invoice needs the buyer's name and e-mail address.", code="buyer_required", field="buyer"
        )
    if terms.starts_at - terms.now < DAY_MS:
        raise Conflict(
            "The event is too soon for a bank transfer. Choose another way to pay.", code="too_late_for_invoice"
        )
    return Started(due_at=min(terms.now + settings.invoice_days * DAY_MS, terms.starts_at))


def _start_stripe(order: OrderRow, terms: Terms) -> Started:
    """The page pays; the order waits no longer than any other."""
    _require_price(order)
    if not is_ready(terms.settings()):
        raise Conflict("This organiser does not take payments online. Choose another way to pay.", code="no_stripe")
    return Started()


def _pay_online(order: OrderRow, settings: CheckoutSettingsRow, due_cents: int) -> Instructions | None:
    if due_cents <= 0:
        return None
    key = settings.stripe_publishable_key
    return Instructions("stripe", order.number, due_cents, order.currency, publishable_key=key)


def _transfer(order: OrderRow, settings: CheckoutSettingsRow, due_cents: int) -> Instructions | None:
    """Where to transfer how much, with which reference."""
    if due_cents <= 0:
        return None
    holder, iban, bic = settings.account_holder, settings.iban, settings.bic
    text = ""
    if order.currency == "EUR":
        text = epc.credit_transfer(holder=holder, iban=iban, bic=bic, cents=due_cents, reference=order.number)
    return Instructions("invoice", order.number, due_cents, order.currency, holder, iban, bic, text)


METHODS: Final[Mapping[str, PaymentMethod]] = {
    method.name: method
    for method in (
        PaymentMethod("free", None, None, in_shop=True, start=_start_free),
        PaymentMethod("cash", Account.CASH, Action.ISSUE_TICKETS, in_shop=False),
        PaymentMethod("card", Account.CARD, Action.ISSUE_TICKETS, in_shop=False),
        PaymentMethod(
            "invoice", Account.BANK, Action.CHANGE_ORDERS, in_shop=True, start=_start_invoice, instructions=_transfer
        ),
        PaymentMethod(
            "stripe",
            Account.STRIPE,
            None,
            in_shop=True,
            start=_start_stripe,
            instructions=_pay_online,
        ),
    )
}


def method_named(name: str) -> PaymentMethod:
    """The method with this name; InvalidRequest where there is none."""
    method = METHODS.get(name)
    if method is None:
        raise InvalidRequest(f"method: choose one of {', '.join(METHODS)}.", field="method", code="unknown_method")
    return method
