"""Signs messages by the Standard Webhooks scheme: HMAC-SHA256 over id, time and body."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterable
from typing import Final

from shared.ids import Entropy

PREFIX: Final = "whsec_"
_BYTES: Final = 32


def new_secret(entropy: Entropy) -> str:
    """A secret, as its receiver keeps it."""
    return PREFIX + base64.b64encode(entropy(_BYTES)).decode()


def signatures(secrets: Iterable[str], message_id: str, seconds: int, body: bytes) -> str:
    """The value of `webhook-signature`: one signature for each secret."""
    signed = f"{message_id}.{seconds}.".encode() + body
    return " ".join(f"v1,{_signature(secret, signed)}" for secret in secrets)


def _signature(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
