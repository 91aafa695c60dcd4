"""Records when the companion seats of a zone are released to everybody, and when they are reserved again.

Who may book them is decided at each booking from the occupancy at that moment; this only records the change, once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from sync_server.events import queries as events
from sync_server.events.days.chosen_days import EVERY_DAY, ChosenDays, dates_of
from sync_server.events.overviews.active_events import active_event_ids
from sync_server.outbox.service import Fact, Subject, record_change
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.seating.layouts.overlay import EventZone
from sync_server.seating.models import CompanionReleaseRecord, EventLayoutRecord
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.plans.seat_plans import seat_plan
from sync_server.seating.taken import taken

_Releases = Mapping[tuple[str, int], CompanionReleaseRecord]
"""By zone and day."""


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
    dates = dates_of(events.event(session, row.organisation_id, row.event_id))
    released = _released(session, row)
    for gone in [noted for (_, day), noted in released.items() if day >= len(dates)]:
        session.delete(gone)  # the event no longer has that day
    return sum(
        _check_day(session, _Day(row, plan, ChosenDays(dates, 1 << day), day), checked, released, context)
        for day in range(len(dates))
    )


@dataclass(frozen=True, slots=True)
class _Day:
    """One day of an event, and its plan."""

    row: EventLayoutRecord
    plan: SeatPlan
    days: ChosenDays
    number: int


def _check_day(
    session: Session, day: _Day, checked: Collection[int], released: _Releases, context: ActionContext
) -> int:
    plan, bits = day.plan, day.days.bits if len(day.days.dates) > 1 else EVERY_DAY
    occupied = taken(session, day.row.organisation_id, day.row.event_id, context.now, bits).seats
    used = plan.layout.count_by_zone(occupied)
    changed = 0
    for number in sorted(checked):
        zone = plan.zones[number]
        full = 100 * used[number] >= plan.policy.companion_release_occupancy_threshold * zone.capacity
        noted = released.get((zone.id, day.number))
        if full != (noted is not None):
            _record_change(session, day, noted or zone, _free_companions(plan, number, occupied), context)
            changed += 1
    return changed


def _released(session: Session, event: EventLayoutRecord) -> _Releases:
    row = CompanionReleaseRecord
    statement = select(row).where(row.organisation_id == event.organisation_id, row.event_id == event.event_id)
    return {(row.zone_id, row.day): row for row in session.execute(statement).scalars()}


def _free_companions(plan: SeatPlan, zone: int, occupied: Collection[int]) -> list[str]:
    seats = {seat for pairing in plan.places.pairings if pairing.zone == zone for seat in pairing.companions}
    return plan.layout.names_of(seats.difference(occupied))


def _record_change(
    session: Session,
    day: _Day,
    subject: EventZone | CompanionReleaseRecord,
    seats: list[str],
    context: ActionContext,
) -> None:
    row, organisation_id, now = day.row, day.row.organisation_id, context.now
    if isinstance(subject, CompanionReleaseRecord):
        what, zone_id = "companion_seats_kept_again", subject.zone_id
        session.delete(subject)
    else:
        what, zone_id = "companion_seats_released", subject.id
        columns = {"event_id": row.event_id, "zone_id": zone_id, "organisation_id": organisation_id, "released_at": now}
        session.add(CompanionReleaseRecord(**columns, day=day.number, seats=list(seats)))
    session.flush()
    after = {"zone": zone_id, "seats": seats, "days": list(day.days.names)}
    fact = Fact(what, organisation_id, now, {"event": row.event_id}, after)
    record_change(session, context, Subject("event", row.event_id, None, after), fact)
