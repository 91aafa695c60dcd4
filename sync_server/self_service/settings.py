"""What an organiser allows buyers to do alone: reads and changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from sync_server.accounts.service import lock_organisation
from sync_server.audit.service import AuditLine, record
from sync_server.events.queries import EventDetails
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sql import writes
from sync_server.self_service.models import SelfServiceSettingsRow
from sync_server.self_service.rules import HOUR_MS, MINUTE_MS, Allowed


def settings_of(session: Session, organisation_id: str) -> SelfServiceSettingsRow:
    """The settings of an organisation, or the defaults."""
    row = session.get(SelfServiceSettingsRow, organisation_id)
    return row or SelfServiceSettingsRow(
        organisation_id=organisation_id,
        transfers=True,
        max_transfers=3,
        transfer_days=7,
        transfer_until_minutes=0,
        cancellations=False,
        cancel_until_hours=48,
        cancel_fee_cents=0,
        updated_at=0,
    )


def lock_settings(session: Session, organisation_id: str) -> SelfServiceSettingsRow:
    """The settings, locked until the transaction ends."""
    lock_organisation(session, organisation_id)
    return settings_of(session, organisation_id)


def change_settings(
    session: Session, organisation_id: str, changes: Mapping[str, Any], context: ActionContext
) -> SelfServiceSettingsRow:
    """Change what buyers may do."""
    row = lock_settings(session, organisation_id)
    before = writes.change(row, changes)
    row.updated_at = context.now
    session.add(row)
    session.flush()
    subject = "self_service_settings", organisation_id
    record(session, AuditLine(context, "self_service.changed", *subject, organisation_id, before, dict(changes)))
    return row


def allowed_at(row: SelfServiceSettingsRow, event: EventDetails) -> Allowed:
    """What is allowed at an event; a postponed one with its new date counts by that."""
    starts = event.start_at if event.rescheduled_at is None else event.rescheduled_at
    return Allowed(
        row.transfers,
        row.max_transfers,
        starts - row.transfer_until_minutes * MINUTE_MS,
        row.cancellations,
        starts - row.cancel_until_hours * HOUR_MS,
    )
