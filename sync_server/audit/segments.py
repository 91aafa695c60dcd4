"""The sealed lines of a chain that stand in sealed files, and where its lines in the table begin."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.audit import queries, rules
from sync_server.audit.chain_check import CHAIN_START, ChainPosition, PersonalValues, SealedLine
from sync_server.audit.models import AuditRow, ChainRow, PersonalRow, SegmentRow

Segment = SegmentRow
"""A segment's row, as those may read it who keep the files."""
COLUMNS = ("seq", "seal", "line")
"""Of a line in a file."""


def segments(session: Session, chain: str) -> Sequence[Segment]:
    """The segments of a chain, in order."""
    mine = select(SegmentRow).where(SegmentRow.organisation_id == chain)
    return session.execute(mine.order_by(SegmentRow.first_seq)).scalars().all()


def cut(session: Session, chain: str) -> ChainPosition:
    """Up to where the chain stands in files; the lines in the table go on from there."""
    found = segments(session, chain)
    return ChainPosition(found[-1].last_seq, found[-1].seal) if found else CHAIN_START


def older(session: Session, chain: str, before: Millis, most: int) -> Iterator[AuditRow]:
    """The oldest sealed lines in the table, in order, up to the first that is not older; `most` at most."""
    seq, left = cut(session, chain).seq, most
    while left and (rows := queries.in_order(session, chain, after_seq=seq, limit=min(left, 500))):
        for row in rows:
            if row.at >= before:
                return
            yield row
        seq, left = rows[-1].seq or seq, left - len(rows)


def as_stored(row: AuditRow) -> list[Any]:
    """A line as a file has it: what its seal covers, and no personal value."""
    return [row.seq, (row.seal or b"").hex(), queries.sealed_content(row)]


def canonical(row: AuditRow) -> bytes:
    """The same, as its bytes are compared."""
    return rules.canonical(as_stored(row)).encode()


def add(session: Session, segment: Segment) -> bool:
    """Note a file that is on disk and verified: its lines may leave. False where another has written them, too."""
    chain = select(ChainRow).where(ChainRow.organisation_id == segment.organisation_id).with_for_update()
    session.execute(chain).scalar_one()
    if cut(session, segment.organisation_id) != ChainPosition(segment.first_seq - 1, segment.seal_before):
        return False
    session.add(segment)
    session.flush()
    return True


def remove_piece(session: Session, segment: Segment, is_stored: Callable[[bytes], bool], limit: int) -> int | None:
    """Remove some lines of a segment; how many, or None before one that its file does not have, byte by byte."""
    rows = list(_left(session, segment, limit))
    if not all(is_stored(canonical(row)) for row in rows):
        return None
    ids = [row.id for row in rows]
    mine = AuditRow.organisation_id == segment.organisation_id, AuditRow.id.in_(ids)
    if ids:
        session.execute(delete(AuditRow).where(*mine), execution_options={"synchronize_session": False})
    return len(ids)


def any_left(session: Session, segment: Segment) -> bool:
    """Whether lines of a segment are still in the table."""
    return any(True for _ in _left(session, segment, 1))


def put_back(session: Session, segment: Segment, lines: Iterable[Sequence[Any]]) -> None:
    """Put lines of a file back into the table; those that are back already stay."""
    present = {row.seq for row in _left(session, segment, segment.last_seq - segment.first_seq + 1)}
    for seq, seal, content in lines:
        if seq not in present:
            values = dict(content)
            for name in ("actor_digest", "subject_digest"):
                values[name] = None if values[name] is None else bytes.fromhex(values[name])
            session.add(AuditRow(**values, seq=seq, seal=bytes.fromhex(seal)))
    session.flush()


def drop(session: Session, segment: Segment) -> None:
    """Forget a segment whose lines are back: from then on the chain begins before them."""
    session.delete(session.merge(segment))
    session.flush()


def with_personal_values(session: Session, chain: str, lines: Collection[Sequence[Any]]) -> Iterator[SealedLine]:
    """Lines of a file with the personal values that the table still has of them, for checking."""
    ids = [content["id"] for _, _, content in lines]
    found: dict[str, dict[str, PersonalValues]] = {}
    here = select(PersonalRow).where(queries.of_chain(chain, PersonalRow), PersonalRow.line_id.in_(ids))
    for row in session.execute(here).scalars():
        values = PersonalValues(row.salt, row.content, row.erased_at is not None)
        found.setdefault(row.line_id, {})[row.part] = values
    for seq, seal, content in lines:
        yield SealedLine(seq, bytes.fromhex(seal), content, found.get(content["id"], {}))


def _left(session: Session, segment: Segment, limit: int) -> Iterator[AuditRow]:
    within = AuditRow.seq.between(segment.first_seq, segment.last_seq)
    wanted = select(AuditRow).where(queries.of_chain(segment.organisation_id), within).order_by(AuditRow.seq)
    yield from session.execute(wanted.limit(limit)).scalars()
