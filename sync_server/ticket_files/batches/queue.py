"""The queue of PDFs of many tickets: asked for, claimed by a worker, fetched, and deleted after a day."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlalchemy import ColumnElement, and_, case, delete, func, or_, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, NotFound
from shared.ids import uuid7
from sync_server.audit.service import AuditLine, record
from sync_server.events import queries as events
from sync_server.plumbing.api.pagination import AnId, Page, decode_cursor, paginate
from sync_server.plumbing.database import Database
from sync_server.plumbing.due import AT_ONCE, next_due, organisations_due
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.waking import wake
from sync_server.ticket_files.models import TicketBatchPartRow, TicketBatchRow
from sync_server.tickets import queries as tickets

WRITE: Final = "tickets.write_pdf"
"""The job that writes them."""
MOST_OPEN: Final = 5
"""Of one organisation that may wait."""
LOST_AFTER_MS: Final = 60_000
"""A worker that was not seen for so long has gone, and another begins anew."""
MOST_ATTEMPTS: Final = 3
KEPT_MS: Final = 86_400_000
"""How long a PDF can be fetched: whoever has it can enter, and it is soon out of date."""

_R = TicketBatchRow
_OPEN: Final = ("waiting", "running")


def ask(session: Session, key: EventKey, ticket_type: int | None, context: ActionContext) -> TicketBatchRow:
    """Ask for a PDF of all tickets of an event, or of one type; Conflict where too many are waiting."""
    events.details_in_tables(session, *key)
    if ticket_type is not None:
        tickets.ticket_type(session, *key, ticket_type)
    mine = _R.organisation_id == key.organisation_id, _R.state.in_(_OPEN)
    if session.execute(select(func.count()).where(*mine)).scalar_one() >= MOST_OPEN:
        raise Conflict(
            f"{MOST_OPEN} PDFs are waiting already. Wait until some have ended, or cancel some.",
            code="too_many_batches",
        )
    row = TicketBatchRow(
        organisation_id=key.organisation_id,
        id=uuid7(context.now, context.entropy),
        event_id=key.event_id,
        ticket_type=ticket_type,
        state="waiting",
        seen_at=context.now,
        created_at=context.now,
    )
    session.add(row)
    session.flush()
    _note(session, row, "ticket_batch.asked", context)
    wake(session, WRITE)
    return row


def find(session: Session, organisation_id: str, batch_id: str, *, lock: bool = False) -> TicketBatchRow:
    """That PDF of this organisation, or NotFound."""
    wanted = select(_R).where(_R.organisation_id == organisation_id, _R.id == batch_id)
    row = session.execute(wanted.with_for_update() if lock else wanted).scalar_one_or_none()
    if row is None:
        raise NotFound("There is no such PDF: they are kept for a day.", code="batch_not_found")
    return row


def batches(session: Session, key: EventKey, *, limit: int, after: str | None) -> Page[TicketBatchRow]:
    """The PDFs of an event, the newest first."""
    events.event(session, *key)
    wanted = select(_R).where(key.of(_R)).order_by(_R.id.desc())
    start = decode_cursor(after, AnId)
    if start is not None:
        wanted = wanted.where(_R.id < start[0])
    return paginate(session.scalars(wanted.limit(limit + 1)).all(), limit, lambda row: (row.id,))


def cancel(session: Session, organisation_id: str, batch_id: str, context: ActionContext) -> TicketBatchRow:
    """Stop writing a PDF, or delete one that is written."""
    row = find(session, organisation_id, batch_id, lock=True)
    if row.state not in {*_OPEN, "done"}:
        raise Conflict("This PDF has already ended.", code="batch_ended")
    _end(session, row, "cancelled", context.now)
    _note(session, row, "ticket_batch.cancelled", context)
    return row


def pieces(database: Database, sealer: Sealer, organisation_id: str, batch_id: str) -> Iterator[bytes]:
    """The PDF, piece by piece."""
    mine = TicketBatchPartRow.organisation_id == organisation_id, TicketBatchPartRow.batch_id == batch_id
    number = 0
    while True:
        with database.reading() as session:
            wanted = select(TicketBatchPartRow.body).where(*mine, TicketBatchPartRow.number == number)
            body = session.scalar(wanted)
        if body is None:
            return
        yield sealer.open(body, purpose(batch_id, number))
        number += 1


def purpose(batch_id: str, number: int) -> str:
    """What a piece is sealed for."""
    return f"ticket batch {batch_id} {number}"


def next_at(session: Session, _now: Millis) -> Millis | None:
    """When the next PDF of any organisation is to be written: at once, or where its worker has gone."""
    at = case((_R.state == "waiting", AT_ONCE), else_=_R.seen_at + LOST_AFTER_MS)
    return next_due(session, at, _R.state.in_(_OPEN))


def _due(now: Millis) -> ColumnElement[bool]:
    lost = and_(_R.state == "running", _R.seen_at <= now - LOST_AFTER_MS)
    return or_(lost, _R.state == "waiting")


def claim(database: Database, context: ActionContext) -> TicketBatchRow | None:
    """The next PDF to write, of any organisation, claimed by this worker; None if there is none."""
    now = database.clock()
    with database.autocommit_reading() as session:
        owners = organisations_due(session, _R.organisation_id, _due(now))
    for organisation_id in owners:
        with database.writing() as session:
            wanted = select(_R).where(_R.organisation_id == organisation_id, _due(now)).order_by(_R.id).limit(1)
            row = session.execute(wanted.with_for_update(skip_locked=True)).scalar_one_or_none()
            if row is None:
                continue
            _forget_pieces(session, row)
            row.state, row.claim, row.seen_at = "running", uuid7(now, context.entropy), now
            row.attempts, row.written, row.bytes = row.attempts + 1, 0, 0
            if row.attempts > MOST_ATTEMPTS:
                row.problem = "workers_lost"
                _end(session, row, "failed", now)
                continue
            row.tickets = tickets.count_standing(session, EventKey(row.organisation_id, row.event_id), row.ticket_type)
            return row
    return None


def claimed(session: Session, row: TicketBatchRow) -> TicketBatchRow | None:
    """The PDF, locked, while this worker is to write it."""
    mine = _R.organisation_id == row.organisation_id, _R.id == row.id
    held = _R.claim == row.claim, _R.state == "running"
    return session.execute(select(_R).where(*mine, *held).with_for_update()).scalar_one_or_none()


def finish(session: Session, row: TicketBatchRow, state: str, now: Millis, problem: str = "") -> None:
    """End the writing of a PDF."""
    row.problem = problem
    _end(session, row, state, now)


def _end(session: Session, row: TicketBatchRow, state: str, now: Millis) -> None:
    row.state, row.claim, row.finished_at = state, None, now
    if state != "done":
        _forget_pieces(session, row)
    session.flush()


def _forget_pieces(session: Session, row: TicketBatchRow) -> None:
    mine = TicketBatchPartRow.organisation_id == row.organisation_id, TicketBatchPartRow.batch_id == row.id
    session.execute(delete(TicketBatchPartRow).where(*mine))


def delete_old(session: Session, context: ActionContext) -> None:
    """Delete what was written a day ago."""
    old = _R.finished_at < context.now - KEPT_MS
    for organisation_id in organisations_due(session, _R.organisation_id, old):
        session.execute(delete(_R).where(_R.organisation_id == organisation_id, old))


def _note(session: Session, row: TicketBatchRow, action: str, context: ActionContext) -> None:
    after = {"ticket_batch": row.id, "ticket_type": row.ticket_type}
    record(session, AuditLine(context, action, "event", row.event_id, row.organisation_id, None, after))
