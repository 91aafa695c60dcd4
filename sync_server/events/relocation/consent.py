"""Short-lived consent tokens, each valid for exactly the consequences that were shown."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from typing import Any, Final

import orjson

from shared.clock import Millis
from shared.errors import StorageError
from sync_server.plumbing.sealing import Sealer

TOKEN_LIFETIME_MS: Final = 10 * 60_000


def issue_token(sealer: Sealer, purpose: str, shown: Mapping[str, Any], now: Millis) -> str:
    """A token that somebody sends back to agree to what was shown."""
    sealed = sealer.seal(orjson.dumps([_fingerprint(shown), now + TOKEN_LIFETIME_MS]), purpose)
    return base64.urlsafe_b64encode(sealed).decode().rstrip("=")


def token_is_valid(sealer: Sealer, purpose: str, shown: Mapping[str, Any], token: str, now: Millis) -> bool:
    """Whether the token is for exactly this, and has not expired."""
    try:
        sealed = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        fingerprint, expires_at = orjson.loads(sealer.open(sealed, purpose))
    except (binascii.Error, ValueError, StorageError):
        return False
    return bool(fingerprint == _fingerprint(shown) and now < expires_at)


def _fingerprint(shown: Mapping[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(shown, option=orjson.OPT_SORT_KEYS)).hexdigest()
