"""Argon2id for passwords and PINs, and hashes of tokens."""

from __future__ import annotations

import base64
import hashlib
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from shared.ids import Entropy

_SALT = 16
# Gates check PINs on a Raspberry Pi, which takes about a tenth of a second for 19 MiB and two passes.
_HASHER = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
_PREFIX = "ght_"


def hash_secret(secret: str, entropy: Entropy) -> str:
    """The argon2id verifier of a password or PIN."""
    return _HASHER.hash(secret, salt=entropy(_SALT))


def matches(verifier: str, secret: str) -> bool:
    """Whether the secret is the one that the verifier was made from."""
    try:
        return _HASHER.verify(verifier, secret)
    except (VerificationError, InvalidHashError):
        return False


@cache
def decoy_verifier() -> str:
    """A verifier for logins that do not exist, so that checking them takes as long as checking real ones."""
    return _HASHER.hash("nobody", salt=bytes(_SALT))


def new_token(entropy: Entropy) -> str:
    """A new token of 256 random bits."""
    return _PREFIX + base64.urlsafe_b64encode(entropy(32)).decode().rstrip("=")


def token_hash(token: str) -> bytes:
    """The stored form of a token. Plain SHA-256 is enough, because 256 random bits cannot be guessed."""
    return hashlib.sha256(token.encode()).digest()
