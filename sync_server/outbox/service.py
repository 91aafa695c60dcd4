"""Writes facts, in the transaction of the change they tell of."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from sqlalchemy import Table, case, event, insert, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.ids import Entropy, uuid7
from sync_server.audit import service as audit
from sync_server.audit.service import AuditLine
from sync_server.outbox.leases import BROKER, HOUSE, lock
from sync_server.outbox.models import OutboxRow
from sync_server.outbox.rules import stream_of
from sync_server.plumbing.database import after_commit, announce, of
from sync_server.plumbing.principals import Deed

_QUEUED = "facts"
RECORDED: Final = "fact_recorded"
"""Announced with each fact, inside its transaction."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that happened, named in the past tense; subjects are ids: {"event": …, "event_number": …}.

    Facts that name the same `event_number` (or else the same `event`) reach everybody in their order.
    """

    name: str  # event_published, ticket_revoked
    organisation_id: str
    at: Millis
    subjects: Mapping[str, Any] = field(default_factory=dict)
    payload: Mapping[str, Any] = field(default_factory=dict)


def record(session: Session, fact: Fact) -> None:
    """Add a fact; it is delivered at least once, after the commit and never without it."""
    queued: list[Fact] = session.info.setdefault(_QUEUED, [])
    if not queued:
        event.listen(session, "before_commit", _write, once=True)
        after_commit(session, of(session).stir)
    queued.append(fact)
    announce(session, RECORDED, fact, fact.at)


def _write(session: Session) -> None:
    """Give facts their numbers at the very end.

    By then the transaction holds every row lock it takes, so whoever changes the same rows next gets higher numbers:
    the order of numbers is the order of what happened.
    """
    queued: list[Fact] = session.info.pop(_QUEUED, [])
    if queued:
        entropy = of(session).entropy
        session.execute(insert(OutboxRow), [write(fact, entropy) for fact in queued])


FACTS = cast(Table, OutboxRow.__table__)
"""Where they belong, for whoever writes one in a statement of their own."""


def write(fact: Fact, entropy: Entropy) -> dict[str, Any]:
    """A fact's row: columns by name; what is not named has its default in the database."""
    return {
        "message_id": uuid7(fact.at, entropy),
        "name": fact.name,
        "organisation_id": fact.organisation_id,
        "stream": stream_of(fact.subjects, fact.organisation_id),
        "subjects": dict(fact.subjects),
        "payload": dict(fact.payload),
        "created_at": fact.at,
        "due_at": fact.at,
    }


def replay(session: Session, ids: Collection[int], deed: Deed) -> int:
    """Let facts that were laid aside, or are delivered, go once more under the id they had; how many that are.

    One that failed, or that no queue wanted, takes up its way where it ended; one that arrived takes the whole way.
    """
    for stage in (HOUSE, BROKER):
        lock(session, stage)
    at_rest = OutboxRow.sent_at.is_not(None) | OutboxRow.dead_at.is_not(None)
    ended_early = OutboxRow.unrouted | OutboxRow.dead_at.is_not(None)
    again = {
        "told_at": case((ended_early, OutboxRow.told_at), else_=None),
        "sent_at": None,
        "dead_at": None,
        "unrouted": False,
        "attempts": 0,
        "due_at": deed.now,
    }
    change = update(OutboxRow).where(OutboxRow.id.in_(ids), at_rest).values(**again)
    replayed = change.returning(OutboxRow.message_id, OutboxRow.organisation_id)
    changed = session.execute(replayed.execution_options(synchronize_session=False)).all()
    for row in changed:
        audit.record(session, AuditLine(deed.actor, "fact_replayed", "fact", row.message_id, row[1], deed.now))
    after_commit(session, of(session).stir)
    return len(changed)
