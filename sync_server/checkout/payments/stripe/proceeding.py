"""What a page gets to pay with; asked again after it has paid, the order is found paid before any webhook came."""

from __future__ import annotations

from sync_server.checkout import queries
from sync_server.checkout.payments.paying import OrderKey
from sync_server.checkout.payments.stripe import beginning, outcomes
from sync_server.checkout.payments.stripe.access import StripeAccess
from sync_server.checkout.rules import OrderState
from sync_server.plumbing.requests.principals import ActionContext


def proceed(access: StripeAccess, key: OrderKey, context: ActionContext) -> str:
    """The client secret of the order's payment; empty once nothing is left to pay."""
    with access.database.reading() as session:
        if queries.order(session, *key).state != OrderState.PENDING:
            return ""
    payment_id, intent = beginning.begin(access, key, context)
    outcomes.note(access, key.organisation_id, payment_id, intent, context)
    return "" if intent.status == "succeeded" else intent.secret
