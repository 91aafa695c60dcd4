"""The job that refunds the orders of cancelled events, or offers them another date."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from shared.errors import GatehouseError
from sync_server.cancellations import service
from sync_server.cancellations.models import CancellationRow
from sync_server.checkout.payments.paying import OrderKey
from sync_server.plumbing.database import Database
from sync_server.plumbing.due import due_if_any, organisations_due
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.jobs import MORE, HeavyJob, Message, Subscriber
from sync_server.plumbing.messaging.bus import Notification
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from sync_server.plumbing.telemetry.logs import LOG

BATCH_SIZE: Final = 20
"""Orders in one transaction: it holds the lock of their event for a tenth of a second or so."""
BATCHES: Final = 25
"""Before other cancelled events have their turn."""
_RUNNING: Final = CancellationRow.state == text("'running'")
"""As literal text, to match the partial index."""


def wire(parts: Parts) -> None:
    """Register the job; several workers may run it at once, one after another at each event."""
    parts.jobs.append(
        HeavyJob(
            service.REFUND,
            2_000,
            lambda database, context: work(database, context, parts.stop),
            lambda session, _now: due_if_any(session, CancellationRow.organisation_id, _RUNNING),
            lane="cancellations",
        )
    )
    parts.subscribers.append(Subscriber("cancellations", lambda fact: fact.name == "order_paid", partial(_paid, parts)))


def _paid(parts: Parts, session: Session, facts: Sequence[Message]) -> Iterable[Notification]:
    """Orders that waited for their payment while their event got another date."""
    context = ActionContext(SYSTEM, parts.clock(), parts.entropy)
    for fact in facts:
        key = OrderKey(fact.organisation_id, str(fact.subjects["order"]))
        service.offer_late(session, key, EventKey(fact.organisation_id, str(fact.subjects["event"])), context)
    return ()


def work(database: Database, context: ActionContext, stop: threading.Event) -> object:
    """Deal with some orders of each event that is called off; MORE while any is left."""
    more = False
    for event in _running(database):
        for _ in range(BATCHES):
            if stop.is_set():
                return None
            if not _batch(database, event, context):
                break
        else:
            more = True
    return MORE if more else None


def _running(database: Database) -> list[EventKey]:
    row = CancellationRow
    with database.reading() as session:
        return [
            EventKey(organisation_id, event_id)
            for organisation_id in organisations_due(session, row.organisation_id, _RUNNING)
            for event_id in session.scalars(
                select(row.event_id).where(row.organisation_id == organisation_id, _RUNNING).order_by(row.begun_at)
            )
        ]


def _batch(database: Database, event: EventKey, context: ActionContext) -> bool:
    """The next orders; where one of them is refused, they are dealt with one by one, and that one is left out."""
    try:
        return _step(database, event, BATCH_SIZE, context)
    except GatehouseError as problem:
        if problem.retryable:
            raise
    for _ in range(BATCH_SIZE):
        try:
            if not _step(database, event, 1, context):
                return False
        except GatehouseError as problem:
            if problem.retryable:
                raise
            LOG.error("order_not_called_off", event_id=event.event_id, code=problem.error_code)
            with database.writing() as session:
                service.skip(session, event)
    return True


def _step(database: Database, event: EventKey, limit: int, context: ActionContext) -> bool:
    with database.writing() as session:
        return service.deal_with_some(session, event, limit, context)
