"""Signing keys and the master key, as the operator handles them."""

from __future__ import annotations

from typing import Any

from shared.errors import Conflict
from sync_server import config as settings
from sync_server.commands.ground import deed, ground
from sync_server.commands.people import organisation_id
from sync_server.plumbing import sealing
from sync_server.tickets import service, signing

BATCH = 500


def list_keys(slug: str) -> list[dict[str, Any]]:
    """The keys of an organisation."""
    with ground() as here, here.parts.database.reading() as session:
        return [
            {"id": row.id, "state": row.state, "tickets": signing.signed_by(session, row.id)}
            for row in signing.keys(session, organisation_id(session, slug))
        ]


def rotate(slug: str, *, at_once: bool) -> dict[str, Any]:
    """A new key."""
    with ground() as here, here.parts.database.writing() as session:
        row = signing.rotate(session, organisation_id(session, slug), here.parts.sealer, deed(here), at_once=at_once)
        return {"id": row.id, "state": row.state, "signs_from": row.signs_from}


def revoke(slug: str, key_id: int, *, kills: int | None, reason: str, reissue: bool) -> dict[str, Any]:
    """Revoke a key; with `reissue`, give its tickets new codes, signed by the present key."""
    with ground() as here:
        database = here.parts.database
        with database.writing() as session:
            mine = organisation_id(session, slug)
            row = signing.key(session, mine, key_id)
            if reissue and signing.signing_key(session, mine, here.parts.clock()).id == row.id:
                signing.rotate(session, mine, here.parts.sealer, deed(here), at_once=True)
            signing.revoke(session, mine, key_id, deed(here), kills=-1 if kills is None else kills, reason=reason)
        return {"id": key_id, "state": "revoked", "reissued": _reissue_all(here, mine, key_id) if reissue else 0}


def _reissue_all(here: Any, organisation: str, key_id: int) -> int:
    total = 0
    while True:
        with here.parts.database.writing() as session:
            done = service.reissue_signed_by(session, organisation, key_id, deed(here), limit=BATCH)
        total += done
        if done < BATCH:
            return total


def make_master(entropy: Any) -> str:
    """A master key in a new file; never overwrites one."""
    path = settings.from_environment().key_file
    if path.exists():
        raise Conflict(f"There is a master key at {path} already. Without it nothing sealed can be opened: keep it.")
    sealing.make(path, entropy)
    return str(path)
