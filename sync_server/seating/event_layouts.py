"""Assigns layouts to events with overrides, and freezes them once tickets are sold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from shared.lifecycle import EventStatus
from sync_server.events import queries as events
from sync_server.events import service as event_service
from sync_server.events.permissions import Part, check_part
from sync_server.events.rules import check_changeable
from sync_server.outbox.service import Fact, Subject, record_change
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.signals import send
from sync_server.seating import queries, rules
from sync_server.seating.layouts.overlay import Deltas, EventZone, LayoutZone, check_deltas, event_zones
from sync_server.seating.models import EventLayoutRecord, LayoutRecord
from sync_server.seating.plans.layout_seats import LayoutSeats
from sync_server.seating.plans.seat_plans import layout_seats, seat_plan
from sync_server.seating.signals import LayoutChanging
from sync_server.seating.taken import Taken, taken
from sync_server.venues import queries as venues


@dataclass(frozen=True, slots=True)
class LayoutChoice:
    """The layout version an event asks for, with its overrides: zones by id, seats by id or seat_id."""

    layout_id: str
    layout_version: int | None = None
    blocked_seats: tuple[str, ...] = ()
    disabled_zones: tuple[str, ...] = ()
    zone_overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    price_zones: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    seating_overrides: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckedChoice:
    """A choice that passed all checks: the version, its deltas and the zones it opens."""

    layout_id: str
    version: int
    deltas: Deltas
    zones: Mapping[int, EventZone]


@dataclass(frozen=True, slots=True)
class _Event:
    """The fields of an event that the checks need."""

    id: str
    organisation_id: str
    venue_id: str
    number: int
    capacity: int
    ever_sold: bool


@dataclass(frozen=True, slots=True)
class _Choice:
    """A choice with everything looked up for it."""

    event: _Event
    layout: LayoutRecord
    seats: LayoutSeats
    wanted: Deltas
    present: EventLayoutRecord | None
    taken: Taken


def choose(
    session: Session, organisation_id: str, event_id: str, chosen: LayoutChoice, context: ActionContext
) -> EventLayoutRecord:
    """Assign a layout version with these overrides to an event, replacing its previous choice."""
    choice = _choice(session, _locked(session, organisation_id, event_id, context), chosen, context)
    return _store(session, choice, chosen, _check(session, choice, chosen, moving=False), context)


def examine(
    session: Session, organisation_id: str, event_id: str, chosen: LayoutChoice, context: ActionContext
) -> CheckedChoice:
    """Check a choice as if its guests were moved, reporting every other reason against it.

    Changes and locks nothing, so the result may be outdated a moment later.
    """
    event = _event(session, organisation_id, event_id)
    choice = _choice(session, event, chosen, context, lock=False)
    zones = _check(session, choice, chosen, moving=True)
    return CheckedChoice(choice.layout.id, choice.layout.version, choice.wanted, {zone.number: zone for zone in zones})


def move(
    session: Session, organisation_id: str, event_id: str, chosen: LayoutChoice, context: ActionContext
) -> EventLayoutRecord:
    """Like `choose`, but changes a frozen layout too: only for an event closed with `close_for_move`."""
    events.event(session, organisation_id, event_id, lock=True)
    choice = _choice(session, _event(session, organisation_id, event_id), chosen, context, closed=True)
    return _store(session, choice, chosen, _check(session, choice, chosen, moving=True), context)


def locked_event_layout(
    session: Session, organisation_id: str, event_id: str, context: ActionContext
) -> EventLayoutRecord:
    """How an event uses its layout, locked until the end of the transaction: new holds wait."""
    require_not_moving(session, organisation_id, event_id)
    _locked(session, organisation_id, event_id, context)
    require_not_moving(session, organisation_id, event_id)
    return queries.event_layout(session, organisation_id, event_id)


def store_capacity(session: Session, row: EventLayoutRecord) -> None:
    """Tell the event how many it can seat, now that other seats are blocked."""
    plan = seat_plan(session, row)
    event_service.set_layout_capacity(session, row.organisation_id, row.event_id, plan.capacity)


def close_for_move(session: Session, organisation_id: str, event_id: str, context: ActionContext) -> None:
    """Stop sales and holds of an event from this transaction on, until `reopen`."""
    check_part(events.event(session, organisation_id, event_id, lock=True), Part.SALE, context)
    send(session, LayoutChanging(organisation_id, event_id))
    queries.event_layout(session, organisation_id, event_id).moving = True
    session.flush()


def reopen(session: Session, organisation_id: str, event_id: str) -> None:
    """Resume sales and holds: all guests have their new seats."""
    events.event(session, organisation_id, event_id, lock=True)
    send(session, LayoutChanging(organisation_id, event_id))
    queries.event_layout(session, organisation_id, event_id).moving = False
    session.flush()


def require_not_moving(session: Session, organisation_id: str, event_id: str) -> None:
    """Raise Unavailable with a retry time while guests of the event are being moved.

    Call it before locking an event, so that nobody waits for the lock, and again after: it may have closed meanwhile.
    """
    if queries.guests_moving(session, organisation_id, event_id):
        raise rules.guests_being_moved()


def _check(session: Session, choice: _Choice, chosen: LayoutChoice, *, moving: bool) -> Sequence[EventZone]:
    check_deltas(choice.seats.zones, choice.wanted)
    rules.check_overrides(queries.policy(session, choice.event.organisation_id), chosen.seating_overrides)
    if not moving:
        _check_frozen(choice)
    zones = event_zones(choice.seats.zones, choice.wanted, choice.seats.count_by_zone(choice.wanted.blocked))
    _check_capacity(session, choice.event, zones)
    return zones


def _store(
    session: Session, choice: _Choice, chosen: LayoutChoice, zones: Sequence[EventZone], context: ActionContext
) -> EventLayoutRecord:
    row = _filled_row(choice, chosen, context)
    row.event_zones = _sync_event_zones(session, choice, zones, context)
    session.add(row)
    session.flush()
    event_service.set_layout_capacity(session, row.organisation_id, row.event_id, sum(zone.capacity for zone in zones))
    after = {"layout": row.layout_id, "version": row.layout_version, "blocked": len(row.blocked_seats)}
    _record(session, choice.event, "event_layout_chosen", context, after=after)
    return row


def drop(session: Session, organisation_id: str, event_id: str, context: ActionContext) -> None:
    """Remove the layout of an event while nothing of it is sold or held."""
    event = _locked(session, organisation_id, event_id, context)
    row = queries.event_layout(session, organisation_id, event_id)
    if _has_sales(event, taken(session, organisation_id, event_id, context.now)):
        raise _frozen()
    session.delete(row)
    session.flush()
    event_service.set_layout_capacity(session, organisation_id, event_id, 0)
    _record(session, event, "event_layout_dropped", context, before={"layout": row.layout_id})


def _locked(session: Session, organisation_id: str, event_id: str, context: ActionContext) -> _Event:
    check_part(events.event(session, organisation_id, event_id, lock=True), Part.SALE, context)
    send(session, LayoutChanging(organisation_id, event_id))
    return _event(session, organisation_id, event_id)


def _event(session: Session, organisation_id: str, event_id: str) -> _Event:
    row = events.event(session, organisation_id, event_id)
    check_changeable(EventStatus(row.status))
    return _Event(row.id, organisation_id, row.venue_id, row.number, row.capacity, row.tickets_issued > 0)


def _choice(
    session: Session,
    event: _Event,
    chosen: LayoutChoice,
    context: ActionContext,
    *,
    lock: bool = True,
    closed: bool = False,
) -> _Choice:
    present = queries.find_event_layout(session, event.organisation_id, event.id)
    if not closed:
        require_not_moving(session, event.organisation_id, event.id)
    layout = _usable(session, event, chosen, present, lock=lock)
    seats = layout_seats(session, event.organisation_id, layout.id)
    return _Choice(
        event,
        layout,
        seats,
        _deltas(seats, chosen),
        present,
        taken(session, event.organisation_id, event.id, context.now),
    )


def _usable(
    session: Session, event: _Event, chosen: LayoutChoice, present: EventLayoutRecord | None, *, lock: bool
) -> LayoutRecord:
    layout = queries.layout(session, event.organisation_id, chosen.layout_id, venue_id=event.venue_id, lock=lock)
    if chosen.layout_version is not None and chosen.layout_version != layout.version:
        raise InvalidRequest(
            f"layout_version: this id is version {layout.version}. Every version has its own id.",
            field="layout_version",
        )
    if layout.status != "active" and (present is None or present.layout_id != layout.id):
        raise Conflict(
            f"Version {layout.version} of this layout is {layout.status}. Activate it first.", code="layout_not_active"
        )
    return layout


def _deltas(layout: LayoutSeats, chosen: LayoutChoice) -> Deltas:
    numbers = {zone.id: zone.number for zone in layout.zones}
    _require_known("zone", {*chosen.disabled_zones, *chosen.zone_overrides, *chosen.price_zones}, numbers)
    seats = layout.find_all(chosen.blocked_seats)
    _require_known("seat", chosen.blocked_seats, seats)
    return Deltas(
        frozenset(seats[name] for name in chosen.blocked_seats),
        frozenset(numbers[id] for id in chosen.disabled_zones),
        {numbers[id]: changed for id, changed in chosen.zone_overrides.items()},
        {numbers[id]: price for id, price in chosen.price_zones.items()},
    )


def _require_known(kind: str, names: Iterable[str], numbers: Mapping[str, int]) -> None:
    unknown = sorted(name for name in names if name not in numbers)
    if unknown:
        raise InvalidRequest(
            f"The layout has no {kind} {', '.join(unknown[:10])}.", code=f"unknown_{kind}", unknown=unknown[:100]
        )


def frozen(session: Session, organisation_id: str, event_id: str, now: Millis) -> bool:
    """Whether the layout version cannot be changed because something is sold or held."""
    row = events.event(session, organisation_id, event_id)
    occupied = taken(session, organisation_id, event_id, now)
    return row.ticket_sequence > 0 or occupied.sold or bool(occupied.seats) or bool(+occupied.places)


def _has_sales(event: _Event, taken: Taken) -> bool:
    return event.ever_sold or taken.sold or bool(taken.seats) or bool(+taken.places)


def _check_frozen(choice: _Choice) -> None:
    """Once something is sold or held, the version stays, and no sold seat or place may be closed."""
    if not _has_sales(choice.event, choice.taken):
        return
    if choice.present is None:
        raise Conflict(
            "Tickets without seats have already been issued for this event. Choose the layout before the first ticket, "
            "or cancel those tickets first.",
            code="tickets_without_layout",
        )
    before, zones = queries.deltas(choice.present), choice.seats.zones
    if choice.present.layout_id != choice.layout.id or _types(zones, before) != _types(zones, choice.wanted):
        raise _frozen()
    used = choice.seats.count_by_zone(choice.taken.seats) + choice.taken.places
    lost = choice.taken.seats & (choice.wanted.blocked - before.blocked)
    if lost or any(used[number] for number in choice.wanted.disabled - before.disabled):
        raise Conflict(
            "Some of the seats or zones to be closed are sold or held. Move those guests first.",
            code="seats_taken",
            seats=choice.seats.names_of(lost)[:100],
        )


def _types(zones: Iterable[LayoutZone], deltas: Deltas) -> dict[int, str]:
    return {zone.number: str(deltas.zones.get(zone.number, {}).get("zone_type", zone.zone_type)) for zone in zones}


def _frozen() -> Conflict:
    return Conflict(
        "Seats of this event are sold or held, so its layout version and zone types cannot change. "
        "You can still block free seats.",
        code="layout_frozen",
    )


def _check_capacity(session: Session, event: _Event, zones: Sequence[EventZone]) -> None:
    policy = queries.policy(session, event.organisation_id)
    rules.check_zones(policy, [zone.zone_type for zone in zones])
    capacity = sum(zone.capacity for zone in zones)
    venue = venues.venue(session, event.organisation_id, event.venue_id)
    if venue.max_capacity and capacity > venue.max_capacity:
        raise Conflict(
            f"The zones hold {capacity} people, but the venue only {venue.max_capacity}.",
            code="venue_capacity_exceeded",
        )
    if event.capacity > capacity:
        raise Conflict(
            f"The event has a capacity of {event.capacity}, but the layout only {capacity}. "
            "Lower the capacity of the event, or open more zones.",
            code="event_capacity_exceeded",
        )


def _filled_row(choice: _Choice, chosen: LayoutChoice, context: ActionContext) -> EventLayoutRecord:
    event, wanted = choice.event, choice.wanted
    row = choice.present or EventLayoutRecord(
        event_id=event.id, organisation_id=event.organisation_id, revision=0, event_zones={}, created_at=context.now
    )
    if row.layout_id != choice.layout.id:
        row.event_zones, row.released_seats = {}, []
    row.revision += 1
    row.layout_id, row.layout_version = choice.layout.id, choice.layout.version
    row.blocked_seats, row.disabled_zones = sorted(wanted.blocked), sorted(wanted.disabled)
    row.zone_overrides = {str(number): dict(changed) for number, changed in wanted.zones.items()}
    row.price_zones = {str(number): dict(price) for number, price in wanted.prices.items()}
    row.seating_overrides = dict(chosen.seating_overrides)
    row.updated_at = context.now
    return row


def _sync_event_zones(
    session: Session, choice: _Choice, zones: Iterable[EventZone], context: ActionContext
) -> dict[str, Any]:
    """Create or update the event's zone for each layout zone; an existing one of the same name is reused."""
    existing = {zone.name: zone.number for zone in events.zones(session, choice.event.organisation_id, choice.event.id)}
    present = choice.present
    numbers: dict[str, Any] = dict(present.event_zones) if present is not None else {}
    for zone in zones:
        number = numbers.get(str(zone.number), existing.get(zone.name))
        numbers[str(zone.number)] = _sync_event_zone(session, choice.event, zone, number, context)
    return numbers


def _sync_event_zone(
    session: Session, event: _Event, zone: EventZone, number: int | None, context: ActionContext
) -> int:
    columns: dict[str, Any] = {
        "name": zone.name,
        "kind": zone.zone_type.value,
        "capacity": None if zone.zone_type.numbered else zone.capacity,  # limited by its seats
        "membership_tier": zone.membership_tier if zone.access_mode == "membership_tier" else None,
    }
    if number is None:
        return event_service.add_zone(session, event.organisation_id, event.id, columns, context).number
    present = events.zone(session, event.organisation_id, event.id, number)
    changes = {name: value for name, value in columns.items() if getattr(present, name) != value}
    if changes:
        event_service.change_zone(session, event.organisation_id, event.id, number, changes=changes, context=context)
    return number


def _record(
    session: Session,
    event: _Event,
    name: str,
    context: ActionContext,
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    subjects = {"event": event.id, "event_number": event.number, "venue": event.venue_id}
    fact = Fact(name, event.organisation_id, context.now, subjects, {"before": before, "after": after})
    record_change(session, context, Subject("event", event.id, before, after), fact)
