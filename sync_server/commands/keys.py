"""Commands of signing keys and the master key."""

from __future__ import annotations

from typing import Any

from shared.errors import Conflict
from sync_server import config as settings
from sync_server.commands.console import open_runtime, operator_context
from sync_server.commands.people import organisation_id
from sync_server.plumbing import sealing
from sync_server.tickets import service, ticket_counts
from sync_server.tickets.keys import signing_keys

BATCH = 500


def list_keys(slug: str) -> list[dict[str, Any]]:
    """The signing keys of an organisation, with the number of tickets each has signed."""
    with open_runtime() as runtime, runtime.parts.database.reading() as session:
        owner_id = organisation_id(session, slug)
        tickets = ticket_counts.signed_by_keys(session, owner_id)
        return [
            {"id": row.id, "state": row.state, "tickets": tickets.get(row.id, 0)}
            for row in signing_keys.keys(session, owner_id)
        ]


def rotate(slug: str, *, at_once: bool) -> dict[str, Any]:
    """Create a signing key."""
    with open_runtime() as runtime, runtime.parts.database.writing() as session:
        row = signing_keys.rotate(
            session, organisation_id(session, slug), runtime.parts.sealer, operator_context(runtime), at_once=at_once
        )
        return {"id": row.id, "state": row.state, "signs_from": row.signs_from}


def revoke(slug: str, key_id: int, *, kills: int | None, reason: str, reissue: bool) -> dict[str, Any]:
    """Revoke a key; with `reissue`, give its tickets new codes, signed with the current key."""
    with open_runtime() as runtime:
        database = runtime.parts.database
        with database.writing() as session:
            owner_id = organisation_id(session, slug)
            row = signing_keys.key(session, owner_id, key_id)
            if reissue and signing_keys.signing_key(session, owner_id, runtime.parts.clock()).id == row.id:
                signing_keys.rotate(session, owner_id, runtime.parts.sealer, operator_context(runtime), at_once=True)
            signing_keys.revoke(
                session,
                owner_id,
                key_id,
                operator_context(runtime),
                kills=-1 if kills is None else kills,
                reason=reason,
            )
        return {"id": key_id, "state": "revoked", "reissued": _reissue_all(runtime, owner_id, key_id) if reissue else 0}


def _reissue_all(runtime: Any, organisation: str, key_id: int) -> int:
    total = 0
    while True:
        with runtime.parts.database.writing() as session:
            done = service.reissue_signed_by(session, organisation, key_id, operator_context(runtime), limit=BATCH)
        total += done
        if done < BATCH:
            return total


def make_master(entropy: Any) -> str:
    """Create the master key file; never overwrites one."""
    path = settings.from_environment().key_file
    if path.exists():
        raise Conflict(f"There is already a master key at {path}. Keep it: without it, encrypted data is lost.")
    sealing.make(path, entropy)
    return str(path)
