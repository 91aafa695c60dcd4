"""Creates and changes organisations and supervisors."""

from __future__ import annotations

import re

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.errors import Conflict, InvalidRequest, NotFound
from shared.ids import uuid7
from shared.wire.snapshot import Row, RowKind, SupervisorRow
from sync_server.accounts import queries, rules
from sync_server.accounts.currencies import check_currency
from sync_server.accounts.models import OrganisationRow, SupervisorRecord
from sync_server.accounts.sign_in.passwords import hash_secret
from sync_server.accounts.signals import OrganisationCreated, OrganisationRowsChanged
from sync_server.audit.service import AuditLine, record
from sync_server.mail.letters import languages
from sync_server.plumbing.language.text import as_shown
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.signals import send
from sync_server.plumbing.sql import writes

SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?")


def create_organisation(
    session: Session, *, name: str, slug: str, currency: str, language: str = "en", context: ActionContext
) -> OrganisationRow:
    """Create an organisation; Conflict if the slug is taken."""
    name = as_shown(name).strip()
    if not SLUG.fullmatch(slug):
        raise InvalidRequest("A slug consists of lower-case letters, digits and inner hyphens.", field="slug")
    if not 1 <= len(name) <= 100:
        raise InvalidRequest("The name of an organisation has 1 to 100 characters.", field="name")
    check_currency(currency)
    if language not in languages():
        raise InvalidRequest(f"Mails can be written in: {', '.join(sorted(languages()))}.", field="language")
    if queries.organisation_by_slug(session, slug) is not None:
        raise Conflict(f"Another organisation has the slug {slug!r}. Choose another.", code="slug_taken")
    row = OrganisationRow(
        id=uuid7(context.now, context.entropy),
        slug=slug,
        name=name,
        currency=currency,
        language=language,
        created_at=context.now,
    )
    session.add(row)
    session.flush()
    after = {"name": name, "slug": slug}
    record(session, AuditLine(context, "organisation.created", "organisation", row.id, row.id, after=after))
    send(session, OrganisationCreated(row.id, context))
    return row


def lock_organisation(session: Session, organisation_id: str) -> OrganisationRow:
    """Lock the organisation until this transaction ends: serialises changes that affect all its events."""
    row = session.execute(
        select(OrganisationRow).where(OrganisationRow.id == organisation_id).with_for_update(key_share=True)
    ).scalar_one_or_none()
    if row is None:
        raise NotFound
    return row


def add_supervisor(
    session: Session, organisation_id: str, name: str, pin: str, context: ActionContext
) -> SupervisorRecord:
    """Add a supervisor, who may override refusals at the gates of all events of this organisation."""
    rules.check_pin(pin)
    lock_organisation(session, organisation_id)
    last_number = select(func.max(SupervisorRecord.number)).where(SupervisorRecord.organisation_id == organisation_id)
    row = SupervisorRecord(
        organisation_id=organisation_id,
        number=(session.execute(last_number).scalar_one() or 0) + 1,
        name=name,
        verifier=hash_secret(pin, context.entropy),
        created_at=context.now,
    )
    session.add(row)
    writes.flush_or_conflict(session, "There is already a supervisor with this name.", "name_taken")
    _record_supervisor(session, row, "supervisor.added", context)
    return row


def change_supervisor(
    session: Session, organisation_id: str, number: int, *, pin: str | None, active: bool | None, context: ActionContext
) -> SupervisorRecord:
    """Change a supervisor's PIN, or deactivate or reactivate the supervisor."""
    lock_organisation(session, organisation_id)
    row = queries.supervisor(session, organisation_id, number)
    if pin is not None:
        rules.check_pin(pin)
        row.verifier = hash_secret(pin, context.entropy)
    if active is not None:
        row.active = active
    session.flush()
    _record_supervisor(session, row, "supervisor.changed", context)
    return row


def _record_supervisor(session: Session, row: SupervisorRecord, action: str, context: ActionContext) -> None:
    after = {"name": row.name, "active": row.active}
    record(session, AuditLine(context, action, "supervisor", str(row.number), row.organisation_id, after=after))
    send(session, OrganisationRowsChanged(row.organisation_id, [_gate_row(row)]))


def _gate_row(row: SupervisorRecord) -> SupervisorRow | Row:
    if row.active:
        return SupervisorRow(row.number, row.name, row.verifier)
    return Row(RowKind.SUPERVISOR, row.number, None)
