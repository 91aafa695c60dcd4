"""Caches what decides the sale of an event; the statement that holds a seat checks that it is still current."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from sqlalchemy import select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from shared.lifecycle import EventStatus
from sync_server.events import queries as events
from sync_server.events.days.chosen_days import dates_of
from sync_server.holds.models import SaleLockRow
from sync_server.holds.ports import HoldPorts
from sync_server.holds.rules import Sale
from sync_server.plumbing.caching.shared_loads import SharedLoads
from sync_server.plumbing.database import Database, database_of
from sync_server.plumbing.ports import ports_of
from sync_server.plumbing.sql.asked_together import Question
from sync_server.plumbing.sql.prepared_changes import PreparedChange
from sync_server.seating import queries as seating
from sync_server.seating.plans.seat_plan import NO_PLAN, SeatPlan
from sync_server.seating.plans.seat_plans import seat_plan
from sync_server.seating.rules import Policy
from sync_server.venues import queries as venues

MAX_CACHED: Final = 1_024

# The share lock keeps the event on sale meanwhile; the status does not begin an index, as in `statement`.
CURRENT: Final = """
sale_lock AS MATERIALIZED (
  SELECT version FROM sale_locks
  WHERE organisation_id = :organisation AND event_id = :event AND version = :version {share}
), same AS (
  SELECT 1 FROM events e
  LEFT JOIN event_layouts l ON l.organisation_id = e.organisation_id AND l.event_id = e.id
  LEFT JOIN seating_policies p ON p.organisation_id = e.organisation_id
  WHERE e.organisation_id = :organisation AND e.id = :event AND e.status || '' = :status
    AND COALESCE(e.rescheduled_at, -1) = :rescheduled_at AND COALESCE(e.sale_start_at, -1) = :sale_start_at
    AND e.sale_end_at = :sale_end_at AND e.capacity = :capacity
    AND COALESCE(l.revision, 0) = :revision AND COALESCE(p.updated_at, -1) = :policy_at
)"""
IS_CURRENT: Final = "EXISTS (SELECT 1 FROM sale_lock) AND EXISTS (SELECT 1 FROM same)"
_POSTGRESQL, _SQLITE = (text(f"WITH {CURRENT.format(share=each)} SELECT {IS_CURRENT}") for each in ("FOR SHARE", ""))
_UNLOCKED: Final = PreparedChange(lambda _embedded: _SQLITE)


@dataclass(frozen=True, slots=True)
class SaleState:
    """All that is needed of one event to hold its seats."""

    id: str
    organisation_id: str
    number: int
    venue_capacity: int
    sale: Sale
    policy: Policy
    plan: SeatPlan
    dates: tuple[str, ...]  # of the event's days; whoever changes them raises the version
    queued: bool = False  # guests hold seats only when it is their turn

    @property
    def event_limit(self) -> int | None:
        """What the event sells in all, where that is less than its zones hold: then holds are written one by one."""
        capacity = self.sale.capacity or (self.venue_capacity if not self.sale.revision else 0)
        return capacity if capacity and (not self.sale.revision or capacity < self.plan.capacity) else None

    @property
    def capacity(self) -> int:
        """How many people the event takes; 0 where nothing limits it."""
        return self.sale.capacity or (self.plan.capacity if self.sale.revision else self.venue_capacity)

    def values(self) -> dict[str, Any]:
        """The parameters by which a statement finds out whether this is current."""
        sale = self.sale
        return {
            "organisation": self.organisation_id,
            "event": self.id,
            "version": sale.version,
            "status": sale.status.value,
            "rescheduled_at": -1 if sale.rescheduled_at is None else sale.rescheduled_at,
            "sale_start_at": -1 if sale.sale_start_at is None else sale.sale_start_at,
            "sale_end_at": sale.sale_end_at,
            "capacity": sale.capacity,
            "revision": sale.revision,
            "policy_at": -1 if sale.policy_at is None else sale.policy_at,
        }

    def is_current(self, session: Session) -> bool:
        """Share the sale lock, so that nobody closes the sale meanwhile; whether this state is current."""
        statement = _SQLITE if database_of(session).embedded else _POSTGRESQL
        return bool(session.execute(statement, self.values()).scalar_one())

    def is_unchanged(self, session: Session) -> bool:
        """Whether this state is current, for somebody who has locked the event."""
        statement, values = self.asks_unchanged()
        return bool(statement.rows(session, **values)[0][0])

    def asks_unchanged(self) -> Question:
        """What `is_unchanged` asks."""
        return _UNLOCKED, self.values()


class SaleStates:
    """The sale states of the events that this process sold seats of most recently."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._loads: SharedLoads[tuple[str, str], SaleState] = SharedLoads(MAX_CACHED)

    def event(self, organisation_id: str, event_id: str) -> SaleState:
        """The cached state of an event of this organisation, loaded if need be; NotFound where there is none."""
        return self._get(organisation_id, event_id)

    def peek(self, organisation_id: str, event_id: str) -> SaleState | None:
        """The cached state, if there is one."""
        return self._loads.peek((organisation_id, event_id))

    def current(self, organisation_id: str, event_id: str) -> SaleState:
        """The state of an event as it is now."""
        return self._get(organisation_id, event_id, since=self._loads.now())

    def _get(self, organisation_id: str, event_id: str, since: int | None = None) -> SaleState:
        key = organisation_id, event_id
        return self._loads.get(key, partial(self._load, organisation_id, event_id), since=since)

    def _load(self, organisation_id: str, event_id: str) -> SaleState:
        with self._database.reading() as session:
            version = _version(session, organisation_id, event_id)
            if version is not None:
                return load_sale_state(session, organisation_id, event_id, version)
        with self._database.writing() as session:
            events.event(session, organisation_id, event_id)
            return load_sale_state(
                session, organisation_id, event_id, create_sale_lock(session, organisation_id, event_id)
            )


def create_sale_lock(session: Session, organisation_id: str, event_id: str) -> int:
    """Create the event's sale lock where it has none; returns its version."""
    dialect = sqlite if database_of(session).embedded else postgresql
    row = {"event_id": event_id, "organisation_id": organisation_id, "version": 1}
    session.execute(dialect.insert(SaleLockRow).values(row).on_conflict_do_nothing())
    version = _version(session, organisation_id, event_id)
    assert version is not None  # noqa: S101 - the row exists now
    return version


def _version(session: Session, organisation_id: str, event_id: str) -> int | None:
    here = SaleLockRow.organisation_id == organisation_id, SaleLockRow.event_id == event_id
    return session.execute(select(SaleLockRow.version).where(*here)).scalar_one_or_none()


def load_sale_state(session: Session, organisation_id: str, event_id: str, version: int) -> SaleState:
    """The state of an event as it is now."""
    event = events.event(session, organisation_id, event_id)
    row = seating.find_event_layout(session, organisation_id, event_id)
    plan = NO_PLAN if row is None else seat_plan(session, row)
    policy = plan.policy if row is not None else seating.policy(session, organisation_id)
    sale = Sale(
        version,
        EventStatus(event.status),
        event.rescheduled_at,
        event.sale_start_at,
        event.sale_end_at,
        event.capacity,
        row.revision if row else 0,
        seating.policy_changed_at(session, organisation_id),
        row is not None and row.moving,
    )
    venue = venues.venue(session, organisation_id, event.venue_id)
    dates, queued = dates_of(event), ports_of(session, HoldPorts).is_queued(session, organisation_id, event_id)
    return SaleState(event.id, organisation_id, event.number, venue.max_capacity, sale, policy, plan, dates, queued)
