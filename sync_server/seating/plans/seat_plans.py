"""Loads plans of seats, once for a process: whoever needs one at the same moment waits for the same load."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

import orjson
from sqlalchemy.orm import Session

from sync_server.events import locked_events
from sync_server.plumbing.caching.shared_loads import SharedLoads
from sync_server.plumbing.ports import ports_of
from sync_server.seating import queries
from sync_server.seating.models import EventLayoutRecord, LayoutRecord
from sync_server.seating.plans import drawing
from sync_server.seating.plans.layout_seats import LayoutSeats
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.rules import Policy

MAX_SEATS: Final = 1_000_000
"""Of the layouts in memory, some hundred bytes a seat."""
MAX_PLANS: Final = 1_024
"""They share the seats of their layouts."""


class SeatPlans:
    """The layouts and plans of one process. Neither changes: an event that changes has another plan."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._layouts: SharedLoads[str, LayoutSeats] = SharedLoads(MAX_SEATS, weigh=lambda layout: 1 + len(layout))
        self._plans: SharedLoads[tuple[str, Policy], SeatPlan] = SharedLoads(MAX_PLANS)

    def layout(self, session: Session, organisation_id: str, layout_id: str) -> LayoutSeats:
        """The seats of a version; those of a draft, which may change, are read each time."""
        record = session.get_one(LayoutRecord, (organisation_id, layout_id))
        if record.status == "draft":
            return _load(session, record)
        return self._layouts.get(layout_id, partial(_load, session, record))

    def plan(self, session: Session, row: EventLayoutRecord, policy: Policy) -> SeatPlan:
        """The plan of an event that uses a layout like this, under this policy."""
        drawing_id = drawing.drawing_id(row, policy)
        inputs = [drawing_id, row.blocked_seats, row.released_seats, policy.accessibility()]
        id = hashlib.sha256(orjson.dumps(inputs)).hexdigest()[:12]

        def load() -> SeatPlan:
            zones = {int(number): int(event_zone) for number, event_zone in row.event_zones.items()}
            layout = self.layout(session, row.organisation_id, row.layout_id)
            return SeatPlan(layout, queries.deltas(row), policy, zones, drawing_id, id)

        return self._plans.get((id, policy), load)


def layout_seats(session: Session, organisation_id: str, layout_id: str) -> LayoutSeats:
    """The seats of a version of a layout."""
    return ports_of(session, SeatPlans).layout(session, organisation_id, layout_id)


def seat_plan(session: Session, row: EventLayoutRecord) -> SeatPlan:
    """The plan of an event that uses a layout like this."""
    return ports_of(session, SeatPlans).plan(session, row, queries.event_policy(session, row))


def event_plan(session: Session, organisation_id: str, event_id: str) -> SeatPlan:
    """The plan of an event; NotFound for an event without a layout."""
    found = find_event_plan(session, organisation_id, event_id)
    return seat_plan(session, queries.event_layout(session, organisation_id, event_id)) if found is None else found


def know_plan(session: Session, organisation_id: str, event_id: str, plan: SeatPlan | None) -> None:
    """Remember the plan of an event, if this transaction has locked it; its guests are not being moved."""
    if locked_events.is_locked(session, organisation_id, event_id):
        session.info.setdefault(queries.KNOWN_PLANS, {})[event_id] = plan


@contextmanager
def presumed_plan(session: Session, event_id: str, plan: SeatPlan | None) -> Iterator[None]:
    """Read this as the plan of the event; whatever asks the database does not belong here."""
    known: dict[str, SeatPlan | None] = session.info.setdefault(queries.KNOWN_PLANS, {})
    known[event_id] = plan
    try:
        yield
    finally:
        del known[event_id]


def find_event_plan(session: Session, organisation_id: str, event_id: str) -> SeatPlan | None:
    """The plan of an event; None for an event without a layout."""
    known: dict[str, SeatPlan | None] = session.info.get(queries.KNOWN_PLANS, {})
    if event_id in known:
        return known[event_id]
    row = queries.find_event_layout(session, organisation_id, event_id)
    return None if row is None else seat_plan(session, row)


def _load(session: Session, record: LayoutRecord) -> LayoutSeats:
    key = record.organisation_id, record.id
    zones, groups = queries.zones(session, *key), queries.groups(session, *key)
    seats, faces = queries.stored_seats(session, *key), (record.focus_x, record.focus_y)
    return LayoutSeats.of(record.id, record.family_id, zones, groups, seats, focus=faces)
