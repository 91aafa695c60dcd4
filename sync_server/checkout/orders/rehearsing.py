"""Composes an order before its event is locked; behind the lock it is only looked at whether anything has changed.

Buyers of one event wait for each other while its row is locked, so that nothing is done then that can be done before.
What is composed ahead is used if the event, its ticket types, its sale and its plan say the same behind the lock, and
the holds are as they were. Otherwise, and wherever composing must ask the database, the order is composed behind the
lock as if nothing had been tried: only there it is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.errors import GatehouseError
from sync_server.checkout.codes.spending import Redeemed
from sync_server.checkout.orders import composing
from sync_server.checkout.orders.composing import Composed
from sync_server.checkout.orders.order_request import OrderRequest
from sync_server.checkout.orders.parcels import Buyers
from sync_server.events import locked_events
from sync_server.events import queries as events
from sync_server.events.locked_events import EventAsRead, KeptEvent
from sync_server.holds import ordering
from sync_server.holds.caches.sale_state import SaleState
from sync_server.holds.ordering import Held
from sync_server.plumbing.caching.shared_loads import SharedLoads
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.ports import ports_of
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sql import pipelines
from sync_server.plumbing.sql.asked_together import Question
from sync_server.plumbing.sql.late_writes import Asked, nothing_asked
from sync_server.seating.layouts.plan import AccessMode
from sync_server.seating.plans.seat_plans import presumed_plan
from sync_server.tickets.types import types_ahead
from sync_server.tickets.types.types_ahead import KeptTypes, TypesAsRead

_ONE_DAY = 1
_MAX_KNOWN = 64
_HoldSays = tuple[object, ...]


class EventsAsSold:
    """What the events and their ticket types said that this process sold most recently, for the next order of each.

    Behind the lock it is looked at whether they still say so, however long ago that was.
    """

    def __init__(self) -> None:
        self._known: SharedLoads[EventKey, tuple[KeptEvent, KeptTypes]] = SharedLoads(_MAX_KNOWN)

    def read(self, session: Session, event: EventKey) -> tuple[EventAsRead, TypesAsRead] | None:
        """An event and its ticket types, as remembered or else as they are; None where there is no such event."""
        known = self._known.peek(event)
        if known is not None:
            event_known, types_known = known
            return event_known.in_session(session), types_known.in_session(session)
        read, types = locked_events.read_ahead(session, event), types_ahead.read_ahead(session, event)
        if read is None:
            return None
        self._known.get(event, lambda: (KeptEvent.of(read), KeptTypes.of(types)))
        return read, types

    def forget(self, event: EventKey) -> None:
        """It says something else by now."""
        self._known.forget(event)


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """An order that was composed ahead, and of what."""

    composed: Composed
    event: EventAsRead
    types: TypesAsRead
    state: SaleState
    holds: Sequence[_HoldSays]

    @property
    def _key(self) -> EventKey:
        return self.event.row.key

    def asks_lock(self) -> Iterable[Question]:
        """What `lock` asks."""
        return locked_events.asks_lock(self._key), types_ahead.asks(self._key)

    def lock(self, session: Session) -> bool:
        """Lock the event; whether it and its ticket types are as they were."""
        same_event = locked_events.lock_as_read(session, self.event)
        same_types = types_ahead.are_as_read(session, self._key, self.types)
        if same_event and same_types:
            types_ahead.know(session, self._key, self.types)
            return True
        locked_events.forget(session, self._key)
        ports_of(session, EventsAsSold).forget(self._key)
        _forget(session, self.event, self.types)
        return False

    def is_of(self, holds: Sequence[Held]) -> bool:
        """Whether these holds are as they were, too."""
        return _said(holds) == self.holds


def rehearse(
    session: Session, request: OrderRequest, buyers: Buyers, found: Sequence[Held], context: ActionContext
) -> Rehearsed | None:
    """Compose an order of the holds that were found; None where that cannot be told before the event is locked."""
    event = request.visit.event
    state = ordering.known_state(session, *event)
    if state is None or not pipelines.are_possible(session) or not _is_plain(request, state, found):
        return None
    found_event = ports_of(session, EventsAsSold).read(session, event)
    if found_event is None:
        return None
    read, types = found_event
    if read.row.put_away_at is not None:
        _forget(session, read, types)
        return None
    bearer, ids = request.bearer_id if request.in_shop else None, [hold.id for hold in found]
    try:
        with _presumed(session, read, types, state):
            head, holds = events.head_of(read.row), ordering.claimable(session, event, found, ids, bearer, context.now)
            given = session, head, request, buyers, holds, context
            composed = composing.compose(*given, redeemed=Redeemed(), early=False)
    except (Asked, GatehouseError):
        _forget(session, read, types)
        return None
    return Rehearsed(composed, read, types, state, _said(holds))


def _forget(session: Session, event: EventAsRead, types: TypesAsRead) -> None:
    """Whoever asks for them next shall have them as they are behind the lock."""
    for row in (event.row, *types.rows):
        session.expunge(row)


@contextmanager
def _presumed(session: Session, event: EventAsRead, types: TypesAsRead, state: SaleState) -> Iterator[None]:
    plan = state.plan if state.sale.revision else None
    with (
        locked_events.presumed(session, event),
        types_ahead.presumed(session, event.row.key, types),
        presumed_plan(session, event.row.id, plan),
        nothing_asked(session),
    ):
        yield


def _is_plain(request: OrderRequest, state: SaleState, found: Sequence[Held]) -> bool:
    """Whether nothing but event, ticket types, plan and holds decides about it: no code, no list, no second day."""
    held, zones = {hold.id for hold in found}, state.plan.zones
    whole = all(each.hold_id in held and len(each.types) <= 1 for each in request.chosen)
    public = all(hold.zone not in zones or zones[hold.zone].access_mode == AccessMode.PUBLIC for hold in found)
    return whole and public and not request.codes and not state.sale.moving and len(state.dates) == _ONE_DAY


def _said(holds: Sequence[Held]) -> Sequence[_HoldSays]:
    """What an order is composed of."""
    return [(hold.id, hold.seat, hold.zone, hold.quantity, hold.days, hold.membership_id) for hold in holds]
