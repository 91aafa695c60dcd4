"""The audit log of this installation: its chains proved and taken away, and a person's values erased."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from shared.errors import InvalidRequest, NotFound
from sync_server.accounts import queries as accounts
from sync_server.app import Ground
from sync_server.audit import erasing, export, queries
from sync_server.audit.following import Place
from sync_server.audit.proof import Proof, prove
from sync_server.commands.audit_file import break_as_told, place
from sync_server.commands.ground import deed, ground, say, tell
from sync_server.commands.people import organisation_id
from sync_server.devices import identity
from sync_server.plumbing.shapes import iso_or_none

DAY_MS = 24 * 3_600_000
OVERDUE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Whose:
    """Whose values are to go: one of the three."""

    user: str | None
    person: str | None
    older_than_days: int | None


def verify(org: str | None, noted: Sequence[str]) -> bool:
    """Follow every chain, or one organisation's, and tell of each; whether all are whole."""
    places = list(map(place, noted))
    if places and org is None:
        raise InvalidRequest("A noted place belongs to one chain: say whose with --org SLUG.")
    with ground() as here:
        found = list(_proofs(here, org, places))
        now = here.parts.clock()
    for name, proof in found:
        tell(_as_told(name, proof))
        say(_in_words(name or "the installation", proof, now))
    return not any(proof.broken for _, proof in found)


def take_away(org: str | None, after_seq: int) -> None:
    """Print the sealed log of an organisation, or of the installation."""
    with ground() as here:
        with here.parts.database.reading() as session:
            chain = queries.INSTALLATION if org is None else organisation_id(session, org)
        _print(export.written(here.parts.database, chain, after_seq=after_seq))


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)


def erase(whose: Whose, org: str | None, reason: str) -> None:
    """Erase these values from the log, and tell how many there were."""
    if sum(wish is not None for wish in (whose.user, whose.person, whose.older_than_days)) != 1:
        raise InvalidRequest("Say whose values: one of --user, --person and --older-than-days.")
    with ground() as here, here.parts.database.writing() as session:
        where = None if org is None else organisation_id(session, org)
        doing = deed(here)
        if whose.older_than_days is not None:
            before = doing.now - whose.older_than_days * DAY_MS
            count = erasing.erase_older(session, before, doing, reason=reason, organisation_id=where)
        else:
            kind, id = _person(session, whose.user, whose.person, where)
            count = erasing.erase_person(session, kind, id, doing, reason=reason, organisation_id=where)
    tell({"erased": count})
    say(f"{count} values are erased. Backups made before still hold them.")


def _proofs(here: Ground, org: str | None, noted: list[Place]) -> Iterator[tuple[str | None, Proof]]:
    with here.parts.database.reading() as session:
        public = identity.public_key(session, here.parts.sealer)
        chains = queries.chains(session) if org is None else [organisation_id(session, org)]
        slugs = {row.id: row.slug for row in accounts.organisations(session)}
    for chain in chains:
        with here.parts.database.reading() as session:
            yield slugs.get(chain), prove(session, chain, public=public, known=noted)


def _as_told(name: str | None, proof: Proof) -> dict[str, Any]:
    return {
        "organisation": name,
        "ok": proof.broken is None,
        "sealed": proof.reached.seq,
        "seal": proof.reached.seal.hex(),
        "sealed_at": iso_or_none(proof.sealed_at),
        "signed": proof.signed,
        "erased": proof.erased,
        "waiting": proof.waiting,
        "waiting_since": iso_or_none(proof.waiting_since),
        "broken_at": break_as_told(proof.broken),
    }


def _in_words(name: str, proof: Proof, now: int) -> str:
    if proof.broken is not None:
        line = f" ({proof.broken.line_id})" if proof.broken.line_id else ""
        return f"BROKEN {name}: at line {proof.broken.seq}{line}. {proof.broken.problem}"
    words = f"fine   {name}: {proof.reached.seq} lines sealed, {proof.waiting} not sealed yet."
    late = proof.waiting_since is not None and now - proof.waiting_since > OVERDUE_MS
    return f"{words} Some wait for long: is a worker running?" if late else words


def _person(session: Session, user: str | None, person: str | None, where: str | None) -> tuple[str, str]:
    if user is not None:
        known = accounts.user_by_email(session, user) if "@" in user else None
        if "@" in user and known is None:
            raise NotFound(f"There is no login {user!r}. Give the id, as the lines of the log have it.")
        return "user", user if known is None else known.id
    kind, _, id = (person or "").partition(":")
    if not kind or not id:
        raise InvalidRequest("Write --person KIND:ID, as the lines of the log name them: supervisor:3.")
    if where is None and kind == "supervisor":
        raise InvalidRequest("Every organisation has its own supervisor of that number: say which with --org SLUG.")
    return kind, id
