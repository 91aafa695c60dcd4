"""Verifies a chain in the database: how far it is sealed, what is not sealed yet, and the first broken line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Untrusted
from sync_server.audit import queries, segments
from sync_server.audit.chain_check import (
    ChainBreak,
    ChainPosition,
    PersonalValues,
    SealedLine,
    check_chain,
    check_head,
    check_signature,
)
from sync_server.audit.models import ChainRow


@dataclass(frozen=True, slots=True)
class Proof:
    """The result of verifying one chain."""

    chain: str
    reached: ChainPosition
    sealed_at: Millis | None
    signed: bool
    erased: int
    waiting: int
    waiting_since: Millis | None
    broken: ChainBreak | None


def prove(session: Session, chain: str, *, public: bytes | None, known: Iterable[ChainPosition] = ()) -> Proof:
    """Check the chain from where its lines in the table begin: its start, unless some stand in files.

    `public` is the server's key, which must have signed its head.
    """
    start = segments.cut(session, chain)
    checked = check_chain(map(_sealed_line, queries.every_sealed(session, chain, after=start.seq)), start, known)
    head = queries.head(session, chain)
    at_head = None if head is None else ChainPosition(head.seq, head.seal)
    broken = checked.broken or check_head(checked.place, at_head) or _unsigned(head, public)
    waiting, since = queries.unsealed(session, chain)
    return Proof(
        chain=chain,
        reached=checked.place,
        sealed_at=None if head is None else head.at,
        signed=head is not None and head.signature is not None,
        erased=checked.erased,
        waiting=waiting,
        waiting_since=since,
        broken=broken,
    )


def _unsigned(head: ChainRow | None, public: bytes | None) -> ChainBreak | None:
    if head is None or head.seq == 0:
        return None
    if public is None:
        problem = "The head is signed, but this server no longer has the key that signed it."
        return None if head.signature is None else ChainBreak(head.seq, None, problem)
    try:
        check_signature(head.organisation_id, ChainPosition(head.seq, head.seal), head.at, head.signature, public)
    except Untrusted as problem:
        return ChainBreak(head.seq, None, problem.message)
    return None


def _sealed_line(stored: queries.StoredLine) -> SealedLine:
    row = stored.row
    personal = {
        part: PersonalValues(values.salt, values.content, values.erased_at is not None)
        for part, values in stored.personal.items()
    }
    return SealedLine(row.seq or 0, row.seal or b"", queries.sealed_content(row), personal)
