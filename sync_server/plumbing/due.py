"""The one question of a periodic job: which organisations have something due. Each is then worked on by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import InstrumentedAttribute, Session


def organisations_due(session: Session, owner: InstrumentedAttribute[Any], *due: ColumnElement[bool]) -> Sequence[str]:
    """The organisations, by the column that names them, of the rows that are due."""
    return sorted(session.scalars(select(owner).where(*due).distinct()))


def anything_due(session: Session, owner: InstrumentedAttribute[Any], *due: ColumnElement[bool]) -> bool:
    """Whether any row of any organisation is due."""
    return session.execute(select(owner).where(*due).limit(1)).first() is not None
