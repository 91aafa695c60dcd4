"""Stripe by its own SDK: the few calls that are made of it, and what their failures mean."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from shared.clock import Millis
from shared.errors import Conflict, Unavailable
from sync_server.checkout.payments.disputes import Disputed, DisputeState

if TYPE_CHECKING:
    import stripe

TIMEOUT_S: Final = 20.0
_SENT_AGAIN: Final = 1
"""How often the SDK itself repeats a request, with the same key, after a broken connection."""
FINAL: Final = frozenset({"succeeded", "canceled"})
"""States of a payment intent that never change."""
LOST: Final = frozenset({"failed", "canceled"})
"""States of a refund that did not reach the buyer."""


class StripeUnreachable(Unavailable):
    """Stripe did not answer: what became of the request is not known, and asking again is safe."""

    code = "stripe_unreachable"
    words = "The payment service does not answer. Nothing is charged twice: try again in a minute."


class StripeRefused(Conflict):
    """Stripe has answered, and will not do it."""

    code = "stripe_refused"
    words = "The payment service has refused this."


class KeysRefused(StripeRefused):
    """The organisation's keys are not valid."""

    code = "stripe_keys_refused"
    words = "The payment service does not accept this organiser's keys. Choose another way to pay."


@dataclass(frozen=True, slots=True)
class Intent:
    """A payment as Stripe has it now."""

    id: str
    status: str
    received: int  # cents
    currency: str  # in capitals
    secret: str  # with which the buyer's browser pays; never stored, never logged


@dataclass(frozen=True, slots=True)
class Refunded:
    """A refund as Stripe has it now."""

    id: str
    status: str
    cents: int
    payout: str  # our id of it; empty where somebody refunded at Stripe itself


class Gateway:
    """Stripe, for one organisation."""

    def __init__(self, secret_key: str, url: str) -> None:
        """Opens nothing."""
        import stripe

        # Nothing of how this server performs is told to others.
        stripe.enable_telemetry = False
        self._stripe = stripe.StripeClient(
            secret_key,
            base_addresses={"api": url},
            max_network_retries=_SENT_AGAIN,
            http_client=stripe.RequestsClient(timeout=TIMEOUT_S),
        ).v1

    def begin(self, *, key: str, cents: int, currency: str, metadata: dict[str, str]) -> Intent:
        """A payment to be made; the same one for the same key."""
        with _meaning():
            made = self._stripe.payment_intents.create(
                {"amount": cents, "currency": currency.lower(), "metadata": metadata}, {"idempotency_key": key}
            )
            return _intent(made)

    def look(self, intent: str) -> Intent:
        """What became of a payment."""
        with _meaning():
            return _intent(self._stripe.payment_intents.retrieve(intent))

    def cancel(self, intent: str) -> Intent:
        """Let a payment no longer be made, unless it is made by now; what became of it."""
        found = self.look(intent)
        if found.status in FINAL or found.status == "processing":
            return found
        try:
            with _meaning():
                return _intent(self._stripe.payment_intents.cancel(intent))
        except KeysRefused:
            raise
        except StripeRefused:
            return self.look(intent)

    def refund(self, *, key: str, intent: str, cents: int, metadata: dict[str, str]) -> Refunded:
        """Pay back a part of a payment, or all; the same refund for the same key."""
        with _meaning():
            made = self._stripe.refunds.create(
                {"payment_intent": intent, "amount": cents, "metadata": metadata}, {"idempotency_key": key}
            )
            return _refunded(made)

    def refunds(self, intent: str) -> list[Refunded]:
        """All refunds of a payment."""
        with _meaning():
            found = self._stripe.refunds.list({"payment_intent": intent, "limit": 100})
            return [_refunded(each) for each in found.auto_paging_iter()]

    def disputes(self, intent: str) -> list[Disputed]:
        """All disputes of a payment."""
        with _meaning():
            found = self._stripe.disputes.list({"payment_intent": intent, "limit": 100})
            return [_disputed(each) for each in found.auto_paging_iter()]

    def disputes_since(self, moment: Millis) -> list[Disputed]:
        """All disputes that were opened since, of any payment."""
        with _meaning():
            found = self._stripe.disputes.list({"created": {"gte": moment // 1000}, "limit": 100})
            return [_disputed(each) for each in found.auto_paging_iter()]

    def check(self) -> None:
        """Raises KeysRefused or StripeUnreachable unless the key is accepted."""
        with _meaning():
            self._stripe.balance.retrieve()


@contextmanager
def _meaning() -> Iterator[None]:
    """Failures of the SDK as ours; their texts stay here, because they may quote what was sent."""
    import stripe

    try:
        yield
    except (stripe.AuthenticationError, stripe.PermissionError):
        raise KeysRefused from None
    except (stripe.InvalidRequestError, stripe.CardError, stripe.IdempotencyError) as refusal:
        raise StripeRefused(
            f"The payment service has refused this ({refusal.code or type(refusal).__name__}). "
            "Look at the payment in its dashboard.",
            reason=refusal.code or "",
        ) from None
    except stripe.StripeError:
        raise StripeUnreachable from None


def _intent(made: stripe.PaymentIntent) -> Intent:
    plain: dict[str, Any] = made.to_dict()
    received = plain.get("amount_received")
    if received is None:  # sent by Stripe always; where it is left out, what was paid is the amount
        received = plain["amount"] if plain["status"] == "succeeded" else 0
    return Intent(plain["id"], plain["status"], received, plain["currency"].upper(), plain["client_secret"] or "")


_DISPUTES: Final = {
    "warning_needs_response": DisputeState.INQUIRY,
    "warning_under_review": DisputeState.INQUIRY,
    "warning_closed": DisputeState.WON,
    "prevented": DisputeState.WON,
    "won": DisputeState.WON,
    "lost": DisputeState.LOST,
}
"""By Stripe's status; all others are open."""


def _disputed(made: stripe.Dispute) -> Disputed:
    plain: dict[str, Any] = made.to_dict()
    transactions = plain.get("balance_transactions") or ()
    moved = sum(each["amount"] for each in transactions)
    due_by = (plain.get("evidence_details") or {}).get("due_by")
    return Disputed(
        plain["id"],
        str(plain.get("payment_intent") or ""),
        _DISPUTES.get(plain["status"], DisputeState.OPEN),
        plain["amount"],
        plain["currency"].upper(),
        withdrawn=moved < 0,
        # Where the account is kept in another currency its fees are, too: the order's ledger has no place for those.
        fee_cents=sum(each.get("fee") or 0 for each in transactions if each.get("currency") == plain["currency"]),
        reason=str(plain.get("reason") or "")[:60],
        answer_by=due_by * 1000 if due_by else None,
    )


def _refunded(made: stripe.Refund) -> Refunded:
    plain: dict[str, Any] = made.to_dict()
    metadata = plain.get("metadata") or {}
    return Refunded(plain["id"], plain["status"] or "pending", plain["amount"], metadata.get("payout", ""))
