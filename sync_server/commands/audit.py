"""The audit log as the operator handles it: proved, taken away, and rid of a person's values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from sqlalchemy.orm import Session

from shared.errors import InvalidRequest, NotFound
from sync_server.accounts import queries as accounts
from sync_server.app import Ground
from sync_server.audit import erasing, export, queries
from sync_server.audit.carried import prove_file
from sync_server.audit.following import BEGINNING, Break, Place
from sync_server.audit.proof import Proof, prove
from sync_server.commands.ground import deed, ground, say, tell
from sync_server.commands.people import organisation_id
from sync_server.devices import identity
from sync_server.plumbing.shapes import iso_or_none

DAY_MS = 24 * 3_600_000
OVERDUE_MS = 60_000
_PLACE = re.compile(r"(\d{1,18}):([0-9a-fA-F]{64})")

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The audit log.")

Org = Annotated[str | None, typer.Option("--org", help="The organisation's slug.")]
Noted = Annotated[
    list[str] | None, typer.Option("--noted", help="SEQ:SEAL that you noted earlier; it must lie in the chain.")
]
Why = Annotated[str, typer.Option(help="Why; it stands in the audit log.")]


@app.command("verify")
def verify(org: Org = None, noted: Noted = None) -> None:
    """Follow every chain, or one organisation's; say how far it is sealed and which line is the first broken one."""
    places = list(map(place, noted or ()))
    if places and org is None:
        raise InvalidRequest("A noted place belongs to one chain: say whose with --org SLUG.")
    with ground() as here:
        found = list(_proofs(here, org, places))
        now = here.parts.clock()
    for name, proof in found:
        tell(_as_told(name, proof))
        say(_in_words(name or "the installation", proof, now))
    if any(proof.broken for _, proof in found):
        raise typer.Exit(1)


def _proofs(here: Ground, org: str | None, noted: list[Place]) -> Iterator[tuple[str | None, Proof]]:
    with here.parts.database.reading() as session:
        public = identity.public_key(session, here.parts.sealer)
        chains = queries.chains(session) if org is None else [organisation_id(session, org)]
        slugs = {row.id: row.slug for row in accounts.organisations(session)}
    for chain in chains:
        with here.parts.database.reading() as session:
            yield slugs.get(chain), prove(session, chain, public=public, known=noted)


def place(text: str) -> Place:
    """SEQ:SEAL as `verify` prints them; InvalidRequest for anything else."""
    found = _PLACE.fullmatch(text.strip())
    if found is None:
        raise InvalidRequest(f"{text!r} is no place in a chain. Write SEQ:SEAL, as `audit verify` prints them.")
    return Place(int(found[1]), bytes.fromhex(found[2]))


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
        "broken_at": _break_as_told(proof.broken),
    }


def _break_as_told(broken: Break | None) -> dict[str, Any] | None:
    if broken is None:
        return None
    return {"seq": broken.seq, "line": broken.line_id, "problem": broken.problem}


def _in_words(name: str, proof: Proof, now: int) -> str:
    if proof.broken is not None:
        line = f" ({proof.broken.line_id})" if proof.broken.line_id else ""
        return f"BROKEN {name}: at line {proof.broken.seq}{line}. {proof.broken.problem}"
    words = f"fine   {name}: {proof.reached.seq} lines sealed, {proof.waiting} not sealed yet."
    late = proof.waiting_since is not None and now - proof.waiting_since > OVERDUE_MS
    return f"{words} Some wait for long: is a worker running?" if late else words


@app.command("check")
def check(
    file: Annotated[Path, typer.Argument(help="What `audit export` or the API gave.")],
    public_key: Annotated[
        str | None, typer.Option(help="The server's public key: the head must be signed by it.")
    ] = None,
    after: Annotated[str | None, typer.Option(help="SEQ:SEAL where the export before this one ended.")] = None,
    noted: Noted = None,
) -> None:
    """Follow an exported file; it needs neither database nor settings."""
    start = BEGINNING if after is None else place(after)
    with _opened(file) as lines:
        found = prove_file(lines, start=start, public=_key(public_key), known=map(place, noted or ()))
    reached = {"sealed": found.place.seq, "seal": found.place.seal.hex(), "erased": found.erased}
    tell({"ok": found.broken is None} | reached | {"broken_at": _break_as_told(found.broken)})
    if found.broken is not None:
        say(f"BROKEN at line {found.broken.seq}. {found.broken.problem}")
        raise typer.Exit(1)
    say(f"fine   {found.place.seq - start.seq} lines hold together.")


def _opened(file: Path) -> Any:
    try:
        return file.open(encoding="utf-8", errors="replace")
    except OSError as problem:
        raise NotFound(f"{file} cannot be read: {problem.strerror}.") from None


def _key(text: str | None) -> bytes | None:
    if text is None:
        return None
    if not re.fullmatch("[0-9a-fA-F]{64}", text):
        raise InvalidRequest("A public key has 64 hexadecimal digits; GET /api/audit/seal shows it.")
    return bytes.fromhex(text)


@app.command("export")
def take_away(
    org: Org = None, after_seq: Annotated[int, typer.Option(min=0, help="What was sealed after this line only.")] = 0
) -> None:
    """Print the sealed log of an organisation, or of the installation, as JSON lines with the head last."""
    with ground() as here:
        with here.parts.database.reading() as session:
            chain = queries.INSTALLATION if org is None else organisation_id(session, org)
        _print(export.written(here.parts.database, chain, after_seq=after_seq))


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)


@app.command("erase")
def erase(
    reason: Why,
    user: Annotated[str | None, typer.Option(help="Somebody of the staff, by id or e-mail address.")] = None,
    person: Annotated[str | None, typer.Option(help="Anybody as KIND:ID, as lines name them: supervisor:3.")] = None,
    older_than_days: Annotated[int | None, typer.Option(min=1, help="Everybody, in lines older than this.")] = None,
    org: Org = None,
) -> None:
    """Erase addresses, names and the like from the log; lines and seals stay whole. There is no way back."""
    if sum(wish is not None for wish in (user, person, older_than_days)) != 1:
        raise InvalidRequest("Say whose values: one of --user, --person and --older-than-days.")
    with ground() as here, here.parts.database.writing() as session:
        where = None if org is None else organisation_id(session, org)
        doing = deed(here)
        if older_than_days is not None:
            before = doing.now - older_than_days * DAY_MS
            count = erasing.erase_older(session, before, doing, reason=reason, organisation_id=where)
        else:
            kind, id = _person(session, user, person, where)
            count = erasing.erase_person(session, kind, id, doing, reason=reason, organisation_id=where)
    tell({"erased": count})
    say(f"{count} values are erased. Backups made before still hold them.")


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
