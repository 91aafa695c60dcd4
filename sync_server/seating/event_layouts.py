"""Lets events use a layout in their own way, and freezes it once tickets are sold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from shared.lifecycle import EventStatus
from sync_server.audit.service import AuditLine, record
from sync_server.events import queries as events
from sync_server.events import service as event_service
from sync_server.events.rules import changed_status
from sync_server.outbox.service import Fact
from sync_server.outbox.service import record as record_fact
from sync_server.plumbing.database import announce
from sync_server.plumbing.principals import Deed
from sync_server.seating import queries, rules
from sync_server.seating.models import EventLayoutRecord, LayoutRecord
from sync_server.seating.overlay import Deltas, EventZone, LayoutZone, check_deltas, event_zones
from sync_server.seating.taken import Taken, taken
from sync_server.venues import queries as venues

CHANGING: Final = "event_layout_changing"
"""Announced with organisation and event before it is asked what is taken: whoever holds waits from now on."""
CHANGED: Final = "event_layout_changed"
"""Announced with organisation and event when what an event makes of a layout is another from this transaction on."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What an event asks for: zones by their ids, seats by their ids or seat_ids."""

    layout_id: str
    layout_version: int | None = None
    blocked_seats: tuple[str, ...] = ()
    disabled_zones: tuple[str, ...] = ()
    zone_overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    price_zones: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    seating_overrides: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Examined:
    """A choice that could be made: which version, with which deltas, and the zones that it opens."""

    layout_id: str
    version: int
    deltas: Deltas
    zones: Mapping[int, EventZone]


@dataclass(frozen=True, slots=True)
class _Event:
    """What matters of an event here."""

    id: str
    organisation_id: str
    venue_id: str
    number: int
    capacity: int
    ever_sold: bool


@dataclass(frozen=True, slots=True)
class _Choice:
    """A choice with everything that is looked up for it."""

    event: _Event
    layout: LayoutRecord
    zones: Sequence[LayoutZone]
    wanted: Deltas
    present: EventLayoutRecord | None
    gone: Taken


def choose(session: Session, organisation_id: str, event_id: str, chosen: Chosen, deed: Deed) -> EventLayoutRecord:
    """Let an event use a version of a layout with these deltas; those of before are replaced."""
    choice = _choice(session, _locked(session, organisation_id, event_id, deed), chosen, deed)
    return _keep(session, choice, chosen, _examined(session, choice, chosen, moving=False), deed)


def examine(session: Session, organisation_id: str, event_id: str, chosen: Chosen, deed: Deed) -> Examined:
    """What a choice would come to if its guests were moved; every other reason against it is told.

    Changes nothing and locks nothing: it may be another a moment later.
    """
    event = _event(session, organisation_id, event_id)
    choice = _choice(session, event, chosen, deed, lock=False)
    zones = _examined(session, choice, chosen, moving=True)
    return Examined(choice.layout.id, choice.layout.version, choice.wanted, {zone.number: zone for zone in zones})


def move(session: Session, organisation_id: str, event_id: str, chosen: Chosen, deed: Deed) -> EventLayoutRecord:
    """The same as `choose`, for whoever has closed the house and moves the guests: a frozen layout is changed too."""
    events.event(session, organisation_id, event_id, lock=True)
    choice = _choice(session, _event(session, organisation_id, event_id), chosen, deed, closed=True)
    return _keep(session, choice, chosen, _examined(session, choice, chosen, moving=True), deed)


def close_for_moving(session: Session, organisation_id: str, event_id: str, deed: Deed) -> None:
    """Nothing of this event is sold or held from this transaction on, until `open_again`."""
    events.event(session, organisation_id, event_id, lock=True)
    announce(session, CHANGING, (organisation_id, event_id), deed.now)
    queries.event_layout(session, organisation_id, event_id).moving = True
    session.flush()


def open_again(session: Session, organisation_id: str, event_id: str, deed: Deed) -> None:
    """All guests sit: the event sells and holds again."""
    events.event(session, organisation_id, event_id, lock=True)
    announce(session, CHANGING, (organisation_id, event_id), deed.now)
    queries.event_layout(session, organisation_id, event_id).moving = False
    session.flush()


def require_open(session: Session, organisation_id: str, event_id: str) -> None:
    """Unavailable, with when to try again, while guests of the event are on their way to other seats.

    Asked before an event is locked, so that nobody hangs, and after it again: it may have been closed meanwhile.
    """
    if queries.moving(session, organisation_id, event_id):
        raise rules.being_moved()


def _examined(session: Session, choice: _Choice, chosen: Chosen, *, moving: bool) -> Sequence[EventZone]:
    check_deltas(choice.zones, choice.wanted)
    rules.check_overrides(queries.policy(session, choice.event.organisation_id), chosen.seating_overrides)
    if not moving:
        _check_frozen(session, choice)
    blocked = queries.seats_by_zone(session, choice.layout.id, choice.wanted.blocked)
    zones = event_zones(choice.zones, choice.wanted, blocked)
    _check_room(session, choice.event, zones)
    return zones


