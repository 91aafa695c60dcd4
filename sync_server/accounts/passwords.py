"""Argon2id for passwords and PINs, and hashes of tokens."""

from __future__ import annotations

import base64
import hashlib
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from shared.ids import Entropy

_SALT = 16
# Gates check PINs on a Pi: 19 MiB and two passes take it about a tenth of a second.
_HASHER = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
_MARK = "ght_"


def hashed(secret: str, entropy: Entropy) -> str:
    """The argon2id verifier of a password or PIN."""
    return _HASHER.hash(secret, salt=entropy(_SALT))


def fits(verifier: str, secret: str) -> bool:
    """Whether this is the secret behind the verifier."""
    try:
        return _HASHER.verify(verifier, secret)
    except (VerificationError, InvalidHashError):
        return False


@cache
def nobodys() -> str:
    """A verifier that fits nothing: checking it takes as long as checking somebody's."""
    return _HASHER.hash("nobody", salt=bytes(_SALT))


def new_token(entropy: Entropy) -> str:
    """256 random bits as text."""
    return _MARK + base64.urlsafe_b64encode(entropy(32)).decode().rstrip("=")


def token_hash(token: str) -> bytes:
    """What is kept of a token. Plain SHA-256 is enough: there is nothing to guess in 256 random bits."""
    return hashlib.sha256(token.encode()).digest()


def tally_key(kind: str, value: str) -> bytes:
    """How failures of one account or address are counted without writing down whose they are."""
    return hashlib.sha256(f"{kind}\x00{value}".encode()).digest()
