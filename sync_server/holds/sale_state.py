"""Caches what decides the sale of an event; the statement that holds a seat checks that it is still current."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from shared.lifecycle import EventStatus
from sync_server.events import queries as events
from sync_server.holds.models import SaleLockRow
from sync_server.holds.rules import Sale
from sync_server.plumbing.caching.shared_loads import SharedLoads
from sync_server.plumbing.database import Database, database_of
from sync_server.seating import queries as seating
from sync_server.seating.event_seating import event_policy
from sync_server.seating.layouts.overlay import EventZone, event_zones
from sync_server.seating.rules import Policy
from sync_server.seating.seats_for_sale import SeatForSale, policy_changed_at, seats_for_sale
from sync_server.venues import queries as venues

MAX_CACHED: Final = 32
"""Events in the cache: the seats of a stadium take some thirty megabytes."""


@dataclass(frozen=True, slots=True)
class SalePlan:
    """The seats and zones of an event, from one revision of its layout."""

    built_from: tuple[Any, ...]
    zones: Mapping[int, EventZone]
    seats: Mapping[str, SeatForSale]  # by id
    numbers: Mapping[int, str]  # seat ids by seat number

    @property
    def layout_id(self) -> str:
        """The id of the layout; only for an event that has one."""
        return str(self.built_from[0])

    @property
    def capacity(self) -> int:
        """The capacity of all zones."""
        return sum(zone.capacity for zone in self.zones.values())


@dataclass(frozen=True, slots=True)
class SaleState:
    """All that is needed of one event to hold its seats."""

    id: str
    organisation_id: str
    number: int
    venue_capacity: int
    sale: Sale
    policy: Policy
    plan: SalePlan

    @property
    def event_limit(self) -> int | None:
        """What the event sells in all, where that is less than its zones hold: then holds are written one by one."""
        capacity = self.sale.capacity or (self.venue_capacity if not self.sale.revision else 0)
        return capacity if capacity and (not self.sale.revision or capacity < self.plan.capacity) else None


NO_PLAN: Final = SalePlan((), {}, {}, {})


class SaleStates:
    """The sale states of the events that this process sold seats of most recently."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._loads: SharedLoads[tuple[str, str], SaleState] = SharedLoads(MAX_CACHED)

    def event(self, organisation_id: str, event_id: str) -> SaleState:
        """The cached state of an event of this organisation, loaded if need be; NotFound where there is none."""
        return self._get(organisation_id, event_id)

    def current(self, organisation_id: str, event_id: str) -> SaleState:
        """The state of an event as it is now."""
        return self._get(organisation_id, event_id, since=self._loads.now())

    def _get(self, organisation_id: str, event_id: str, since: int | None = None) -> SaleState:
        key = organisation_id, event_id
        previous = self._loads.peek(key)
        plan = NO_PLAN if previous is None else previous.plan
        return self._loads.get(key, partial(self._load, organisation_id, event_id, plan), since=since)

    def _load(self, organisation_id: str, event_id: str, plan: SalePlan) -> SaleState:
        with self._database.reading() as session:
            version = session.execute(
                select(SaleLockRow.version).where(SaleLockRow.event_id == event_id)
            ).scalar_one_or_none()
            if version is not None:
                return load_sale_state(session, organisation_id, event_id, plan, version)
        with self._database.writing() as session:
            events.event(session, organisation_id, event_id)
            return load_sale_state(
                session, organisation_id, event_id, plan, create_sale_lock(session, organisation_id, event_id)
            )


def create_sale_lock(session: Session, organisation_id: str, event_id: str) -> int:
    """Create the event's sale lock where it has none; returns its version."""
    dialect = sqlite if database_of(session).embedded else postgresql
    row = {"event_id": event_id, "organisation_id": organisation_id, "version": 1}
    session.execute(dialect.insert(SaleLockRow).values(row).on_conflict_do_nothing())
    return session.execute(select(SaleLockRow.version).where(SaleLockRow.event_id == event_id)).scalar_one()


def load_sale_state(session: Session, organisation_id: str, event_id: str, plan: SalePlan, version: int) -> SaleState:
    """The state of an event as it is now; `plan` is reused where it is still current."""
    event = events.event(session, organisation_id, event_id)
    row = seating.find_event_layout(session, organisation_id, event_id)
    policy = seating.policy(session, organisation_id) if row is None else event_policy(session, row)
    sale = Sale(
        version,
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
    return SaleState(event.id, organisation_id, event.number, venue.max_capacity, sale, policy, plan)


def _plan(session: Session, row: Any, policy: Policy, previous: SalePlan) -> SalePlan:
    built_from = (row.layout_id, row.revision, policy.enforce_accessibility_rules)
    if previous.built_from == built_from:
        return previous
    deltas = seating.deltas(row)
    blocked = seating.seats_by_zone(session, row.layout_id, deltas.blocked)
    zones = {zone.number: zone for zone in event_zones(seating.zones(session, row.layout_id), deltas, blocked)}
    found = seats_for_sale(session, row, zones, policy)
    return SalePlan(built_from, zones, found, {seat.number: seat.id for seat in found.values()})
