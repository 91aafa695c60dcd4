"""The emergency contact of a barrier: shown to staff, and written into the journal."""

from __future__ import annotations

from gate_app.gate_context import GateContext
from gate_app.screen.feed import Feed
from gate_app.words import say
from shared.errors import StorageError
from shared.journal.scans import EntryKind

EMERGENCY = "emergency"


def record_emergency(context: GateContext, feed: Feed, emergency: bool) -> None:
    """Says that the barrier stands open, or no longer does, and records when. Called once it has moved."""
    feed.fault(EMERGENCY, say("trouble.emergency") if emergency else None)
    try:
        context.journal.append(context.time.now(), context.time.boot, EntryKind.EMERGENCY, details={"open": emergency})
    except StorageError as why:
        feed.fault("gate", str(why))
