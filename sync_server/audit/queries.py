"""Reads of the audit log: one chain's lines, with the personal values that have not been erased."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.audit import rules
from sync_server.audit.models import AuditRow, ChainRow, PersonalRow
from sync_server.plumbing.api.pagination import AnId, Page, decode_cursor, paginate


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which lines to list."""

    subject_kind: str | None = None
    subject_id: str | None = None
    actor_kind: str | None = None
    actor_id: str | None = None
    action: str | None = None
    since: Millis | None = None
    until: Millis | None = None  # not included


@dataclass(frozen=True, slots=True)
class StoredLine:
    """A line with its personal values by part: actor, subject."""

    row: AuditRow
    personal: Mapping[str, PersonalRow] = field(default_factory=dict)

    def values(self, part: str) -> Mapping[str, Any] | None:
        """The personal values of a part; None where they were erased, empty where there were none."""
        stored = self.personal.get(part)
        if stored is None:
            return {}
        values: Mapping[str, Any] | None = None if stored.content is None else json.loads(stored.content)
        return values


def of_chain(chain: str, rows: type[AuditRow | PersonalRow] = AuditRow) -> ColumnElement[bool]:
    """Whether a line, or its personal values, belong to this chain."""
    return rows.organisation_id == chain


def lines(session: Session, chain: str, chosen: AuditFilter, *, limit: int, after: str | None) -> Page[StoredLine]:
    """The chain's lines, newest first."""
    start = decode_cursor(after, AnId)
    wanted = select(AuditRow).where(of_chain(chain), *_conditions(chosen))
    if start is not None:
        wanted = wanted.where(AuditRow.id < start[0])
    rows = session.execute(wanted.order_by(AuditRow.id.desc()).limit(limit + 1)).scalars().all()
    page = paginate(rows, limit, lambda row: (row.id,))
    return Page(with_personal_values(session, chain, page.items), page.next)


def last_lines(session: Session, chain: str, kind: str, subject_ids: Collection[str]) -> dict[str, AuditRow]:
    """The newest line about each of these subjects, without personal values; none where there is no line."""
    here = of_chain(chain), AuditRow.subject_kind == kind, AuditRow.subject_id.in_(subject_ids)
    order = func.row_number().over(partition_by=AuditRow.subject_id, order_by=AuditRow.id.desc())
    ranked = select(AuditRow.id, order.label("place")).where(*here).subquery()
    newest = select(ranked.c.id).where(ranked.c.place == 1)
    found = session.execute(select(AuditRow).where(of_chain(chain), AuditRow.id.in_(newest))).scalars()
    return {row.subject_id: row for row in found}


def lines_about(
    session: Session, chain: str, kind: str, subject_ids: Collection[str], action: str, *, since: Millis
) -> Sequence[AuditRow]:
    """The lines about these subjects that say so since then, without personal values."""
    here = of_chain(chain), AuditRow.subject_kind == kind, AuditRow.subject_id.in_(subject_ids)
    wanted = select(AuditRow).where(*here, AuditRow.action == action, AuditRow.at >= since)
    return session.scalars(wanted).all() if subject_ids else []


def _conditions(chosen: AuditFilter) -> list[ColumnElement[bool]]:
    wanted = (
        (AuditRow.subject_kind, chosen.subject_kind),
        (AuditRow.subject_id, chosen.subject_id),
        (AuditRow.actor_kind, chosen.actor_kind),
        (AuditRow.actor_id, chosen.actor_id),
        (AuditRow.action, chosen.action),
    )
    equal = [column == value for column, value in wanted if value is not None]
    since = [] if chosen.since is None else [AuditRow.at >= chosen.since]
    return [*equal, *since, *([] if chosen.until is None else [AuditRow.at < chosen.until])]


def with_personal_values(session: Session, chain: str, rows: Sequence[AuditRow]) -> list[StoredLine]:
    """These lines of a chain with their personal values."""
    personal: dict[str, dict[str, PersonalRow]] = {}
    here = select(PersonalRow).where(of_chain(chain, PersonalRow), PersonalRow.line_id.in_([row.id for row in rows]))
    for values in session.execute(here).scalars() if rows else ():
        personal.setdefault(values.line_id, {})[values.part] = values
    return [StoredLine(row, personal.get(row.id, {})) for row in rows]


def in_order(session: Session, chain: str, *, after_seq: int, limit: int) -> Sequence[AuditRow]:
    """The next sealed lines of a chain."""
    wanted = select(AuditRow).where(of_chain(chain), AuditRow.seq > after_seq)
    return session.execute(wanted.order_by(AuditRow.seq).limit(limit)).scalars().all()


def every_sealed(session: Session, chain: str, *, after: int = 0, page: int = 500) -> Iterator[StoredLine]:
    """All sealed lines of a chain in order from then on, in the caller's transaction."""
    seq = after
    while rows := in_order(session, chain, after_seq=seq, limit=page):
        yield from with_personal_values(session, chain, rows)
        seq = rows[-1].seq or seq
        session.expunge_all()  # a log may not fit into memory


def unsealed(session: Session, chain: str) -> tuple[int, Millis | None]:
    """How many lines are not sealed yet, and the time of the oldest of them."""
    wanted = select(func.count(), func.min(AuditRow.at)).where(of_chain(chain), AuditRow.seq.is_(None))
    count, oldest = session.execute(wanted).one()
    return count, oldest


def head(session: Session, chain: str) -> ChainRow | None:
    """The head of a chain; None where nothing was sealed yet."""
    return session.get(ChainRow, chain)


def chains(session: Session) -> list[str]:
    """Every chain that has lines or a head, even if the other is missing; the installation's first."""
    with_head = session.execute(select(ChainRow.organisation_id)).scalars()
    with_lines = session.execute(select(AuditRow.organisation_id).distinct()).scalars()
    return sorted({*with_head, *with_lines})


def sealed_content(row: Any) -> dict[str, Any]:
    """What the seal of a line covers; the row may be an AuditRow or a row of its columns."""
    return rules.Line(**{name: getattr(row, name) for name in rules.Line.__slots__}).as_dict()
