"""The secret of an order's link: made from the master key, stored nowhere, compared without leaking time."""

from __future__ import annotations

import hmac

from sync_server.plumbing.sealing import Sealer


def secret_of(sealer: Sealer, organisation_id: str, order_id: str) -> str:
    """64 hexadecimal digits that nobody can guess without the master key."""
    return sealer.keyed_hash(order_id, f"link of an order of {organisation_id}")


def opens(sealer: Sealer, organisation_id: str, order_id: str, secret: str) -> bool:
    """Whether this is the secret of the order."""
    return hmac.compare_digest(secret_of(sealer, organisation_id, order_id).encode(), secret.encode())
