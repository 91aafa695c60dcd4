"""Request and response schemas of /api/facts."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from sync_server.outbox.catalogue import routing_key
from sync_server.outbox.queries import StoredFact
from sync_server.outbox.rules import State
from sync_server.plumbing.api.schemas import Query, iso, iso_or_none


class FactsQuery(Query):
    """Which facts to list, oldest first; by default those that were given up."""

    limit: Annotated[int, Field(ge=1, le=500)] = 50
    after: Annotated[str, Field(max_length=400)] | None = None
    state: State = State.DEAD


class FactView(BaseModel):
    """A fact and its delivery."""

    message_id: str
    fact: str
    routing_key: str
    state: State
    at: str
    organisation_id: str
    subjects: dict[str, Any]
    attempts: int
    last_error: str
    sent_at: str | None
    dead_at: str | None

    @classmethod
    def of(cls, fact: StoredFact) -> FactView:
        """As API and command line show it; the payload is for consumers only."""
        row, waits = fact.row, fact.state in {State.WAITING, State.DEAD}
        return cls(
            message_id=row.message_id,
            fact=row.name,
            routing_key=routing_key(row.name),
            state=fact.state,
            at=iso(row.created_at),
            organisation_id=row.organisation_id,
            subjects=row.subjects,
            attempts=fact.attempts,
            last_error=fact.last_error,
            sent_at=None if waits else iso_or_none(row.relayed_at),
            dead_at=iso_or_none(fact.dead_at),
        )


class FactsView(BaseModel):
    """A page of facts."""

    items: list[FactView]
    next: str | None
