"""What the outbox tells higher packages inside the transaction of a change."""

from __future__ import annotations

from dataclasses import dataclass

from shared.clock import Millis
from sync_server.plumbing.signals import Signal


@dataclass(frozen=True, slots=True)
class FactRecorded(Signal):
    """A fact is part of this transaction."""

    organisation_id: str
    name: str


@dataclass(frozen=True, slots=True)
class JoinedElsewhere(Signal):
    """Somebody has joined an event elsewhere, or cancelled."""

    event_id: str
    participants: int  # now
    step: int
    now: Millis
