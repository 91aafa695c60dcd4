"""The guest cookie, sealed with the master key so that it can be verified without a database lookup."""

from __future__ import annotations

import base64
import binascii
import uuid
from dataclasses import dataclass
from functools import lru_cache

from shared.clock import Millis
from shared.errors import StorageError
from shared.ids import Entropy
from sync_server.plumbing.sealing import Sealer

_PURPOSE = "guest cookie"
_CSRF = 16
_LENGTH = 16 + 16 + 8 + _CSRF
_LONGEST = 200
"""Characters of a sealed cookie, with room to spare: what is longer is none, and is not kept."""


@dataclass(frozen=True, slots=True)
class GuestSession:
    """The content of a guest cookie."""

    guest_id: str
    organisation_id: str
    ends_at: Millis
    csrf: str


def new_csrf(entropy: Entropy) -> str:
    """A new CSRF token, which unsafe requests of this browser must send."""
    return entropy(_CSRF).hex()


def encode(guest: GuestSession, sealer: Sealer) -> str:
    """The value of the cookie."""
    ids = uuid.UUID(guest.guest_id).bytes + uuid.UUID(guest.organisation_id).bytes
    plain = ids + guest.ends_at.to_bytes(8, "big") + bytes.fromhex(guest.csrf)
    return base64.urlsafe_b64encode(sealer.seal(plain, _PURPOSE)).decode().rstrip("=")


def decode(text: str, sealer: Sealer, now: Millis) -> GuestSession | None:
    """The session in a cookie; None if it was altered, has expired, or comes from another installation."""
    found = _opened(text, sealer) if len(text) <= _LONGEST else None
    return found if found is not None and now < found.ends_at else None


@lru_cache(4096)
def _opened(text: str, sealer: Sealer) -> GuestSession | None:
    """The session, ended or not: a browser sends the same cookie with every request."""
    try:
        plain = sealer.open(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), _PURPOSE)
    except (StorageError, binascii.Error, ValueError):
        return None
    if len(plain) != _LENGTH:
        return None
    ends_at = int.from_bytes(plain[32:40], "big")
    guest_id, organisation_id = (str(uuid.UUID(bytes=plain[start : start + 16])) for start in (0, 16))
    return GuestSession(guest_id, organisation_id, ends_at, plain[40:].hex())
