"""/api/stripe/{organisation}: where Stripe tells of payments. What it tells is only a reason to ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from apiflask import APIBlueprint
from flask import request

from shared.clock import Millis
from shared.errors import InvalidRequest, NotFound
from sync_server.checkout.models import StripePaymentRow
from sync_server.checkout.payments.stripe import disputing, outcomes, schemas
from sync_server.checkout.payments.stripe.access import StripeAccess
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.storable_json import read_json
from sync_server.plumbing.web import context

TOLERANCE_MS: Final = 300_000
"""How old a signature may be: what is older was recorded, and is played back."""
_OF_REFUNDS: Final = ("charge.refund", "refund.")
_OF_DISPUTES: Final = "charge.dispute."

bp = APIBlueprint("stripe", __name__, url_prefix="/api/stripe", tag="Payments")


@bp.post("/<organisation_id>")
@bp.output(schemas.WebhookView)
@bp.doc(description="For Stripe: its signature is required, made with the webhook secret that the organisation stored.")
def tell(organisation_id: str) -> schemas.WebhookView:
    """Hear from Stripe that something has changed. Told twice, late or in another order, it comes to the same."""
    access = StripeAccess.of(parts())
    with access.database.reading() as session:
        secret = access.webhook_secret(session, organisation_id)
    if secret is None:
        raise NotFound("No payments are taken here.", code="no_stripe")
    told = _verified(request.get_data(cache=True), request.headers.get("Stripe-Signature", ""), secret)
    return schemas.WebhookView(handled=_handle(access, organisation_id, told))


def _verified(body: bytes, signature: str, secret: str) -> dict[str, Any]:
    """What Stripe tells; InvalidRequest unless it has signed it just now for this organisation."""
    import stripe

    try:
        stripe.WebhookSignature.verify_header(body.decode(), signature, secret)
        signed_at = _signed_at(signature)
    except (stripe.SignatureVerificationError, ValueError):
        raise _forged() from None
    if abs(parts().clock() - signed_at) > TOLERANCE_MS:
        raise _forged()
    told = read_json(body)
    if not isinstance(told, dict):
        raise _forged()
    return told


def _signed_at(signature: str) -> Millis:
    return int(next(part[2:] for part in signature.split(",") if part.startswith("t="))) * 1000


def _forged() -> InvalidRequest:
    return InvalidRequest(
        "The signature is missing, too old, or not made with this organisation's webhook secret.", code="bad_signature"
    )


def _handle(access: StripeAccess, organisation_id: str, told: dict[str, Any]) -> bool:
    """Ask what became of the payment; False where it is none of ours, as of other programs at the same account."""
    kind, subject = str(told.get("type", "")), (told.get("data") or {}).get("object") or {}
    follow = _what_follows(kind)
    if follow is None:
        return False
    intent = str(subject.get("id" if follow is outcomes.follow else "payment_intent") or "")
    row = _payment(access, organisation_id, intent, subject.get("metadata") or {})
    if row is None:
        return False
    follow(access, organisation_id, row.id, context())
    return True


def _what_follows(kind: str) -> Callable[[StripeAccess, str, str, ActionContext], None] | None:
    """What asks Stripe after news of this kind; None for what is none of ours."""
    if kind.startswith("payment_intent."):
        return outcomes.follow
    if kind.startswith(_OF_REFUNDS):
        return outcomes.follow_refunds
    return disputing.follow if kind.startswith(_OF_DISPUTES) else None


def _payment(
    access: StripeAccess, organisation_id: str, intent: str, metadata: dict[str, Any]
) -> StripePaymentRow | None:
    """The payment that is told of, by Stripe's name or, where a kill came between, by ours."""
    if metadata.get("organisation", organisation_id) != organisation_id:
        return None
    with access.database.reading() as session:
        return outcomes.find(session, organisation_id, intent=intent, payment=str(metadata.get("payment") or ""))
