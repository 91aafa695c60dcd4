"""What is known of events on sale: kept in this process, and checked by the very statement that holds a seat."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from shared.lifecycle import EventStatus
from sync_server.events import queries as events
from sync_server.holds.models import DeskRow
from sync_server.holds.rules import Sale
from sync_server.plumbing.database import Database, of
from sync_server.seating import queries as seating
from sync_server.seating.house import policy_at
from sync_server.seating.overlay import EventZone, event_zones
from sync_server.seating.rules import Policy
from sync_server.seating.spots import Spot, policy_changed_at, spots
from sync_server.venues import queries as venues

BUILDERS: Final = 64
MOST: Final = 32
"""The seats of a stadium take some thirty megabytes."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The seats and zones of an event, from one revision of its layout."""

    built_from: tuple[Any, ...]
    zones: Mapping[int, EventZone]
    spots: Mapping[str, Spot]  # by id
    numbers: Mapping[int, str]  # of seats: their ids

    @property
    def layout_id(self) -> str:
        """The layout's; only of an event that has one."""
        return str(self.built_from[0])

    @property
    def room(self) -> int:
        """How many people its zones hold."""
        return sum(zone.capacity for zone in self.zones.values())


@dataclass(frozen=True, slots=True)
class Known:
    """One event."""

    id: str
    organisation_id: str
    number: int
    venue_capacity: int
    sale: Sale
    policy: Policy
    plan: Plan

    @property
    def bound(self) -> int | None:
        """How many it sells in all, where that is less than its zones hold: then all who hold wait for one another."""
        capacity = self.sale.capacity or (self.venue_capacity if not self.sale.revision else 0)
        return capacity if capacity and (not self.sale.revision or capacity < self.plan.room) else None


NO_PLAN: Final = Plan((), {}, {}, {})


class Knowing:
    """The events that this process has sold of lately."""

    def __init__(self, database: Database) -> None:
        """Knows none yet."""
        self._database = database
        self._turn = threading.Lock()
        self._kept: OrderedDict[str, Known] = OrderedDict()
        # A few for all: one for each name that anybody ever asked for would never be given back.
        self._building = tuple(threading.Lock() for _ in range(BUILDERS))

    def event(self, organisation_id: str, event_id: str) -> Known:
        """That event of this organisation as it was when it was last looked at; NotFound where there is none."""
        with self._turn:
            kept = self._kept.get(event_id)
        if kept is not None and kept.organisation_id == organisation_id:
            return kept
        return self.look(organisation_id, event_id, kept)

    def anew(self, organisation_id: str, event_id: str) -> Known:
        """That event as it is now, whatever was known of it."""
        return self.look(organisation_id, event_id, self.event(organisation_id, event_id))

    def look(self, organisation_id: str, event_id: str, stale: Known | None = None) -> Known:
        """Look at it anew, unless somebody has done so since `stale` was seen."""
        with self._building[hash(event_id) % BUILDERS]:
            with self._turn:
                kept = self._kept.get(event_id)
            if kept is not None and kept is not stale and kept.organisation_id == organisation_id:
                return kept
            found = self._load(organisation_id, event_id, kept.plan if kept is not None else NO_PLAN)
        self._keep(found)
        return found

    def _load(self, organisation_id: str, event_id: str, plan: Plan) -> Known:
        with self._database.reading() as session:
            desk = session.execute(select(DeskRow.turn).where(DeskRow.event_id == event_id)).scalar_one_or_none()
            if desk is not None:
                return load(session, organisation_id, event_id, plan, desk)
        with self._database.writing() as session:
            events.event(session, organisation_id, event_id)
            return load(session, organisation_id, event_id, plan, open_desk(session, organisation_id, event_id))

    def _keep(self, found: Known) -> None:
        with self._turn:
            self._kept[found.id] = found
            self._kept.move_to_end(found.id)
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)


def open_desk(session: Session, organisation_id: str, event_id: str) -> int:
    """The event's desk, opened where it never was; its turn."""
    dialect = sqlite if of(session).embedded else postgresql
    row = {"event_id": event_id, "organisation_id": organisation_id, "turn": 1}
    session.execute(dialect.insert(DeskRow).values(row).on_conflict_do_nothing())
    return session.execute(select(DeskRow.turn).where(DeskRow.event_id == event_id)).scalar_one()


def load(session: Session, organisation_id: str, event_id: str, plan: Plan, turn: int) -> Known:
    """An event as it is now; what was built of its seats before is used again where nothing of it has changed."""
    event = events.event(session, organisation_id, event_id)
    row = seating.maybe_event_layout(session, organisation_id, event_id)
    policy = seating.policy(session, organisation_id) if row is None else policy_at(session, row)
    sale = Sale(
        turn,
        EventStatus(event.status),
        event.rescheduled_at,
        event.sale_start_at,
        event.sale_end_at,
        event.capacity,
        row.revision if row else 0,
        policy_changed_at(session, organisation_id),
        row is not None and row.moving,
    )
    venue = venues.venue(session, organisation_id, event.venue_id)
    plan = NO_PLAN if row is None else _plan(session, row, policy, plan)
    return Known(event.id, organisation_id, event.number, venue.max_capacity, sale, policy, plan)


def _plan(session: Session, row: Any, policy: Policy, before: Plan) -> Plan:
    built_from = (row.layout_id, row.revision, policy.enforce_accessibility_rules)
    if before.built_from == built_from:
        return before
    deltas = seating.deltas(row)
    blocked = seating.seats_by_zone(session, row.layout_id, deltas.blocked)
    zones = {zone.number: zone for zone in event_zones(seating.zones(session, row.layout_id), deltas, blocked)}
    found = spots(session, row, zones, policy)
    return Plan(built_from, zones, found, {spot.number: spot.id for spot in found.values()})
