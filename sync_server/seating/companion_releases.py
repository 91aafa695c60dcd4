"""Records when the companion seats of a zone are released to everybody, and when they are reserved again.

Who may book them is decided at each booking from the occupancy at that moment; this only records the change, once.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.orm import Session

from sync_server.events.active_events import active_event_ids
from sync_server.outbox.service import Fact, Subject, record_change
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.principals import ActionContext
from sync_server.seating.layouts.overlay import EventZone
from sync_server.seating.models import CompanionReleaseRecord, EventLayoutRecord
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.plans.seat_plans import seat_plan
from sync_server.seating.taken import taken


def note_releases(session: Session, context: ActionContext) -> int:
    """Check all events on sale or taking place; returns how many zones changed."""
    rows = session.execute(select(EventLayoutRecord).order_by(EventLayoutRecord.event_id)).scalars().all()
    active = active_event_ids(session, [EventKey(row.organisation_id, row.event_id) for row in rows])
    return sum(_check_event(session, row, context) for row in rows if row.event_id in active)


def _check_event(session: Session, row: EventLayoutRecord, context: ActionContext) -> int:
    plan = seat_plan(session, row)
    checked = {pairing.zone for pairing in plan.places.pairings if pairing.companions}
    if not checked or not plan.policy.enforce_accessibility_rules:
        return 0
    occupied = taken(session, row.organisation_id, row.event_id, context.now).seats
    used, released = plan.layout.count_by_zone(occupied), _released(session, row)
    changed = 0
    for number in sorted(checked):
        zone = plan.zones[number]
        full = 100 * used[number] >= plan.policy.companion_release_occupancy_threshold * zone.capacity
        if full != (zone.id in released):
            seats = _free_companions(plan, number, occupied)
            _record_change(session, row, released.get(zone.id) or zone, seats, context)
            changed += 1
    return changed


def _released(session: Session, event: EventLayoutRecord) -> dict[str, CompanionReleaseRecord]:
    row = CompanionReleaseRecord
    statement = select(row).where(row.organisation_id == event.organisation_id, row.event_id == event.event_id)
    return {row.zone_id: row for row in session.execute(statement).scalars()}


def _free_companions(plan: SeatPlan, zone: int, occupied: Collection[int]) -> list[str]:
    seats = {seat for pairing in plan.places.pairings if pairing.zone == zone for seat in pairing.companions}
    return plan.layout.names_of(seats.difference(occupied))


def _record_change(
    session: Session,
    row: EventLayoutRecord,
    subject: EventZone | CompanionReleaseRecord,
    seats: list[str],
    context: ActionContext,
) -> None:
    organisation_id, now = row.organisation_id, context.now
    if isinstance(subject, CompanionReleaseRecord):
        what, zone_id = "companion_seats_kept_again", subject.zone_id
        session.delete(subject)
    else:
        what, zone_id = "companion_seats_released", subject.id
        columns = {"event_id": row.event_id, "zone_id": zone_id, "organisation_id": organisation_id, "released_at": now}
        session.add(CompanionReleaseRecord(**columns, seats=list(seats)))
    session.flush()
    after = {"zone": zone_id, "seats": seats}
    fact = Fact(what, organisation_id, now, {"event": row.event_id}, after)
    record_change(session, context, Subject("event", row.event_id, None, after), fact)
