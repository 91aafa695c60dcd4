"""Codes of authenticator apps (RFC 6238): six digits from a shared secret and the time, pure."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Final
from urllib.parse import quote

from shared.clock import Millis

STEP_MS: Final = 30_000
DIGITS: Final = 6
SECRET_BYTES: Final = 20
_STEPS_OFF: Final = 1
"""Phones and servers disagree about the time, and people type slowly."""


def code_at(secret: bytes, step: int, digits: int = DIGITS) -> str:
    """The code of this step of time."""
    mac = hmac.digest(secret, step.to_bytes(8, "big"), hashlib.sha1)  # what every app computes
    at = mac[-1] & 0xF
    number = int.from_bytes(mac[at : at + 4], "big") & 0x7FFF_FFFF
    return f"{number % 10**digits:0{digits}d}"


def matching_step(secret: bytes, code: str, now: Millis) -> int | None:
    """The step that this code is of, around now; None if it is wrong."""
    present = now // STEP_MS
    steps = range(present - _STEPS_OFF, present + _STEPS_OFF + 1)
    return next((step for step in steps if hmac.compare_digest(code_at(secret, step).encode(), code.encode())), None)


def uri(secret: bytes, login: str, issuer: str = "Gatehouse") -> str:
    """What an app reads from a QR code."""
    return f"otpauth://totp/{quote(issuer)}:{quote(login)}?secret={text(secret)}&issuer={quote(issuer)}"


def text(secret: bytes) -> str:
    """The secret for typing in."""
    return base64.b32encode(secret).decode().rstrip("=")
