"""The key pair that identifies this installation to gates: generated on first use, sealed at rest."""

from __future__ import annotations

import threading

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from flask import current_app
from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.devices.models import ServerIdentity
from sync_server.plumbing.database import Database, database_of
from sync_server.plumbing.parts import parts
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.sql import writes

_PURPOSE = "server identity"
_EXTENSION = "gatehouse.server_key"


class ServerKey:
    """The server's signing key, read from the database once per process."""

    def __init__(self, database: Database, sealer: Sealer) -> None:
        """The key is read on first use."""
        self._database = database
        self._sealer = sealer
        self._lock = threading.Lock()
        self._private: Ed25519PrivateKey | None = None
        self._public = b""

    @property
    def private(self) -> Ed25519PrivateKey:
        """The key that signs every answer to a gate."""
        with self._lock:
            if self._private is None:
                self._private = self._read()
                self._public = self._private.public_key().public_bytes_raw()
        return self._private

    @property
    def public(self) -> bytes:
        """The public key by which gates identify the server, 32 bytes."""
        return self._public or self.private.public_key().public_bytes_raw()

    def _read(self) -> Ed25519PrivateKey:
        with self._database.reading() as session:
            row = session.get(ServerIdentity, 1)
        if row is not None:
            return _unsealed(row, self._sealer)
        with self._database.writing() as session:
            return private_key(session, self._sealer)


def _create(session: Session, sealer: Sealer, now: Millis) -> ServerIdentity:
    """Insert the identity unless another process was first; returns the stored one."""
    private = Ed25519PrivateKey.from_private_bytes(database_of(session).entropy(32))
    sealed = sealer.seal(private.private_bytes_raw(), _PURPOSE)
    row = {"id": 1, "public_key": private.public_key().public_bytes_raw(), "sealed": sealed, "created_at": now}
    session.execute(writes.insert(session, ServerIdentity).values(row).on_conflict_do_nothing())
    return session.execute(select(ServerIdentity)).scalar_one()


def private_key(session: Session, sealer: Sealer) -> Ed25519PrivateKey:
    """The signing key, read in the caller's write transaction; on SQLite a second one would deadlock."""
    return _unsealed(session.get(ServerIdentity, 1) or _create(session, sealer, database_of(session).clock()), sealer)


def _unsealed(row: ServerIdentity, sealer: Sealer) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(sealer.open(row.sealed, _PURPOSE))


def public_key(session: Session, sealer: Sealer) -> bytes | None:
    """The public key, derived from the private key rather than the row; None where no key exists yet."""
    row = session.get(ServerIdentity, 1)
    return None if row is None else _unsealed(row, sealer).public_key().public_bytes_raw()


def server_key() -> ServerKey:
    """The key of the current app."""
    extensions = current_app.extensions
    existing: ServerKey | None = extensions.get(_EXTENSION)
    return existing or extensions.setdefault(_EXTENSION, ServerKey(parts().database, parts().sealer))
