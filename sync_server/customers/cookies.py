"""The cookie by which a guest is known: sealed with the master key, so that nothing is looked up to believe it."""

from __future__ import annotations

import base64
import binascii
import uuid
from dataclasses import dataclass

from shared.clock import Millis
from shared.errors import StorageError
from shared.ids import Entropy
from sync_server.plumbing.sealing import Sealer

_PURPOSE = "guest cookie"
_CSRF = 16
_LENGTH = 16 + 16 + 8 + _CSRF


@dataclass(frozen=True, slots=True)
class Card:
    """What the cookie holds."""

    guest_id: str
    organisation_id: str
    ends_at: Millis
    csrf: str


def new_csrf(entropy: Entropy) -> str:
    """What unsafe requests of this browser must show from now on."""
    return entropy(_CSRF).hex()


def written(card: Card, sealer: Sealer) -> str:
    """The cookie's text."""
    ids = uuid.UUID(card.guest_id).bytes + uuid.UUID(card.organisation_id).bytes
    plain = ids + card.ends_at.to_bytes(8, "big") + bytes.fromhex(card.csrf)
    return base64.urlsafe_b64encode(sealer.seal(plain, _PURPOSE)).decode().rstrip("=")


def read(text: str, sealer: Sealer, now: Millis) -> Card | None:
    """What a cookie says; None for one that is altered, of another installation, or over."""
    try:
        plain = sealer.open(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), _PURPOSE)
    except (StorageError, binascii.Error, ValueError):
        return None
    if len(plain) != _LENGTH:
        return None
    ends_at = int.from_bytes(plain[32:40], "big")
    guest, organisation = (str(uuid.UUID(bytes=plain[start : start + 16])) for start in (0, 16))
    return Card(guest, organisation, ends_at, plain[40:].hex()) if now < ends_at else None
