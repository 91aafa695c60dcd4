"""Erases personal values from the audit log; lines and seals stay intact, and the erasure is logged too."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.ids import uuid7
from sync_server.audit import queries
from sync_server.audit.models import PersonalRow
from sync_server.audit.service import AuditLine, record
from sync_server.plumbing.principals import ActionContext

ERASED = "audit.personal_values_erased"


def erase_person(
    session: Session, kind: str, id: str, context: ActionContext, *, reason: str, organisation_id: str | None = None
) -> int:
    """Erase this person's values, in one organisation or in all; returns how many."""
    person = [PersonalRow.person_kind == kind, PersonalRow.person_id == id]
    if organisation_id is not None:
        person.append(PersonalRow.organisation_id == organisation_id)
    return _erase(session, person, (kind, id), context, reason)


def erase_older(
    session: Session, before: Millis, context: ActionContext, *, reason: str, organisation_id: str | None = None
) -> int:
    """Erase all personal values in lines written before a time; returns how many."""
    # Ids begin with their time, so the table needs no index on it.
    old: list[ColumnElement[bool]] = [PersonalRow.line_id < uuid7(before, bytes)]
    if organisation_id is not None:
        old.append(PersonalRow.organisation_id == organisation_id)
    return _erase(session, old, ("time", str(before)), context, reason)


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
