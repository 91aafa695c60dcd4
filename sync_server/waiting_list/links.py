"""The secret with which a party comes back to its place and its offer: made from the master key, stored nowhere."""

from __future__ import annotations

import hmac

from sync_server.plumbing.parts import Parts
from sync_server.plumbing.sealing import Sealer


def secret_of(sealer: Sealer, organisation_id: str, party_id: str) -> str:
    """64 hexadecimal digits that nobody can guess without the master key."""
    return sealer.keyed_hash(party_id, f"link of a waiting party of {organisation_id}")


def opens(sealer: Sealer, organisation_id: str, party_id: str, secret: str) -> bool:
    """Whether this is the secret of the party."""
    return hmac.compare_digest(secret_of(sealer, organisation_id, party_id).encode(), secret.encode())


def url(parts: Parts, slug: str, organisation_id: str, party_id: str) -> str:
    """The address of a party's place and offer. What is secret stands behind #, where no log and no proxy sees it."""
    secret = secret_of(parts.sealer, organisation_id, party_id)
    return f"{parts.config.base_url.rstrip('/')}/o/{slug}/waiting#{party_id}.{secret}"
