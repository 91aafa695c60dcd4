"""The device's identity: its number, key pair and server, in a file that only its owner can read."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from shared.errors import StorageError


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """What enrolment returned."""

    server: str
    device_number: int
    device_id: str
    device_name: str
    organisation: str
    organisation_name: str
    device_private: bytes
    server_public: bytes

    def key(self) -> Ed25519PrivateKey:
        """The device's private key, which is its credential."""
        return Ed25519PrivateKey.from_private_bytes(self.device_private)

    def server_key(self) -> Ed25519PublicKey:
        """The key that the server's responses are verified with."""
        return Ed25519PublicKey.from_public_bytes(self.server_public)

    def __repr__(self) -> str:
        """Leaves out the private key."""
        return f"Identity(device {self.device_number} of {self.organisation_name})"


def load(path: Path) -> Identity | None:
    """The identity stored at `path`; None before the first enrolment. Raises StorageError."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Identity)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as why:
        raise StorageError(f"{path} cannot be read: {why.strerror}.") from why
    except msgspec.MsgspecError as why:
        raise StorageError(f"{path.name} is damaged ({why}). Enrol this gate again; its journal is kept.") from why


def keep(path: Path, identity: Identity) -> None:
    """Replaces the identity file, whole or not at all. Raises StorageError."""
    replace_whole(path, msgspec.json.format(msgspec.json.encode(identity)))


def replace_whole(path: Path, content: bytes) -> None:
    """Replaces a file atomically: writes a new one beside it, syncs it, renames it. Raises StorageError."""
    fresh = path.with_suffix(".fresh")
    try:
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
        sync_folder(path.parent)
    except OSError as why:
        raise StorageError(f"{path.name} cannot be written: {why.strerror}.") from why


def sync_folder(folder: Path) -> None:
    """Syncs a folder, so that a new name in it survives a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
