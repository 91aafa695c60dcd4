"""An organisation's keys of Stripe: checked, and kept encrypted with the installation's master key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from shared.errors import InvalidRequest
from sync_server.checkout.models import CheckoutSettingsRow
from sync_server.config import Config
from sync_server.plumbing.sealing import Sealer

_FORMS: Final = {
    "stripe_secret_key": (re.compile(r"(sk|rk)_(test|live)_[A-Za-z0-9_]{8,240}"), "begins with sk_ or rk_"),
    "stripe_publishable_key": (re.compile(r"pk_(test|live)_[A-Za-z0-9_]{8,240}"), "begins with pk_"),
    "stripe_webhook_secret": (re.compile(r"whsec_[A-Za-z0-9+/=_]{8,240}"), "begins with whsec_"),
}
FIELDS: Final = frozenset(_FORMS)


def purpose(what: str, organisation_id: str) -> str:
    """What a secret is sealed for: "key" or "webhook secret", and whose."""
    return f"stripe {what} of {organisation_id}"


def sealed_columns(sealer: Sealer, row: CheckoutSettingsRow, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that follow from these fields of a change; an empty text removes a key."""
    columns: dict[str, Any] = {}
    for field in sorted(FIELDS & changes.keys()):
        value = _checked(field, changes[field])
        if field == "stripe_publishable_key":
            columns[field] = value
        elif field == "stripe_secret_key":
            columns["stripe_sealed_key"] = _sealed(sealer, value, purpose("key", row.organisation_id))
            columns["stripe_key_ending"] = value[-4:]
        else:
            whose = purpose("webhook secret", row.organisation_id)
            columns["stripe_sealed_webhook_secret"] = _sealed(sealer, value, whose)
    _require_one_mode(changes)
    return columns


def _checked(field: str, text: str) -> str:
    form, begins = _FORMS[field]
    if text and not form.fullmatch(text):
        raise InvalidRequest(
            f"{field}: this is not such a key, which {begins}. Copy it from Stripe's dashboard, under Developers.",
            field=field,
            code="bad_stripe_key",
        )
    return text


def _sealed(sealer: Sealer, value: str, whose: str) -> bytes | None:
    return sealer.seal(value.encode(), whose) if value else None


def _require_one_mode(changes: Mapping[str, Any]) -> None:
    modes = {"_live_" in changes[name] for name in ("stripe_secret_key", "stripe_publishable_key") if changes.get(name)}
    if len(modes) > 1:
        raise InvalidRequest(
            "One of these keys is for tests, the other for real payments. Take both from the same mode.",
            field="stripe_publishable_key",
            code="stripe_keys_differ",
        )


def is_ready(row: CheckoutSettingsRow) -> bool:
    """Whether payments can be taken, and are told of."""
    return bool(row.stripe_sealed_key and row.stripe_publishable_key and row.stripe_sealed_webhook_secret)


def webhook_url(config: Config, organisation_id: str) -> str:
    """Where Stripe is to tell of an organisation's payments."""
    return f"{config.base_url.rstrip('/')}/api/stripe/{organisation_id}"
