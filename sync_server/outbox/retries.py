"""Facts that a reader gets once more: those that it failed at, with later ones of their stream, and replayed ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, delete, func, insert, select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.outbox.models import CursorRow, RetryRow
from sync_server.outbox.rules import is_dead, pause
from sync_server.plumbing.database import database_of
from sync_server.plumbing.jobs import Message
from sync_server.plumbing.telemetry.logs import LOG

Stream = tuple[str, str]
"""The organisation, and the stream of its facts."""


def organisations_due(*, broker: bool) -> Any:
    """A query of the organisations with a retry that is due at `:now`, for the broker or for subscribers."""
    reader = RetryRow.reader == "broker" if broker else RetryRow.reader != "broker"
    return select(RetryRow.organisation_id).where(RetryRow.due_at <= bindparam("now"), reader)


_WAITING = (
    select(RetryRow)
    .where(RetryRow.organisation_id.in_(bindparam("organisations", expanding=True)), RetryRow.due_at.is_not(None))
    .order_by(RetryRow.position)
)


def waiting(session: Session, organisations: Collection[str]) -> dict[str, dict[Stream, list[RetryRow]]]:
    """What waits for a retry, by reader and stream, in order; without what was given up."""
    found: dict[str, dict[Stream, list[RetryRow]]] = defaultdict(lambda: defaultdict(list))
    for each in session.execute(_WAITING, {"organisations": list(organisations)}).scalars():
        found[each.reader][each.organisation_id, each.stream].append(each)
    return found


def add(session: Session, reader: str, facts: Iterable[Message], due_at: Millis) -> None:
    """Let facts wait behind an earlier one of their stream, or replay them."""
    rows = [_row(reader, fact) | {"due_at": due_at} for fact in facts]
    if rows:
        session.execute(insert(RetryRow), rows)


def _row(reader: str, fact: Message) -> dict[str, Any]:
    return {
        "organisation_id": fact.organisation_id,
        "reader": reader,
        "message_id": fact.message_id,
        "position": fact.order,
        "stream": fact.stream,
        "attempts": 0,
        "last_error": "",
    }


def fail(session: Session, reader: str, fact: Message, problem: str) -> Millis | None:
    """Note that a reader failed at a fact; when it is due again, or None where it is given up."""
    here, database = _is(reader, fact), database_of(session)
    now, jitter = database.clock(), int.from_bytes(database.entropy(2), "big") / 65536
    if session.execute(select(RetryRow.attempts).where(*here)).first() is None:
        add(session, reader, [fact], now)
    dead = is_dead(fact.attempts)
    due_at = None if dead else now + pause(fact.attempts, jitter)
    outcome = {"attempts": fact.attempts, "last_error": problem[:500], "due_at": due_at}
    session.execute(update(RetryRow).where(*here).values(**outcome, dead_at=now if dead else None))
    if dead:
        LOG.error(
            "fact_laid_aside",
            fact=fact.name,
            message_id=fact.message_id,
            reader=reader,
            attempts=fact.attempts,
            trace_id=fact.trace_id,
        )
    return due_at


def settle(session: Session, reader: str, fact: Message) -> bool:
    """Note that a reader has had a fact at last; False where another worker has settled it."""
    done = delete(RetryRow).where(*_is(reader, fact)).returning(RetryRow.message_id)
    return session.execute(done.execution_options(synchronize_session=False)).first() is not None


def _is(reader: str, fact: Message) -> Sequence[Any]:
    row = RetryRow
    return row.organisation_id == fact.organisation_id, row.reader == reader, row.message_id == fact.message_id


def due_streams(rows: Mapping[Stream, list[RetryRow]], now: Millis) -> dict[Stream, dict[str, int]]:
    """The attempts at each fact of the streams whose first fact is due."""
    return {
        stream: {row.message_id: row.attempts for row in waiting}
        for stream, waiting in rows.items()
        if (waiting[0].due_at or 0) <= now
    }


def first_due(rows: Mapping[Stream, list[RetryRow]]) -> Millis | None:
    """When the next stream is due."""
    return min((waiting[0].due_at or 0 for waiting in rows.values()), default=None)


def forget_others(session: Session, readers: Collection[str]) -> None:
    """Drop the retries of readers that no longer exist: they have no cursor any more."""
    cursor = select(CursorRow.reader).where(
        CursorRow.organisation_id == RetryRow.organisation_id, CursorRow.reader == RetryRow.reader
    )
    session.execute(delete(RetryRow).where(RetryRow.reader.not_in(readers), ~cursor.exists()))


def counts(session: Session) -> tuple[int, int]:
    """How many facts wait for a retry, and how many were given up."""
    facts = func.count(RetryRow.message_id.distinct())
    wanted = select(facts.filter(RetryRow.due_at.is_not(None)), facts.filter(RetryRow.due_at.is_(None)))
    row = session.execute(wanted).one()
    return row[0], row[1]


def revive(session: Session, organisation_id: str, message_id: str, now: Millis) -> bool:
    """Deliver a fact again to the readers that gave it up; whether there are any."""
    row = RetryRow
    given_up = row.organisation_id == organisation_id, row.message_id == message_id, row.due_at.is_(None)
    again = update(row).where(*given_up).values(due_at=now, dead_at=None, attempts=0).returning(row.reader)
    return session.execute(again.execution_options(synchronize_session=False)).first() is not None
