"""Erases personal values from the audit log; lines and seals stay intact, and the erasure is logged too."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, func, select, tuple_, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.ids import uuid7
from sync_server.audit import queries
from sync_server.audit.models import PersonalRow
from sync_server.audit.rules import canonical
from sync_server.audit.service import AuditLine, record
from sync_server.plumbing.requests.principals import ActionContext

ERASED = "audit.personal_values_erased"


def erase_person(
    session: Session, kind: str, id: str, context: ActionContext, *, reason: str, organisation_id: str | None = None
) -> int:
    """Erase this person's values, in one organisation or in all; returns how many."""
    person = [PersonalRow.person_kind == kind, PersonalRow.person_id == id]
    if organisation_id is not None:
        person.append(PersonalRow.organisation_id == organisation_id)
    return _erase(session, person, (kind, id), context, reason)


def erase_value(
    session: Session, value: str, context: ActionContext, *, reason: str, organisation_id: str, person: tuple[str, str]
) -> int:
    """Erase every value of an organisation's lines that has this text in it, whosever line it is; returns how many.

    `person` is what the log says of whom it was: kind and id, never the text itself.
    """
    text = canonical(value)[1:-1]  # as it stands inside the stored values
    has_it = PersonalRow.organisation_id == organisation_id, PersonalRow.content.contains(text, autoescape=True)
    return _erase(session, has_it, person, context, reason)


def erase_older(
    session: Session, before: Millis, context: ActionContext, *, reason: str, organisation_id: str | None = None
) -> int:
    """Erase all personal values in lines written before a time; returns how many."""
    # Ids begin with their time, so the table needs no index on it.
    old: list[ColumnElement[bool]] = [PersonalRow.line_id < uuid7(before, bytes)]
    if organisation_id is not None:
        old.append(PersonalRow.organisation_id == organisation_id)
    return _erase(session, old, ("time", str(before)), context, reason)


def erase_piece(session: Session, organisation_id: str, before: Millis, now: Millis, limit: int) -> int:
    """Erase values of an organisation's lines written before then, `limit` at most; the caller records how many."""
    row, here = PersonalRow, PersonalRow.organisation_id == organisation_id
    old = here, row.line_id < uuid7(before, bytes), row.erased_at.is_(None)
    some = select(row.line_id, row.part).where(*old).order_by(row.line_id, row.part).limit(limit)
    erased = update(row).where(here, tuple_(row.line_id, row.part).in_(some))
    erase = erased.values(salt=None, content=None, erased_at=now).returning(row.line_id)
    return len(session.execute(erase, execution_options={"synchronize_session": False}).all())


def _erase(
    session: Session,
    where: Sequence[ColumnElement[bool]],
    subject: tuple[str, str],
    context: ActionContext,
    reason: str,
) -> int:
    present = [*where, PersonalRow.erased_at.is_(None)]
    counted = select(PersonalRow.organisation_id, func.count()).where(*present).group_by(PersonalRow.organisation_id)
    by_organisation = [(organisation_id, count) for organisation_id, count in session.execute(counted)]
    erase = update(PersonalRow).where(*present).values(salt=None, content=None, erased_at=context.now)
    for organisation_id, count in by_organisation:
        here = queries.of_chain(organisation_id, PersonalRow)
        session.execute(erase.where(here).execution_options(synchronize_session=False))
        after = {"values": count}
        record(session, AuditLine(context, ERASED, *subject, organisation_id, after=after, reason=reason))
    return sum(count for _, count in by_organisation)
