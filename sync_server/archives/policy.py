"""What an organisation keeps how long: its policy, and the events that are due to be put away by it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlalchemy import Table, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import GatehouseError
from sync_server.accounts.service import lock_organisation
from sync_server.archives import readiness, rules, service
from sync_server.archives.models import RetentionPolicyRow
from sync_server.archives.service import Asked
from sync_server.audit.service import AuditLine, record
from sync_server.events import queries as events
from sync_server.monitoring import queries as monitoring
from sync_server.plumbing.database import Database
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sql.tables import Base
from sync_server.plumbing.telemetry.logs import LOG

DAY_MS: Final[Millis] = 24 * 3_600_000
AT_ONCE: Final = 100
"""Events of one organisation that are asked for in one run."""
_REASON: Final = "by the organisation's retention policy"


def days(session: Session, organisation_id: str) -> Mapping[str, int | None]:
    """How many days the organisation keeps each kind of record; None: for ever."""
    row = session.get(RetentionPolicyRow, organisation_id)
    return rules.kept_days({} if row is None else row.days)


def change(
    session: Session, organisation_id: str, changes: Mapping[str, int | None], context: ActionContext
) -> Mapping[str, int | None]:
    """Keep these kinds of records so many days from now on; returns the whole policy. InvalidRequest out of bounds."""
    for kind, kept in changes.items():
        rules.check_days(kind, kept)
    lock_organisation(session, organisation_id)
    row = session.get(RetentionPolicyRow, organisation_id)
    if row is None:
        row = RetentionPolicyRow(organisation_id=organisation_id, days={}, updated_at=context.now)
        session.add(row)
    before = {kind: rules.kept_days(row.days)[kind] for kind in changes}
    row.days, row.updated_at = {**row.days, **changes}, context.now
    session.flush()
    subject = "organisation", organisation_id, organisation_id
    line = AuditLine(context, "organisation.retention_changed", *subject, before=before, after=dict(changes))
    record(session, line)
    return rules.kept_days(row.days)


def ask_for_due(database: Database, context: ActionContext) -> None:
    """Ask for the events to be put away that were over long enough ago, and are settled."""
    with database.reading() as session:
        organisations = all_organisations(session)
    for organisation_id in organisations:
        with database.reading() as session:
            kept = days(session, organisation_id)["events"]
            due = [] if kept is None else _due(session, organisation_id, context.now - kept * DAY_MS)
            alerts = monitoring.organisation_alerts(session, organisation_id, context.now) if due else []
            settled = [
                event
                for event in due
                if not readiness.obstacles(session, events.event(session, *event), context.now, alerts=alerts)
            ]
        for event in settled:
            _ask(database, event, context)


def _ask(database: Database, event: EventKey, context: ActionContext) -> None:
    try:
        with database.writing() as session:
            service.ask(session, event, Asked(context, _REASON))
    except GatehouseError as problem:  # it has changed since it was looked at
        LOG.info("archive_not_due", event_id=event.event_id, problem=problem.error_code)


def all_organisations(session: Session) -> list[str]:
    """The ids of all organisations."""
    table = _table("organisations")
    return list(session.scalars(select(table.c.id).order_by(table.c.id)))


def _due(session: Session, organisation_id: str, before: Millis) -> list[EventKey]:
    """Events over before then that were never asked for; one that was brought back stays until somebody asks again."""
    table, asked = _table("events"), _table("event_archives")
    archived = select(asked.c.event_id).where(
        asked.c.organisation_id == organisation_id, asked.c.event_id == table.c.id
    )
    over = table.c.status.in_([status.value for status in rules.OVER]), table.c.end_at < before
    wanted = select(table.c.id).where(table.c.organisation_id == organisation_id, *over, ~archived.exists())
    ids = session.scalars(wanted.order_by(table.c.end_at).limit(AT_ONCE))
    return [EventKey(organisation_id, event_id) for event_id in ids]


def _table(name: str) -> Table:
    return Base.metadata.tables[name]