def _keep(
    session: Session, choice: _Choice, chosen: Chosen, zones: Sequence[EventZone], deed: Deed
) -> EventLayoutRecord:
    row = _kept(choice, chosen, deed)
    row.event_zones = _zones_of_event(session, choice, zones, deed)
    session.add(row)
    session.flush()
    event_service.has_room(session, row.organisation_id, row.event_id, sum(zone.capacity for zone in zones))
    announce(session, CHANGED, (row.organisation_id, row.event_id), deed.now)
    after = {"layout": row.layout_id, "version": row.layout_version, "blocked": len(row.blocked_seats)}
    _tell(session, choice.event, "event_layout_chosen", deed, after=after)
    return row


def drop(session: Session, organisation_id: str, event_id: str, deed: Deed) -> None:
    """Let an event go without a layout again, while nothing of it is sold or held."""
    event = _locked(session, organisation_id, event_id, deed)
    row = queries.event_layout(session, organisation_id, event_id)
    if _selling(event, taken(session, event_id, deed.now)):
        raise _frozen()
    session.delete(row)
    session.flush()
    event_service.has_room(session, organisation_id, event_id, 0)
    _tell(session, event, "event_layout_dropped", deed, before={"layout": row.layout_id})


def _locked(session: Session, organisation_id: str, event_id: str, deed: Deed) -> _Event:
    events.event(session, organisation_id, event_id, lock=True)
    announce(session, CHANGING, (organisation_id, event_id), deed.now)
    return _event(session, organisation_id, event_id)


def _event(session: Session, organisation_id: str, event_id: str) -> _Event:
    row = events.event(session, organisation_id, event_id)
    changed_status(EventStatus(row.status))
    return _Event(row.id, organisation_id, row.venue_id, row.number, row.capacity, row.tickets_issued > 0)


def _choice(
    session: Session, event: _Event, chosen: Chosen, deed: Deed, *, lock: bool = True, closed: bool = False
) -> _Choice:
    present = queries.maybe_event_layout(session, event.organisation_id, event.id)
    if not closed:
        require_open(session, event.organisation_id, event.id)
    layout = _usable(session, event, chosen, present, lock=lock)
    zones = queries.zones(session, layout.id)
    wanted = _deltas(session, layout, zones, chosen)
    return _Choice(event, layout, zones, wanted, present, taken(session, event.id, deed.now))


def _usable(
    session: Session, event: _Event, chosen: Chosen, present: EventLayoutRecord | None, *, lock: bool
) -> LayoutRecord:
    layout = queries.layout(session, event.organisation_id, chosen.layout_id, venue_id=event.venue_id, lock=lock)
    if chosen.layout_version is not None and chosen.layout_version != layout.version:
        raise InvalidRequest(
            f"layout_version: this id is version {layout.version}. Every version has an id of its own.",
            field="layout_version",
        )
    if layout.status != "active" and (present is None or present.layout_id != layout.id):
        raise Conflict(
            f"Version {layout.version} of this layout is {layout.status}. Activate it first.", code="layout_not_active"
        )
    return layout


def _deltas(session: Session, layout: LayoutRecord, zones: Sequence[LayoutZone], chosen: Chosen) -> Deltas:
    numbers = {zone.id: zone.number for zone in zones}
    _all_known("zone", {*chosen.disabled_zones, *chosen.zone_overrides, *chosen.price_zones}, numbers)
    seats = queries.seat_numbers(session, layout.id, chosen.blocked_seats)
    _all_known("seat", chosen.blocked_seats, seats)
    return Deltas(
        frozenset(seats[name] for name in chosen.blocked_seats),
        frozenset(numbers[id] for id in chosen.disabled_zones),
        {numbers[id]: changed for id, changed in chosen.zone_overrides.items()},
        {numbers[id]: price for id, price in chosen.price_zones.items()},
    )


def _all_known(kind: str, named: Iterable[str], known: Mapping[str, int]) -> None:
    unknown = sorted(name for name in named if name not in known)
    if unknown:
        raise InvalidRequest(
            f"This layout has no {kind} {', '.join(unknown[:10])}.", code=f"unknown_{kind}", unknown=unknown[:100]
        )


def frozen(session: Session, organisation_id: str, event_id: str, now: Millis) -> bool:
    """Whether the layout version stays as it is: something is sold or held."""
    row = events.event(session, organisation_id, event_id)
    gone = taken(session, event_id, now)
    return row.ticket_sequence > 0 or gone.sold or bool(gone.seats) or bool(+gone.places)


def _selling(event: _Event, gone: Taken) -> bool:
    return event.ever_sold or gone.sold or bool(gone.seats) or bool(+gone.places)


