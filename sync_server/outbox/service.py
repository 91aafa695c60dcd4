"""Records facts in the transaction of the change they describe, and replays them on request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from msgspec import Struct, field
from sqlalchemy import Table, event
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.ids import Entropy, uuid7
from sync_server.audit import service as audit
from sync_server.audit.service import AuditLine
from sync_server.outbox import cursors, retries
from sync_server.outbox.catalogue import audit_action
from sync_server.outbox.change_log import log_change
from sync_server.outbox.models import OutboxRow, StatementTime
from sync_server.outbox.queries import StoredFact
from sync_server.outbox.rules import State, stream_of
from sync_server.outbox.signals import FactRecorded
from sync_server.plumbing.database import after_commit, database_of
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.signals import send
from sync_server.plumbing.sql.bulk import insert_many
from sync_server.plumbing.telemetry import tracing

_QUEUED = "facts"


class Fact(Struct, frozen=True):
    """Something that happened, named in the past tense; subjects are ids: {"event": …, "event_number": …}.

    Facts with the same `event_number` (or else the same `event`) are delivered in order.
    """

    name: str  # event_published, ticket_revoked
    organisation_id: str
    at: Millis
    subjects: Mapping[str, Any] = field(default_factory=dict)
    payload: Mapping[str, Any] = field(default_factory=dict)


def record(session: Session, fact: Fact) -> None:
    """Add a fact; it is delivered at least once, after the commit, and never without it.

    Whatever an actor has changed is recorded by `record_change`, which writes the audit line too.
    """
    queued: list[Fact] = session.info.setdefault(_QUEUED, [])
    if not queued:
        event.listen(session, "before_commit", _write, once=True)
        after_commit(session, database_of(session).wake_workers)
    queued.append(fact)
    send(session, FactRecorded(fact.organisation_id, fact.name))


@dataclass(frozen=True, slots=True)
class Subject:
    """What a change was made to, as the audit log names it, the fields that it changed, and why."""

    kind: str  # event, ticket, hold
    id: str
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None
    reason: str = ""


def record_change(session: Session, context: ActionContext, subject: Subject, fact: Fact) -> None:
    """Record a change: who made it in the audit log, and what happened as a fact.

    Raises Forbidden, and so stops the change, where platform staff act on an organisation without a reason.
    """
    changed = subject.before, subject.after, subject.reason
    line = AuditLine(context, audit_action(fact.name), subject.kind, subject.id, fact.organisation_id, *changed)
    audit.record(session, line)
    record(session, fact)
    log_change(session, context, fact)


def _write(session: Session) -> None:
    """Insert queued facts, with the time by the database's clock, as the last step before the commit.

    By then the transaction holds all its row locks, so the facts of whoever changes the same rows next are later: the
    relay numbers them in that order.
    """
    queued: list[Fact] = session.info.pop(_QUEUED, [])
    if queued:
        entropy = database_of(session).entropy
        written_at = StatementTime.SQLITE if database_of(session).embedded else _ONE_AFTER_ANOTHER
        computed = (("written_at", written_at), ("unrouted", "false"))
        insert_many(session, OutboxRow, [fact_row(fact, entropy) for fact in queued], computed=computed)


OUTBOX_TABLE = cast(Table, OutboxRow.__table__)
"""For modules that insert facts in statements of their own."""
# The clock is read once, so that no fact is dated later than the end of the statement, however many there are.
_ONE_AFTER_ANOTHER = f"(SELECT {StatementTime.POSTGRESQL}) + row_number() OVER ()"
WRITTEN_AT_POSTGRESQL = {"written_at": StatementTime.POSTGRESQL}
WRITTEN_AT_SQLITE = {"written_at": StatementTime.SQLITE}


def fact_row(fact: Fact, entropy: Entropy) -> dict[str, Any]:
    """A fact's row: columns by name; the others have defaults in the database."""
    return {
        "message_id": uuid7(fact.at, entropy),
        "name": fact.name,
        "organisation_id": fact.organisation_id,
        "stream": stream_of(fact.subjects, fact.organisation_id),
        "subjects": dict(fact.subjects),
        "payload": dict(fact.payload),
        "created_at": fact.at,
        "trace": tracing.header(),
    }


def replay(session: Session, facts: Iterable[StoredFact], context: ActionContext) -> int:
    """Deliver facts again, under the same ids, that were given up or published; returns how many.

    One that was given up goes to those who failed at it; one that was published goes to the broker once more.
    """
    replayed = [fact.row for fact in facts if _replay(session, fact, context.now)]
    for row in replayed:
        line = AuditLine(context, "fact_replayed", "fact", row.message_id, row.organisation_id)
        audit.record(session, line)
    after_commit(session, database_of(session).wake_workers)
    return len(replayed)


def _replay(session: Session, fact: StoredFact, now: Millis) -> bool:
    row = fact.row
    if fact.state is State.DEAD:
        return retries.revive(session, row.organisation_id, row.message_id, now)
    if fact.state is State.WAITING or not cursors.has_broker(session, row.organisation_id):
        return False
    row.unrouted = False
    retries.add(session, cursors.BROKER, [cursors.message(row)], now)
    return True
