"""Verifies and exports the audit log of this installation, and erases personal values from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from shared.errors import InvalidRequest, NotFound
from sync_server.accounts import queries as accounts
from sync_server.archives.audit_log import putting_away, segment_check
from sync_server.audit import erasure, export, queries, rules
from sync_server.audit.chain_check import ChainPosition
from sync_server.audit.proof import Proof, prove
from sync_server.commands.audit_file import break_json, parse_place
from sync_server.commands.console import echo, open_runtime, operator_context, print_json
from sync_server.commands.people import organisation_id
from sync_server.devices import identity
from sync_server.plumbing.api.schemas import iso_or_none
from sync_server.runtime import ServerRuntime

DAY_MS = 24 * 3_600_000
SEALING_OVERDUE_MS = 60_000


@dataclass(frozen=True, slots=True)
class ErasureTarget:
    """Whose values to erase: exactly one of the three is set."""

    user: str | None
    person: str | None
    older_than_days: int | None


def verify(org: str | None, noted: Sequence[str]) -> bool:
    """Verify every chain, or one organisation's, and print the results; whether all are intact."""
    positions = list(map(parse_place, noted))
    if positions and org is None:
        raise InvalidRequest("A noted position belongs to one chain. Name its organisation with --org SLUG.")
    with open_runtime() as runtime:
        found = list(_proofs(runtime, org, positions))
        now = runtime.parts.clock()
    for name, proof in found:
        print_json(_proof_json(name, proof))
        echo(_summary(name or "the installation", proof, now))
    return not any(proof.broken for _, proof in found)


def export_log(org: str | None, after_seq: int) -> None:
    """Print the sealed log of an organisation, or of the installation."""
    with open_runtime() as runtime:
        with runtime.parts.database.reading() as session:
            chain = rules.INSTALLATION if org is None else organisation_id(session, org)
        _print(export.export_lines(runtime.parts.database, chain, after_seq=after_seq))


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)


def erase(target: ErasureTarget, org: str | None, reason: str) -> None:
    """Erase these values from the log, and print how many there were."""
    if sum(value is not None for value in (target.user, target.person, target.older_than_days)) != 1:
        raise InvalidRequest("Give one of --user, --person and --older-than-days.")
    with open_runtime() as runtime, runtime.parts.database.writing() as session:
        scope = None if org is None else organisation_id(session, org)
        context = operator_context(runtime)
        if target.older_than_days is not None:
            before = context.now - target.older_than_days * DAY_MS
            count = erasure.erase_older(session, before, context, reason=reason, organisation_id=scope)
        else:
            kind, id = _person(session, target.user, target.person, scope)
            count = erasure.erase_person(session, kind, id, context, reason=reason, organisation_id=scope)
    print_json({"erased": count})
    echo(f"Erased {count} values. Earlier backups still contain them.")


def put_away(org: str | None, older_than_days: int) -> None:
    """Put the lines of a chain away that are older than this, and print how many have left the table."""
    with open_runtime() as runtime:
        parts, chain = runtime.parts, _chain(runtime, org)
        key = partial(identity.private_key, sealer=parts.sealer)
        before = parts.clock() - older_than_days * DAY_MS
        count = sum(putting_away.put_away(parts.database, parts.config, key, chain, before, least=1))
    print_json({"put_away": count})


def restore(org: str | None) -> None:
    """Bring the lines of the newest file of a chain back, and print how many there are."""
    with open_runtime() as runtime:
        count = segment_check.restore(runtime.parts.database, runtime.parts.config, _chain(runtime, org))
    print_json({"restored": count})


def _chain(runtime: ServerRuntime, org: str | None) -> str:
    with runtime.parts.database.reading() as session:
        return rules.INSTALLATION if org is None else organisation_id(session, org)


def _proofs(runtime: ServerRuntime, org: str | None, noted: list[ChainPosition]) -> Iterator[tuple[str | None, Proof]]:
    with runtime.parts.database.reading() as session:
        public = identity.public_key(session, runtime.parts.sealer)
        chains = queries.chains(session) if org is None else [organisation_id(session, org)]
        slugs = {row.id: row.slug for row in accounts.organisations(session)}
    for chain in chains:
        with runtime.parts.database.reading() as session:
            proof = prove(session, chain, public=public, known=noted)
        broken = segment_check.check(runtime.parts.database, runtime.parts.config, chain, public, noted)
        yield slugs.get(chain), proof if broken is None else replace(proof, broken=broken)


def _proof_json(name: str | None, proof: Proof) -> dict[str, Any]:
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
        "broken_at": break_json(proof.broken),
    }


def _summary(name: str, proof: Proof, now: int) -> str:
    if proof.broken is not None:
        line = f" ({proof.broken.line_id})" if proof.broken.line_id else ""
        return f"BROKEN {name}: at line {proof.broken.seq}{line}. {proof.broken.problem}"
    summary = f"ok     {name}: {proof.reached.seq} lines sealed, {proof.waiting} not sealed yet."
    late = proof.waiting_since is not None and now - proof.waiting_since > SEALING_OVERDUE_MS
    return f"{summary} Sealing is late: is a worker running?" if late else summary


def _person(session: Session, user: str | None, person: str | None, scope: str | None) -> tuple[str, str]:
    if user is not None:
        row = accounts.user_by_email(session, user) if "@" in user else None
        if "@" in user and row is None:
            raise NotFound(f"There is no login {user!r}. Give the id that the log lines show.")
        return "user", user if row is None else row.id
    kind, _, id = (person or "").partition(":")
    if not kind or not id:
        raise InvalidRequest("Write --person KIND:ID as in the log lines, such as supervisor:3.")
    if scope is None and kind == "supervisor":
        raise InvalidRequest("Supervisor numbers belong to an organisation. Name it with --org SLUG.")
    return kind, id
