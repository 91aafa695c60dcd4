"""The questions of jobs: when anything is due next, and which organisations have it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, SQLColumnExpression, TextClause, func, select, union_all
from sqlalchemy.orm import InstrumentedAttribute, Session

from shared.clock import Millis

AT_ONCE: Final[Millis] = 0
Moment = SQLColumnExpression[Any]
Which = ColumnElement[bool] | TextClause


def organisations_due(session: Session, owner: InstrumentedAttribute[Any], *due: ColumnElement[bool]) -> Sequence[str]:
    """The organisations, by the column that names them, of the rows that are due."""
    return sorted(session.scalars(select(owner).where(*due).distinct()))


def next_due(session: Session, moment: Moment, *which: Which) -> Millis | None:
    """The first of these moments of these rows, of any organisation; None where there is none."""
    return session.execute(select(moment).where(moment.is_not(None), *which).order_by(moment).limit(1)).scalar()


def first_due(session: Session, *moments: tuple[Moment, *tuple[Which, ...]]) -> Millis | None:
    """The same of several: each a moment, and of which rows; one statement."""
    firsts = [select(func.min(moment).label("at")).where(*which) for moment, *which in moments]
    each = union_all(*firsts).subquery()
    return session.execute(select(func.min(each.c.at))).scalar()


def due_if_any(session: Session, owner: InstrumentedAttribute[Any], *which: Which) -> Millis | None:
    """At once, where there is any such row of any organisation."""
    return AT_ONCE if session.execute(select(owner).where(*which).limit(1)).first() is not None else None
