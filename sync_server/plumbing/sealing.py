"""Encrypts small secrets for the database, and hashes guessable texts with a key: both by the master key."""

from __future__ import annotations

import hashlib
import hmac
import os
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from shared.errors import SettingsError, StorageError
from shared.ids import Entropy

KEY_BYTES = 32
_NONCE = 12
_HASH_LABEL = b"gatehouse marks of words"


class Sealer:
    """Seals and opens small secrets, and makes keyed hashes; the result for one purpose is useless for another."""

    def __init__(self, key: bytes, entropy: Entropy) -> None:
        """`key` is the installation's master key of 32 bytes."""
        self._cipher = ChaCha20Poly1305(key)
        self._hash_key = hmac.digest(key, _HASH_LABEL, hashlib.sha256)  # never one key for two algorithms
        self._entropy = entropy

    def seal(self, plain: bytes, purpose: str) -> bytes:
        """Nonce and ciphertext; `purpose` says what it is for and whose it is."""
        nonce = self._entropy(_NONCE)
        return nonce + self._cipher.encrypt(nonce, plain, purpose.encode())

    def open(self, sealed: bytes, purpose: str) -> bytes:
        """The plain text of what was sealed for this purpose; StorageError with another master key."""
        try:
            return self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], purpose.encode())
        except (InvalidTag, ValueError):
            raise StorageError(
                "A sealed secret cannot be opened: the master key is not the one it was sealed with. "
                "Put the right key file back in its place and start again.",
                code="wrong_master_key",
            ) from None

    def keyed_hash(self, text: str, purpose: str) -> str:
        """64 hexadecimal digits, the same for the same text; nobody can guess texts without the master key."""
        return hmac.new(self._hash_key, f"{purpose}\0{text}".encode(), hashlib.sha256).hexdigest()


def load_or_make(path: Path, entropy: Entropy, *, may_make: bool) -> bytes:
    """The master key in this file; created on the first start where that is allowed."""
    if os.path.lexists(path):
        return _checked(path)
    if not may_make:
        raise SettingsError(
            f"There is no master key at {path}. Put your copy of it there, or set its path in "
            "GATEHOUSE_MASTER_KEY_FILE. A new installation makes one, once, for all its processes: "
            "`gatehouse-server key master`; keep a copy in a safe place."
        )
    return make(path, entropy)


def make(path: Path, entropy: Entropy) -> bytes:
    """Create a master key in a file that only its owner may read; never overwrites one."""
    key = entropy(KEY_BYTES)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as problem:
        if path.is_file():
            return _checked(path)
        raise SettingsError(
            f"The master key cannot be made at {path}: {problem.strerror}. Let the user who runs this write there, "
            "or name another place in GATEHOUSE_MASTER_KEY_FILE."
        ) from None
    with os.fdopen(handle, "w") as file:
        file.write(key.hex() + "\n")
    return key


def _checked(path: Path) -> bytes:
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except OSError as problem:
        raise SettingsError(
            f"The master key in {path} cannot be read: {problem.strerror}. Let the user who runs this read it, "
            "or name another file in GATEHOUSE_MASTER_KEY_FILE."
        ) from None
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise SettingsError(
            f"{path} does not hold a master key: {2 * KEY_BYTES} hexadecimal digits are expected. "
            "Put your copy of the key there, or name another file in GATEHOUSE_MASTER_KEY_FILE."
        )
    return key
