"""Seals lines into their organisation's chain shortly after they were written; writers never wait for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import ARRAY, BigInteger, LargeBinary, Row, String, bindparam, cast, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Untrusted
from sync_server.audit import chain_check, queries, rules
from sync_server.audit.models import AuditRow, ChainRow
from sync_server.audit.service import LINES_TABLE
from sync_server.plumbing.database import database_of
from sync_server.plumbing.due import due_if_any
from sync_server.plumbing.jobs import MORE, Job
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sql.bulk import insert_many
from sync_server.plumbing.sql.tables import UUID_TYPE
from sync_server.plumbing.telemetry.logs import LOG

BATCH_LINES = 2_000
"""Lines sealed in one transaction."""
BATCH_LINES_EMBEDDED = 500
"""On SQLite every other writer waits for that transaction, about 20 ms."""
EVERY_MS = 10_000
CHAINS_PER_ROUND = 500
"""Chains sealed in one round at most."""

_COLUMNS = [getattr(AuditRow, name) for name in rules.Line.__slots__]
_TABLE = LINES_TABLE
_SEAL = update(_TABLE).where(_TABLE.c.id == bindparam("line")).values(seq=bindparam("seq"), seal=bindparam("seal"))
# On PostgreSQL one statement for all lines costs a fraction of one per line.
_SEALED = (
    func.unnest(
        bindparam("lines", type_=ARRAY(UUID_TYPE)),
        bindparam("seqs", type_=ARRAY(BigInteger)),
        bindparam("seals", type_=ARRAY(LargeBinary)),
    )
    .table_valued("id", "seq", "seal")
    .render_derived(name="sealed")
)
_SEAL_ALL = update(_TABLE).where(_TABLE.c.id == _SEALED.c.id).values(seq=_SEALED.c.seq, seal=_SEALED.c.seal)

_UNSEALED = AuditRow.seq.is_(None)

Key = Callable[[Session], Ed25519PrivateKey]


def seal_waiting(session: Session, context: ActionContext, *, key: Key | None = None) -> int:
    """Seal waiting lines, oldest chains first; returns how many. Without a key, heads stay unsigned.

    Lines are found by having no seal, never by id or time: a line that commits late is sealed late.
    """
    chains, left = _waiting_chains(session), batch_limit(session)
    _begin_chains(session, chains, context.now)
    private = key(session) if key is not None and chains else None
    done = 0
    for chain in chains:
        if done < left:
            done += _guarded(session, chain, private, context.now, limit=left - done)
    return done


def batch_limit(session: Session) -> int:
    """How many lines one round seals at most; after that many there may be more."""
    return BATCH_LINES_EMBEDDED if database_of(session).embedded else BATCH_LINES


def job(key: Key) -> Job:
    """The worker's job that seals lines."""

    def run(session: Session, context: ActionContext) -> object:
        return MORE if seal_waiting(session, context, key=key) >= batch_limit(session) else None

    return Job(
        "audit.seal",
        EVERY_MS,
        run,
        lambda session, _: due_if_any(session, AuditRow.organisation_id, _UNSEALED),
        look_every_ms=EVERY_MS,
    )


def _guarded(session: Session, chain: str, private: Ed25519PrivateKey | None, now: Millis, *, limit: int) -> int:
    """Seal one chain in a savepoint: one that was tampered with must not stop the others."""
    try:
        with session.begin_nested():
            return _seal_chain(session, chain, private, now, limit=limit)
    except (IntegrityError, Untrusted) as problem:
        LOG.error("audit_chain_broken", chain=chain, problem=type(problem).__name__)
        return 0


def _waiting_chains(session: Session) -> list[str]:
    owner, oldest = AuditRow.organisation_id, func.min(cast(AuditRow.id, String))  # PostgreSQL 15 has no least uuid
    wanted = select(owner).where(_UNSEALED).group_by(owner).order_by(oldest).limit(CHAINS_PER_ROUND)
    return list(session.scalars(wanted))


def _begin_chains(session: Session, chains: Sequence[str], now: Millis) -> None:
    """Insert the rows of new chains, in one order everywhere, so that two sealers cannot deadlock."""
    # An insert would wait for a sealer that holds the chain, even one that does nothing on conflict.
    new = [chain for chain in sorted(chains) if queries.head(session, chain) is None]
    rows = [{"organisation_id": chain, "seq": 0, "seal": rules.INITIAL_SEAL, "at": now} for chain in new]
    insert_many(session, ChainRow, rows, "ON CONFLICT DO NOTHING")


def _seal_chain(session: Session, chain: str, private: Ed25519PrivateKey | None, now: Millis, *, limit: int) -> int:
    # A chain locked by another sealer is left to it; lines are read only under the lock.
    mine = select(ChainRow).where(ChainRow.organisation_id == chain).with_for_update(skip_locked=True)
    head = session.execute(mine.execution_options(populate_existing=True)).scalar_one_or_none()
    if head is None:
        return 0
    # Columns instead of objects: lines come by the thousand in a rush.
    wanted = select(*_COLUMNS).where(queries.of_chain(chain), _UNSEALED)
    rows = session.execute(wanted.order_by(AuditRow.id).limit(limit)).all()
    if rows:
        _require_signed(head, private)
        _write(session, head, rows, now)
        _sign(head, private)
        LOG.info("audit_sealed", chain=chain, seq=head.seq, seal=head.seal.hex())
    return len(rows)


def _require_signed(head: ChainRow, private: Ed25519PrivateKey | None) -> None:
    """Refuse to continue a head that this server has not signed: that would make a forgery genuine."""
    if private is not None and head.seq:
        position = chain_check.ChainPosition(head.seq, head.seal)
        chain_check.check_signature(
            head.organisation_id, position, head.at, head.signature, private.public_key().public_bytes_raw()
        )


def _write(session: Session, head: ChainRow, rows: Sequence[Row[Any]], now: Millis) -> None:
    seq, seal, sealed = head.seq, head.seal, []
    for row in rows:
        seq, seal = seq + 1, rules.seal(seal, seq + 1, queries.sealed_content(row))
        sealed.append((row.id, seq, seal))
    if database_of(session).embedded:
        by_line = [dict(zip(("line", "seq", "seal"), each, strict=True)) for each in sealed]
        session.connection().execute(_SEAL.where(queries.of_chain(head.organisation_id)), by_line)
    else:
        lines, seqs, seals = (list(column) for column in zip(*sealed, strict=True))
        values = {"lines": lines, "seqs": seqs, "seals": seals}
        session.connection().execute(_SEAL_ALL.where(queries.of_chain(head.organisation_id)), values)
    head.seq, head.seal, head.at = seq, seal, now


def _sign(head: ChainRow, private: Ed25519PrivateKey | None) -> None:
    message = rules.head_message(head.organisation_id, head.seq, head.seal, head.at)
    head.signature = None if private is None else private.sign(message)
    head.public_key = None if private is None else private.public_key().public_bytes_raw()
