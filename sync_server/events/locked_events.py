"""The events that a transaction has locked: nobody else changes them, so it reads them once."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from sync_server.events.models import EventRecord

_KEPT: Final = "events locked by this transaction"


def of(session: Session) -> dict[tuple[str, str], EventRecord]:
    """By organisation and id. The counters of what is issued may have changed since; those are read with the lock."""
    kept: dict[tuple[str, str], EventRecord] = session.info.setdefault(_KEPT, {})
    return kept


def is_locked(session: Session, organisation_id: str, event_id: str) -> bool:
    """Whether this transaction has locked that event, so that nobody else changes it or its layout."""
    return (organisation_id, event_id) in of(session)


def one(organisation_id: str, event_id: str) -> Select[EventRecord]:
    """The statement that reads an event."""
    return select(EventRecord).where(EventRecord.organisation_id == organisation_id, EventRecord.id == event_id)
