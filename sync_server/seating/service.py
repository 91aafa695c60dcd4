"""Makes layouts and new versions of them, and sets the organisation's seating policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.ids import uuid7
from shared.lifecycle import EventStatus
from sync_server.accounts.service import lock_organisation
from sync_server.audit.service import AuditLine, record
from sync_server.events import queries as events
from sync_server.events.rules import OVER
from sync_server.outbox.service import Fact
from sync_server.outbox.service import record as record_fact
from sync_server.plumbing.principals import Deed, Principal
from sync_server.seating import queries, records, rules
from sync_server.seating.checks import check_room
from sync_server.seating.models import LayoutRecord, PolicyRecord
from sync_server.seating.plan import LayoutPlan
from sync_server.seating.records import Drawn, drawn
from sync_server.seating.rules import FIELDS, Policy
from sync_server.venues import queries as venues

__all__ = ["activate", "add_version", "archive", "create_layout", "drawn", "redraw", "set_policy"]


def create_layout(session: Session, organisation_id: str, venue_id: str, of: Drawn, deed: Deed) -> LayoutRecord:
    """The first version of a new layout, as a draft; InvalidRequest where it holds more people than its venue."""
    id = uuid7(deed.now, deed.entropy)
    return _add(session, organisation_id, venue_id, of, deed, id=id, family_id=id, version=1)


def add_version(
    session: Session, organisation_id: str, venue_id: str, layout_id: str, *, of: Drawn, deed: Deed
) -> LayoutRecord:
    """The next version of a layout, as a draft; events go on using the version they chose."""
    present = queries.layout(session, organisation_id, layout_id, venue_id=venue_id)
    venues.venue(session, organisation_id, venue_id, lock=True)  # two new versions at once must not get one number
    version = queries.newest_version(session, present.family_id) + 1
    id = uuid7(deed.now, deed.entropy)
    return _add(session, organisation_id, venue_id, of, deed, id=id, family_id=present.family_id, version=version)


def _add(
    session: Session,
    organisation_id: str,
    venue_id: str,
    of: Drawn,
    deed: Deed,
    *,
    id: str,
    family_id: str,
    version: int,
) -> LayoutRecord:
    _allow(session, organisation_id, venue_id, of.plan)
    plan = of.plan
    row = LayoutRecord(
        id=id,
        organisation_id=organisation_id,
        venue_id=venue_id,
        family_id=family_id,
        version=version,
        name=plan.name,
        description=plan.description,
        status="draft",
        total_capacity=plan.capacity,
        drawing=dict(plan.drawing),
        created_at=deed.now,
        updated_at=deed.now,
    )
    session.add(row)
    session.flush()
    records.write(session, row, of)
    _tell(session, row, "layout_created", deed, after={"name": row.name, "version": version})
    return row


def _allow(session: Session, organisation_id: str, venue_id: str, plan: LayoutPlan) -> None:
    venue = venues.venue(session, organisation_id, venue_id)
    check_room(plan, venue.max_capacity)
    rules.check_zones(queries.policy(session, organisation_id), [zone.zone_type for zone in plan.zones])


def redraw(
    session: Session, organisation_id: str, venue_id: str, layout_id: str, *, of: Drawn, deed: Deed
) -> LayoutRecord:
    """Another plan for a draft; Conflict for a version that events may use."""
    row = queries.layout(session, organisation_id, layout_id, venue_id=venue_id, lock=True)
    if row.status != "draft":
        raise Conflict(
            f"Version {row.version} is {row.status}, and what events may use is never changed. Make a new version.",
            code="layout_immutable",
        )
    plan = of.plan
    _allow(session, organisation_id, venue_id, plan)
    records.erase(session, row)
    before = {"capacity": row.total_capacity}
    row.name, row.description, row.drawing = plan.name, plan.description, dict(plan.drawing)
    row.total_capacity, row.updated_at = plan.capacity, deed.now
    session.flush()
    records.write(session, row, of)
    _tell(session, row, "layout_redrawn", deed, before=before, after={"capacity": row.total_capacity})
    return row


def activate(session: Session, organisation_id: str, venue_id: str, layout_id: str, deed: Deed) -> LayoutRecord:
    """Let events use a version; from now on it is never changed."""
    row = queries.layout(session, organisation_id, layout_id, venue_id=venue_id, lock=True)
    return _walk(session, row, {"draft", "archived"}, "active", deed)


def archive(session: Session, organisation_id: str, venue_id: str, layout_id: str, deed: Deed) -> LayoutRecord:
    """Let no further event use a version; Conflict while an event that is not over does."""
    row = queries.layout(session, organisation_id, layout_id, venue_id=venue_id, lock=True)
    for event_id in queries.used_by(session, row.id):
        event = events.event(session, organisation_id, event_id)
        if EventStatus(event.status) not in OVER:
            raise Conflict(f"{event.name} uses this version, and is not over yet.", code="layout_in_use")
    return _walk(session, row, {"draft", "active"}, "archived", deed)


def _walk(session: Session, row: LayoutRecord, allowed: set[str], target: str, deed: Deed) -> LayoutRecord:
    if row.status not in allowed:
        raise Conflict(f"This version is {row.status} already.", code="invalid_transition")
    before, row.status, row.updated_at = row.status, target, deed.now
    session.flush()
    _tell(session, row, f"layout_{target}", deed, before={"status": before}, after={"status": target})
    return row


def set_policy(
    session: Session, organisation_id: str, changes: Mapping[str, Any], who: Principal, deed: Deed
) -> Policy:
    """Another seating policy; Forbidden for what only the platform decides."""
    lock_organisation(session, organisation_id)
    present = queries.policy(session, organisation_id)
    rules.check_policy_change(who, present, changes)
    values = {name: getattr(present, name) for name in FIELDS} | {"mandatory": list(present.mandatory)}
    session.merge(PolicyRecord(**{**values, **changes}, organisation_id=organisation_id, updated_at=deed.now))
    session.flush()
    before = {name: values[name] for name in changes}
    subject = organisation_id
    record(
        session,
        AuditLine(
            deed.actor, "seating_policy_changed", "organisation", subject, subject, deed.now, before, dict(changes)
        ),
    )
    return queries.policy(session, organisation_id)


def _tell(
    session: Session,
    row: LayoutRecord,
    name: str,
    deed: Deed,
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    where = row.organisation_id
    record(session, AuditLine(deed.actor, name, "layout", row.id, where, deed.now, before, after))
    subjects = {"layout": row.id, "venue": row.venue_id, "version": row.version}
    record_fact(session, Fact(name, where, deed.now, subjects, {"before": before, "after": after}))
