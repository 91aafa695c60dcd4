"""Seals lines into their organisation's chain a moment after they were written; no writer ever waits for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import Row, Table, bindparam, func, select, text, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Untrusted
from sync_server.audit import following, queries, rules
from sync_server.audit.models import AuditRow, ChainRow
from sync_server.plumbing.database import of
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.principals import Deed
from sync_server.plumbing.work import MORE, Job

AT_ONCE = 2_000
"""Lines sealed in one transaction."""
AT_ONCE_EMBEDDED = 500
"""On SQLite every other writer waits for that transaction, some 20 ms."""
EVERY_MS = 1_000
CHAINS = 500
"""Looked at in one round."""

_COLUMNS = [getattr(AuditRow, name) for name in rules.Line.__slots__]
_TABLE = cast(Table, AuditRow.__table__)
_SEAL = update(_TABLE).where(_TABLE.c.id == bindparam("line")).values(seq=bindparam("seq"), seal=bindparam("seal"))
# A statement for each line cost PostgreSQL, and us, several times as much as one for all of them.
_SEAL_ALL = text(
    "UPDATE audit_lines SET seq = sealed.seq, seal = sealed.seal "
    "FROM unnest(CAST(:lines AS varchar[]), CAST(:seqs AS bigint[]), CAST(:seals AS bytea[])) "
    "AS sealed (id, seq, seal) WHERE audit_lines.id = sealed.id"
)

Key = Callable[[Session], Ed25519PrivateKey]


def seal_waiting(session: Session, deed: Deed, *, key: Key | None = None) -> int:
    """Seal what waits, longest waiting chains first; how many lines that were. Without a key, heads stay unsigned.

    What waits is found by having no seal, never by an id or a time: a line that commits late is sealed late.
    """
    chains, left = _waiting_chains(session), at_once(session)
    _begin_chains(session, chains, deed.now)
    private = key(session) if key is not None and chains else None
    done = 0
    for chain in chains:
        if done < left:
            done += _guarded(session, chain, private, deed.now, limit=left - done)
    return done


def at_once(session: Session) -> int:
    """How many lines one round seals at most; after as many there may be more."""
    return AT_ONCE_EMBEDDED if of(session).embedded else AT_ONCE


def job(key: Key) -> Job:
    """The worker's part."""

    def run(session: Session, deed: Deed) -> object:
        return MORE if seal_waiting(session, deed, key=key) >= at_once(session) else None

    return Job("audit.seal", EVERY_MS, run)


def _guarded(session: Session, chain: str, private: Ed25519PrivateKey | None, now: Millis, *, limit: int) -> int:
    """One chain that somebody has tampered with must not keep the others open."""
    try:
        with session.begin_nested():
            return _seal_chain(session, chain, private, now, limit=limit)
    except (IntegrityError, Untrusted) as problem:
        LOG.error("audit_chain_broken", chain=chain, problem=type(problem).__name__)
        return 0


def _waiting_chains(session: Session) -> list[str]:
    of, oldest = AuditRow.organisation_id, func.min(AuditRow.id)
    wanted = select(of).where(AuditRow.seq.is_(None)).group_by(of).order_by(oldest).limit(CHAINS)
    return [organisation_id or queries.INSTALLATION for organisation_id in session.execute(wanted).scalars()]


def _begin_chains(session: Session, chains: Sequence[str], now: Millis) -> None:
    """New chains get their row in one order everywhere: two sealers may wait here, but not for each other."""
    known = set(session.execute(select(ChainRow.chain).where(ChainRow.chain.in_(chains))).scalars())
    fresh = [{"chain": chain, "seq": 0, "seal": rules.START, "at": now} for chain in sorted(set(chains) - known)]
    if fresh:
        dialect = sqlite if of(session).embedded else postgresql
        session.execute(dialect.insert(ChainRow).values(fresh).on_conflict_do_nothing())


def _seal_chain(session: Session, chain: str, private: Ed25519PrivateKey | None, now: Millis, *, limit: int) -> int:
    # A chain that another sealer has in hand is left to it; its lines are read only once the row is ours.
    mine = select(ChainRow).where(ChainRow.chain == chain).with_for_update(skip_locked=True)
    head = session.execute(mine.execution_options(populate_existing=True)).scalar_one_or_none()
    if head is None:
        return 0
    # Columns instead of objects: a rush comes by the thousand.
    wanted = select(*_COLUMNS).where(queries.of_chain(chain), AuditRow.seq.is_(None))
    rows = session.execute(wanted.order_by(AuditRow.id).limit(limit)).all()
    if rows:
        _require_ours(head, private)
        _write(session, head, rows, now)
        _sign(head, private)
        LOG.info("audit_sealed", chain=chain, seq=head.seq, seal=head.seal.hex())
    return len(rows)


def _require_ours(head: ChainRow, private: Ed25519PrivateKey | None) -> None:
    """Nothing is put on top of a head that this server has not signed: that would make a forgery genuine."""
    if private is not None and head.seq:
        place = following.Place(head.seq, head.seal)
        following.check_signature(head.chain, place, head.at, head.signature, private.public_key().public_bytes_raw())


def _write(session: Session, head: ChainRow, rows: Sequence[Row[Any]], now: Millis) -> None:
    seq, seal, sealed = head.seq, head.seal, []
    for row in rows:
        seq, seal = seq + 1, rules.seal(seal, seq + 1, queries.as_sealed(row))
        sealed.append((row.id, seq, seal))
    if of(session).embedded:
        session.connection().execute(_SEAL, [dict(zip(("line", "seq", "seal"), each, strict=True)) for each in sealed])
    else:
        lines, seqs, seals = (list(column) for column in zip(*sealed, strict=True))
        session.connection().execute(_SEAL_ALL, {"lines": lines, "seqs": seqs, "seals": seals})
    head.seq, head.seal, head.at = seq, seal, now


def _sign(head: ChainRow, private: Ed25519PrivateKey | None) -> None:
    message = rules.head_message(head.chain, head.seq, head.seal, head.at)
    head.signature = None if private is None else private.sign(message)
    head.public_key = None if private is None else private.public_key().public_bytes_raw()
