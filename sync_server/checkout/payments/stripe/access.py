"""Opens Stripe for an organisation, with the keys that it has stored."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.errors import Conflict, GatehouseError
from sync_server.accounts import queries as accounts
from sync_server.checkout.models import CheckoutSettingsRow
from sync_server.checkout.payments.stripe.gateway import Gateway, KeysRefused, StripeUnreachable
from sync_server.checkout.settings import settings_of
from sync_server.checkout.stripe_keys import is_ready, purpose
from sync_server.plumbing.database import Database
from sync_server.plumbing.due import organisations_due
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.sealing import Sealer


@dataclass(frozen=True, slots=True)
class StripeAccess:
    """What reaches Stripe for any organisation that has keys."""

    database: Database
    sealer: Sealer
    url: str

    @classmethod
    def of(cls, parts: Parts) -> StripeAccess:
        """As this server is set up."""
        return cls(parts.database, parts.sealer, parts.config.stripe_url)

    def gateway(self, session: Session, organisation_id: str) -> Gateway:
        """Stripe for this organisation; Conflict where it has no key."""
        sealed = settings_of(session, organisation_id).stripe_sealed_key
        if sealed is None:
            raise Conflict("This organiser does not take payments online. Choose another way to pay.", code="no_stripe")
        return Gateway(self.sealer.open(sealed, purpose("key", organisation_id)).decode(), self.url)

    def webhook_secret(self, session: Session, organisation_id: str) -> str | None:
        """With what Stripe signs for this organisation; None where it has none."""
        sealed = settings_of(session, organisation_id).stripe_sealed_webhook_secret
        if sealed is None:
            return None
        return self.sealer.open(sealed, purpose("webhook secret", organisation_id)).decode()


def problems(access: StripeAccess) -> dict[str, str | None]:
    """What is wrong with the keys of each organisation that has stored one, by its slug; None: nothing."""
    row = CheckoutSettingsRow
    with access.database.reading() as session:
        organisations = organisations_due(session, row.organisation_id, row.stripe_sealed_key.is_not(None))
        return {accounts.organisation(session, id).slug: _problem(access, session, id) for id in organisations}


def _problem(access: StripeAccess, session: Session, organisation_id: str) -> str | None:
    where = "PATCH /api/organisation/checkout"
    try:
        access.gateway(session, organisation_id).check()
        access.webhook_secret(session, organisation_id)
    except KeysRefused:
        return f"Stripe does not accept its secret key: nobody can pay. Store a valid one with {where}."
    except StripeUnreachable:
        return f"Stripe cannot be reached at {access.url}. Let this server make connections to it."
    except GatehouseError as problem:
        return problem.message
    if not is_ready(settings_of(session, organisation_id)):
        return f"A key is missing, so Stripe is not offered. Store the publishable and the webhook secret with {where}."
    return None
