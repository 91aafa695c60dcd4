"""Proves a chain of the audit log: how far its seals reach, what waits for one, and the first line that is broken."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Untrusted
from sync_server.audit import queries
from sync_server.audit.following import Apart, Break, Link, Place, check_signature, follow, head_break
from sync_server.audit.models import ChainRow


@dataclass(frozen=True, slots=True)
class Proof:
    """What is known of one chain."""

    chain: str
    reached: Place
    sealed_at: Millis | None
    signed: bool
    erased: int
    waiting: int
    waiting_since: Millis | None
    broken: Break | None


def prove(session: Session, chain: str, *, public: bytes | None, known: Iterable[Place] = ()) -> Proof:
    """Follow the chain from its beginning; `public` is the server's key, by which its head must be signed."""
    followed = follow(map(_link, queries.every_sealed(session, chain)), known=known)
    head = queries.head(session, chain)
    at_head = None if head is None else Place(head.seq, head.seal)
    broken = followed.broken or head_break(followed.place, at_head) or _unsigned(head, public)
    waiting, since = queries.waiting(session, chain)
    return Proof(
        chain=chain,
        reached=followed.place,
        sealed_at=None if head is None else head.at,
        signed=head is not None and head.signature is not None,
        erased=followed.erased,
        waiting=waiting,
        waiting_since=since,
        broken=broken,
    )


def _unsigned(head: ChainRow | None, public: bytes | None) -> Break | None:
    if head is None or head.seq == 0:
        return None
    if public is None:
        words = "The head is signed, but the key it was signed with is gone from this server."
        return None if head.signature is None else Break(head.seq, None, words)
    try:
        check_signature(head.chain, Place(head.seq, head.seal), head.at, head.signature, public)
    except Untrusted as problem:
        return Break(head.seq, None, problem.message)
    return None


def _link(told: queries.Told) -> Link:
    row = told.row
    apart = {part: Apart(filed.salt, filed.content, filed.erased_at is not None) for part, filed in told.apart.items()}
    return Link(row.seq or 0, row.seal or b"", queries.as_sealed(row), apart)
