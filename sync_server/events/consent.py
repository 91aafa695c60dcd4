"""A short-lived word of consent: it names exactly what was told, and stands for nothing else."""

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

LASTS_MS: Final = 10 * 60_000


def ask(sealer: Sealer, purpose: str, told: Mapping[str, Any], now: Millis) -> str:
    """What somebody sends back who agrees to what was told."""
    sealed = sealer.seal(orjson.dumps([_print(told), now + LASTS_MS]), purpose)
    return base64.urlsafe_b64encode(sealed).decode().rstrip("=")


def given(sealer: Sealer, purpose: str, told: Mapping[str, Any], token: str, now: Millis) -> bool:
    """Whether this is the consent to just that, and still fresh."""
    try:
        sealed = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        seen, until = orjson.loads(sealer.open(sealed, purpose))
    except (binascii.Error, ValueError, StorageError):
        return False
    return bool(seen == _print(told) and now < until)


def _print(told: Mapping[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(told, option=orjson.OPT_SORT_KEYS)).hexdigest()
