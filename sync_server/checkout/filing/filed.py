"""Files orders a while after their last change, and takes an order out before it changes again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from typing import Any, Final

from sqlalchemy import ColumnElement, delete, select, text, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.checkout.filing import figures, sold, words
from sync_server.checkout.filing.figures import FILED, Figure, Which
from sync_server.checkout.filing.models import OrderSumRow, SaleSumRow
from sync_server.checkout.models import OrderRow
from sync_server.checkout.rules import OrderState
from sync_server.events import queries as events
from sync_server.events.signals import EventMoved
from sync_server.plumbing import sums
from sync_server.plumbing.due import first_due, organisations_due
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.jobs import MORE, Job
from sync_server.plumbing.requests.principals import ActionContext

RESTS_AFTER_MS: Final[Millis] = 600_000
"""An order that has not changed for so long is filed: a rush is over by then, and payments told late have come."""
BATCH_SIZE: Final = 200
_NOT_FILED: Final[Any] = text("NOT filed")
_DECIDED: Final = OrderRow.state != OrderState.PENDING.value
"""Others are few, and change within minutes or when an invoice is paid."""


def job() -> Job:
    """Files orders; several workers may do it at once."""
    rests_at = OrderRow.updated_at + RESTS_AFTER_MS
    return Job("checkout.file", 5_000, _file_some, lambda session, _now: first_due(session, (rests_at, *_WAITING)))


_WAITING: Final = (_NOT_FILED, _DECIDED)


def _due(now: Millis) -> tuple[ColumnElement[bool], ...]:
    return *_WAITING, OrderRow.updated_at <= now - RESTS_AFTER_MS


def _file_some(session: Session, context: ActionContext) -> object:
    left = BATCH_SIZE
    for organisation_id in organisations_due(session, OrderRow.organisation_id, *_due(context.now)):
        wanted = select(OrderRow).where(OrderRow.organisation_id == organisation_id, *_due(context.now))
        chosen = wanted.order_by(OrderRow.event_id, OrderRow.id).limit(left)
        rows = session.execute(chosen.with_for_update(key_share=True, skip_locked=True)).scalars().all()
        for event, theirs in groupby(rows, lambda row: row.event):
            _file(session, event, list(theirs))
        left -= len(rows)
        if not left:
            return MORE
    return None


def _file(session: Session, event: EventKey, orders: Sequence[OrderRow]) -> None:
    """File these orders, which are locked."""
    ids = [order.id for order in orders]
    _count(session, event, ids, 1)
    words.add(session, orders)
    these = update(OrderRow).where(OrderRow.organisation_id == event.organisation_id, OrderRow.id.in_(ids))
    session.execute(these.values(filed=True), execution_options={"synchronize_session": False})


def take_out(session: Session, order: OrderRow) -> None:
    """Have an order count row by row, because it is about to change; it is locked."""
    if order.filed:
        _count(session, order.event, [order.id], -1)
        words.remove(session, order)
        order.filed = False
        session.flush()


def _count(session: Session, event: EventKey, ids: Collection[str], sign: int) -> None:
    which = Which(OrderRow.id.in_(sorted(ids)))
    for key, n in _figures(session, event, which):
        sums.add(session, OrderSumRow, (*event, *key), sign * n)
    for one, n in _sold(session, event, which).items():
        sums.add(session, SaleSumRow, (*event, *one), sign * n)


def _figures(session: Session, event: EventKey, which: Which) -> Iterable[tuple[tuple[str], int]]:
    found = session.execute(figures.counted(event, which)).one()
    return [((each.value,), int(n)) for each, n in zip(Figure, found, strict=True) if n]


def _sold(session: Session, event: EventKey, which: Which) -> Counter[sold.Key]:
    timezone = events.event(session, *event).timezone
    return sold.by_span(session.execute(sold.counted(event, which)), timezone)


def on_moved(session: Session, moved: EventMoved) -> None:
    """The days of the new venue may begin at another hour: everything is filed anew.

    All orders are written, filed or not, so that whoever files one meanwhile is waited for.
    """
    event = EventKey(moved.organisation_id, moved.event_id)
    forgotten = update(OrderRow).where(event.of(OrderRow), _DECIDED).values(filed=False)
    session.execute(forgotten, execution_options={"synchronize_session": False})
    for table in (OrderSumRow, SaleSumRow):
        session.execute(delete(table).where(event.of(table)))
    words.remove_all(session, event)


ORDERS: Final = sums.Summed(
    OrderSumRow, lambda session, event: [(*key, n) for key, n in _figures(session, event, FILED)]
)
SALES: Final = sums.Summed(
    SaleSumRow, lambda session, event: [(*key, n) for key, n in _sold(session, event, FILED).items()]
)