def _check_frozen(session: Session, choice: _Choice) -> None:
    """Once something is sold or held, the version stays, and nobody loses the place that was sold to him."""
    if not _selling(choice.event, choice.gone):
        return
    if choice.present is None:
        raise Conflict(
            "Tickets of this event are issued already, and no seat of a layout belongs to any of them. Choose the "
            "layout before the first ticket, or cancel those tickets first.",
            code="tickets_without_layout",
        )
    before, layout_id = queries.deltas(choice.present), choice.layout.id
    if choice.present.layout_id != layout_id or _types(choice.zones, before) != _types(choice.zones, choice.wanted):
        raise _frozen()
    used = queries.seats_by_zone(session, layout_id, choice.gone.seats) + choice.gone.places
    lost = choice.gone.seats & (choice.wanted.blocked - before.blocked)
    if lost or any(used[number] for number in choice.wanted.disabled - before.disabled):
        seats = queries.seat_names(session, layout_id, lost)[:100]
        raise Conflict(
            "Some of what shall be closed is sold or held. Move those guests first.", code="seats_taken", seats=seats
        )


def _types(zones: Iterable[LayoutZone], deltas: Deltas) -> dict[int, str]:
    return {zone.number: str(deltas.zones.get(zone.number, {}).get("zone_type", zone.zone_type)) for zone in zones}


def _frozen() -> Conflict:
    return Conflict(
        "Seats of this event are sold or held, so its layout version and zone types stay as they are. "
        "Seats that are still free can be blocked.",
        code="layout_frozen",
    )


def _check_room(session: Session, event: _Event, zones: Sequence[EventZone]) -> None:
    policy = queries.policy(session, event.organisation_id)
    rules.check_zones(policy, [zone.zone_type for zone in zones])
    room = sum(zone.capacity for zone in zones)
    venue = venues.venue(session, event.organisation_id, event.venue_id)
    if venue.max_capacity and room > venue.max_capacity:
        raise Conflict(
            f"The zones hold {room} people, the venue no more than {venue.max_capacity}.",
            code="venue_capacity_exceeded",
        )
    if event.capacity > room:
        raise Conflict(
            f"The event would sell {event.capacity} tickets, and this layout holds {room} people. "
            "Lower the event's capacity, or open more zones.",
            code="event_capacity_exceeded",
        )


def _kept(choice: _Choice, chosen: Chosen, deed: Deed) -> EventLayoutRecord:
    event, wanted = choice.event, choice.wanted
    row = choice.present or EventLayoutRecord(
        event_id=event.id, organisation_id=event.organisation_id, revision=0, event_zones={}, created_at=deed.now
    )
    if row.layout_id != choice.layout.id:
        row.event_zones = {}
    row.revision += 1
    row.layout_id, row.layout_version = choice.layout.id, choice.layout.version
    row.blocked_seats, row.disabled_zones = sorted(wanted.blocked), sorted(wanted.disabled)
    row.zone_overrides = {str(number): dict(changed) for number, changed in wanted.zones.items()}
    row.price_zones = {str(number): dict(price) for number, price in wanted.prices.items()}
    row.seating_overrides = dict(chosen.seating_overrides)
    row.updated_at = deed.now
    return row


def _zones_of_event(session: Session, choice: _Choice, zones: Iterable[EventZone], deed: Deed) -> dict[str, Any]:
    """Let gates know the zones: each has one of the event's own, by its name where that is there already."""
    there = {zone.name: zone.number for zone in events.zones(session, choice.event.id)}
    present = choice.present
    numbers: dict[str, Any] = dict(present.event_zones) if present is not None else {}
    for zone in zones:
        number = numbers.get(str(zone.number), there.get(zone.name))
        numbers[str(zone.number)] = _zone_of_event(session, choice.event, zone, number, deed)
    return numbers


def _zone_of_event(session: Session, event: _Event, zone: EventZone, number: int | None, deed: Deed) -> int:
    words = {
        "name": zone.name,
        "kind": zone.zone_type.value,
        "capacity": None if zone.zone_type.numbered else zone.capacity,  # a reserved seat is its own capacity
        "membership_tier": zone.membership_tier if zone.access_mode == "membership_tier" else None,
    }
    if number is None:
        return event_service.add_zone(session, event.organisation_id, event.id, words, deed).number
    present = events.zone(session, event.id, number)
    changes = {name: value for name, value in words.items() if getattr(present, name) != value}
    if changes:
        event_service.change_zone(session, event.organisation_id, event.id, number, changes=changes, deed=deed)
    return number


def _tell(
    session: Session,
    event: _Event,
    name: str,
    deed: Deed,
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    where = event.organisation_id
    record(session, AuditLine(deed.actor, name, "event", event.id, where, deed.now, before, after))
    subjects = {"event": event.id, "event_number": event.number, "venue": event.venue_id}
    record_fact(session, Fact(name, where, deed.now, subjects, {"before": before, "after": after}))
