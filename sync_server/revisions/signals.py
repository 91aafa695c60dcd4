"""What revisions tell higher packages inside the transaction of a change."""

from __future__ import annotations

from dataclasses import dataclass

from shared.clock import Millis
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.signals import Signal


@dataclass(frozen=True, slots=True)
class RevisionRises(Signal):
    """An event's snapshot gets its first new revision of this transaction."""

    event: EventKey
    settled_at: Millis  # when the revision before it was made
