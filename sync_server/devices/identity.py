"""The key pair by which gates know this installation: made at its first use, sealed at rest."""

from __future__ import annotations

import threading

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from flask import current_app
from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.devices.models import ServerIdentity
from sync_server.plumbing.database import Database, of
from sync_server.plumbing.parts import parts
from sync_server.plumbing.sealing import Sealer

_PURPOSE = "server identity"
_EXTENSION = "gatehouse.server_key"


class ServerKey:
    """The server's signing key, read from the database once a process."""

    def __init__(self, database: Database, sealer: Sealer) -> None:
        """Opens nothing yet."""
        self._database = database
        self._sealer = sealer
        self._turn = threading.Lock()
        self._private: Ed25519PrivateKey | None = None
        self._public = b""

    @property
    def private(self) -> Ed25519PrivateKey:
        """Signs every answer to a gate."""
        with self._turn:
            if self._private is None:
                self._private = self._read()
                self._public = self._private.public_key().public_bytes_raw()
        return self._private

    @property
    def public(self) -> bytes:
        """What gates know the server by, 32 bytes."""
        return self._public or self.private.public_key().public_bytes_raw()

    def _read(self) -> Ed25519PrivateKey:
        with self._database.reading() as session:
            row = session.get(ServerIdentity, 1)
        if row is None:
            with self._database.writing() as session:
                row = _made(session, self._sealer, self._database.clock())
        return Ed25519PrivateKey.from_private_bytes(self._sealer.open(row.sealed, _PURPOSE))


def _made(session: Session, sealer: Sealer, now: Millis) -> ServerIdentity:
    """The one identity there is, whichever process was first to write it."""
    private = Ed25519PrivateKey.from_private_bytes(of(session).entropy(32))
    sealed = sealer.seal(private.private_bytes_raw(), _PURPOSE)
    row = {"id": 1, "public_key": private.public_key().public_bytes_raw(), "sealed": sealed, "created_at": now}
    dialect = sqlite if of(session).embedded else postgresql
    session.execute(dialect.insert(ServerIdentity).values(row).on_conflict_do_nothing())
    return session.execute(select(ServerIdentity)).scalar_one()


def private_key(session: Session, sealer: Sealer) -> Ed25519PrivateKey:
    """The same key within a transaction that is open for writing, where asking for another would wait for itself."""
    row = session.get(ServerIdentity, 1) or _made(session, sealer, of(session).clock())
    return Ed25519PrivateKey.from_private_bytes(sealer.open(row.sealed, _PURPOSE))


def public_key(session: Session, sealer: Sealer) -> bytes | None:
    """What signatures are checked with; None where the key was never needed. Told by the private key, not the row."""
    row = session.get(ServerIdentity, 1)
    if row is None:
        return None
    private = Ed25519PrivateKey.from_private_bytes(sealer.open(row.sealed, _PURPOSE))
    return private.public_key().public_bytes_raw()


def server_key() -> ServerKey:
    """The key of the server that is answering this request."""
    extensions = current_app.extensions
    known: ServerKey | None = extensions.get(_EXTENSION)
    return known or extensions.setdefault(_EXTENSION, ServerKey(parts().database, parts().sealer))
