"""Creates layouts and new versions of them, and sets the organisation's seating policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.ids import uuid7
from shared.lifecycle import EventStatus
from sync_server.accounts.service import lock_organisation
from sync_server.audit.service import AuditLine, record
from sync_server.events import queries as events
from sync_server.events.rules import CLOSED_STATUSES
from sync_server.outbox.service import Fact, Subject, record_change
from sync_server.plumbing.requests.principals import ActionContext, Principal
from sync_server.plumbing.sql.writes import change
from sync_server.seating import layout_rows, queries, rules
from sync_server.seating.layout_rows import PreparedLayout, prepare
from sync_server.seating.layouts.plan import ZoneType
from sync_server.seating.layouts.validation import check_fits_venue
from sync_server.seating.models import LayoutRecord, PolicyRecord
from sync_server.seating.rules import FIELDS, Policy
from sync_server.venues import queries as venues

__all__ = [
    "activate",
    "add_version",
    "archive",
    "check_allowed",
    "create_layout",
    "prepare",
    "replace_draft",
    "set_policy",
    "switch_on",
]


def create_layout(
    session: Session, organisation_id: str, venue_id: str, prepared: PreparedLayout, context: ActionContext
) -> LayoutRecord:
    """Create the first version of a layout as a draft; InvalidRequest if it holds more people than the venue."""
    id = uuid7(context.now, context.entropy)
    return _add(session, organisation_id, venue_id, prepared, context, id=id, family_id=id, version=1)


def add_version(
    session: Session,
    organisation_id: str,
    venue_id: str,
    layout_id: str,
    *,
    prepared: PreparedLayout,
    context: ActionContext,
) -> LayoutRecord:
    """Create the next version of a layout as a draft; events keep the version they chose."""
    present = queries.layout(session, organisation_id, layout_id, venue_id=venue_id)
    venues.venue(session, organisation_id, venue_id, lock=True)  # concurrent versions must not get the same number
    version = queries.newest_version(session, present.organisation_id, present.family_id) + 1
    id = uuid7(context.now, context.entropy)
    return _add(
        session, organisation_id, venue_id, prepared, context, id=id, family_id=present.family_id, version=version
    )


def _add(
    session: Session,
    organisation_id: str,
    venue_id: str,
    prepared: PreparedLayout,
    context: ActionContext,
    *,
    id: str,
    family_id: str,
    version: int,
) -> LayoutRecord:
    plan = prepared.plan
    check_allowed(session, organisation_id, venue_id, plan.capacity, plan.zone_types)
    row = LayoutRecord(
        id=id,
        organisation_id=organisation_id,
        venue_id=venue_id,
        family_id=family_id,
        version=version,
        status="draft",
        **layout_rows.columns(prepared),
        created_at=context.now,
        updated_at=context.now,
    )
    session.add(row)
    session.flush()
    layout_rows.write(session, row, prepared)
    _record(session, row, "layout_created", context, after={"name": row.name, "version": version})
    return row


def check_allowed(
    session: Session, organisation_id: str, venue_id: str, capacity: int, zone_types: Iterable[ZoneType]
) -> None:
    """Refuse a layout that its venue cannot hold, or that has zones which the seating policy does not allow."""
    venue = venues.venue(session, organisation_id, venue_id)
    check_fits_venue(capacity, venue.max_capacity)
    rules.check_zones(queries.policy(session, organisation_id), zone_types)


def switch_on(session: Session, row: LayoutRecord, context: ActionContext) -> None:
    """Show an imported layout, now that all of it is stored: as a draft, and the newest version of its layout."""
    zone_types = [zone.zone_type for zone in queries.zones(session, row.organisation_id, row.id)]
    check_allowed(session, row.organisation_id, row.venue_id, row.total_capacity, zone_types)
    venues.venue(session, row.organisation_id, row.venue_id, lock=True)
    row.version = queries.newest_version(session, row.organisation_id, row.family_id) + 1
    row.status, row.created_at, row.updated_at = "draft", context.now, context.now
    session.flush()
    _record(session, row, "layout_created", context, after={"name": row.name, "version": row.version})


def replace_draft(
    session: Session,
    organisation_id: str,
    venue_id: str,
    layout_id: str,
    *,
    prepared: PreparedLayout,
    context: ActionContext,
) -> LayoutRecord:
    """Replace the plan of a draft; Conflict for a version that is not a draft."""
    row = queries.layout(session, organisation_id, layout_id, venue_id=venue_id, lock=True)
    if row.status != "draft":
        raise Conflict(
            f"Version {row.version} is {row.status} and can no longer be changed. Create a new version.",
            code="layout_immutable",
        )
    plan = prepared.plan
    check_allowed(session, organisation_id, venue_id, plan.capacity, plan.zone_types)
    layout_rows.erase(session, row)
    before = {"capacity": row.total_capacity}
    change(row, layout_rows.columns(prepared))
    row.updated_at = context.now
    session.flush()
    layout_rows.write(session, row, prepared)
    _record(session, row, "layout_redrawn", context, before=before, after={"capacity": row.total_capacity})
    return row


def activate(
    session: Session, organisation_id: str, venue_id: str, layout_id: str, context: ActionContext
) -> LayoutRecord:
    """Make a version available to events; from now on it never changes."""
    row = queries.layout(session, organisation_id, layout_id, venue_id=venue_id, lock=True)
    return _set_status(session, row, {"draft", "archived"}, "active", context)


def archive(
    session: Session, organisation_id: str, venue_id: str, layout_id: str, context: ActionContext
) -> LayoutRecord:
    """Archive a version, so that no further event can choose it; Conflict while an event that is not over uses it."""
    row = queries.layout(session, organisation_id, layout_id, venue_id=venue_id, lock=True)
    for event_id in queries.events_using(session, organisation_id, row.id):
        event = events.event(session, organisation_id, event_id)
        if EventStatus(event.status) not in CLOSED_STATUSES:
            raise Conflict(f"{event.name} uses this version and is not over yet.", code="layout_in_use")
    return _set_status(session, row, {"draft", "active"}, "archived", context)


def _set_status(
    session: Session, row: LayoutRecord, allowed: set[str], target: str, context: ActionContext
) -> LayoutRecord:
    if row.status not in allowed:
        raise Conflict(f"This version is already {row.status}.", code="invalid_transition")
    before, row.status, row.updated_at = row.status, target, context.now
    session.flush()
    _record(session, row, f"layout_{target}", context, before={"status": before}, after={"status": target})
    return row


def set_policy(
    session: Session, organisation_id: str, changes: Mapping[str, Any], principal: Principal, context: ActionContext
) -> Policy:
    """Change the seating policy; Forbidden for changes that only the platform may make."""
    lock_organisation(session, organisation_id)
    present = queries.policy(session, organisation_id)
    rules.check_policy_change(principal, present, changes)
    values = {name: getattr(present, name) for name in FIELDS} | {"mandatory": list(present.mandatory)}
    session.info.pop(queries.POLICIES, None)
    session.merge(PolicyRecord(**{**values, **changes}, organisation_id=organisation_id, updated_at=context.now))
    session.flush()
    before = {name: values[name] for name in changes}
    subject = "organisation", organisation_id, organisation_id
    record(session, AuditLine(context, "seating_policy_changed", *subject, before, dict(changes)))
    return queries.policy(session, organisation_id)


def _record(
    session: Session,
    row: LayoutRecord,
    name: str,
    context: ActionContext,
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    subjects = {"layout": row.id, "venue": row.venue_id, "version": row.version}
    fact = Fact(name, row.organisation_id, context.now, subjects, {"before": before, "after": after})
    record_change(session, context, Subject("layout", row.id, before, after), fact)
