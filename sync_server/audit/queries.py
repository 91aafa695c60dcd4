"""Reads of the audit log: one chain's lines with the personal values that are still kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.audit import rules
from sync_server.audit.models import AuditRow, ChainRow, PersonalRow
from sync_server.plumbing.pages import Page, cut, position

INSTALLATION = ""
"""The chain of what concerns no single organisation: logins, the platform's staff."""


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
class Told:
    """A line with what is kept apart from it, by part: actor, subject."""

    row: AuditRow
    apart: Mapping[str, PersonalRow] = field(default_factory=dict)

    def values(self, part: str) -> Mapping[str, Any] | None:
        """The personal values of a part; None where they were erased, empty where there were none."""
        filed = self.apart.get(part)
        if filed is None:
            return {}
        values: Mapping[str, Any] | None = None if filed.content is None else json.loads(filed.content)
        return values


def of_chain(chain: str) -> ColumnElement[bool]:
    """Whether a line belongs to this chain."""
    column = AuditRow.organisation_id
    return column.is_(None) if chain == INSTALLATION else column == chain


def lines(session: Session, chain: str, chosen: AuditFilter, *, limit: int, after: str | None) -> Page[Told]:
    """The chain's lines, newest first."""
    start = position(after, str)
    wanted = select(AuditRow).where(of_chain(chain), *_conditions(chosen))
    if start is not None:
        wanted = wanted.where(AuditRow.id < start[0])
    rows = session.execute(wanted.order_by(AuditRow.id.desc()).limit(limit + 1)).scalars().all()
    page = cut(rows, limit, lambda row: (row.id,))
    return Page(told(session, page.items), page.next)


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


def told(session: Session, rows: Sequence[AuditRow]) -> list[Told]:
    """These lines with what is kept apart from them."""
    apart: dict[str, dict[str, PersonalRow]] = {}
    here = select(PersonalRow).where(PersonalRow.line_id.in_([row.id for row in rows]))
    for filed in session.execute(here).scalars() if rows else ():
        apart.setdefault(filed.line_id, {})[filed.part] = filed
    return [Told(row, apart.get(row.id, {})) for row in rows]


def in_order(session: Session, chain: str, *, after_seq: int, limit: int) -> Sequence[AuditRow]:
    """The next sealed lines of a chain."""
    wanted = select(AuditRow).where(of_chain(chain), AuditRow.seq > after_seq)
    return session.execute(wanted.order_by(AuditRow.seq).limit(limit)).scalars().all()


def every_sealed(session: Session, chain: str, *, page: int = 500) -> Iterator[Told]:
    """All sealed lines of a chain in order, inside one reading."""
    place = 0
    while rows := in_order(session, chain, after_seq=place, limit=page):
        yield from told(session, rows)
        place = rows[-1].seq or place
        session.expunge_all()  # a log may be longer than memory


def waiting(session: Session, chain: str) -> tuple[int, Millis | None]:
    """How many lines no seal covers yet, and since when the oldest of them waits."""
    wanted = select(func.count(), func.min(AuditRow.at)).where(of_chain(chain), AuditRow.seq.is_(None))
    count, oldest = session.execute(wanted).one()
    return count, oldest


def head(session: Session, chain: str) -> ChainRow | None:
    """How far a chain is sealed; None where nothing was yet."""
    return session.get(ChainRow, chain)


def chains(session: Session) -> list[str]:
    """Every chain that has lines or a head, though the other be gone; the installation's first."""
    begun = session.execute(select(ChainRow.chain)).scalars()
    named = session.execute(select(AuditRow.organisation_id).distinct()).scalars()
    return sorted({*begun, *(organisation_id or INSTALLATION for organisation_id in named)})


def as_sealed(row: Any) -> dict[str, Any]:
    """What the seal of a line covers; the row may be an object, or its columns alone."""
    return rules.Line(**{name: getattr(row, name) for name in rules.Line.__slots__}).told()
