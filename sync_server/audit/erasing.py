"""Erases what the audit log knows of a person; lines and seals stay whole, and the erasure is a line itself."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.audit.models import PersonalRow
from sync_server.audit.service import AuditLine, record
from sync_server.plumbing.principals import Deed

ERASED = "audit.personal_values_erased"


def erase_person(
    session: Session, kind: str, id: str, deed: Deed, *, reason: str, organisation_id: str | None = None
) -> int:
    """Erase addresses, names and the like of this person, in one organisation or in all; how many values that were."""
    person = [PersonalRow.person_kind == kind, PersonalRow.person_id == id]
    if organisation_id is not None:
        person.append(PersonalRow.organisation_id == organisation_id)
    return _erase(session, person, (kind, id), deed, reason)


def erase_older(
    session: Session, before: Millis, deed: Deed, *, reason: str, organisation_id: str | None = None
) -> int:
    """Erase everybody's personal values in lines written before a time; how many values that were."""
    # Ids begin with their time, so the table needs no second index for it.
    old: list[ColumnElement[bool]] = [PersonalRow.line_id < _first_id(before)]
    if organisation_id is not None:
        old.append(PersonalRow.organisation_id == organisation_id)
    return _erase(session, old, ("time", str(before)), deed, reason)


def _first_id(at: Millis) -> str:
    digits = f"{at:012x}"
    return f"{digits[:8]}-{digits[8:]}"


def _erase(
    session: Session, where: Sequence[ColumnElement[bool]], subject: tuple[str, str], deed: Deed, reason: str
) -> int:
    kept = [*where, PersonalRow.erased_at.is_(None)]
    counted = select(PersonalRow.organisation_id, func.count()).where(*kept).group_by(PersonalRow.organisation_id)
    by_organisation = [(organisation_id, count) for organisation_id, count in session.execute(counted)]
    gone = update(PersonalRow).where(*kept).values(salt=None, content=None, erased_at=deed.now)
    session.execute(gone.execution_options(synchronize_session=False))
    for organisation_id, count in by_organisation:
        after = {"values": count}
        record(session, AuditLine(deed.actor, ERASED, *subject, organisation_id, deed.now, after=after, reason=reason))
    return sum(count for _, count in by_organisation)
