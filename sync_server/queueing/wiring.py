"""Registers the job that moves queues on, and what holds ask of them."""

from __future__ import annotations

from hashlib import sha256

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import GatehouseError
from sync_server.plumbing.jobs import Job
from sync_server.plumbing.parts import Parts
from sync_server.queueing import admission, queries, rules
from sync_server.queueing.figures import STATE_KEY, QueueFigures

ADVANCE_EVERY_MS = 10_000
"""Only for those who do not ask: whoever asks and is next is admitted at once."""


def wire(parts: Parts) -> None:
    """Register the job and the figures of this process."""
    parts.local_state[STATE_KEY] = QueueFigures(parts)
    parts.jobs.append(
        Job(
            "queueing.advance",
            ADVANCE_EVERY_MS,
            lambda session, context: admission.advance_all(session, parts.sealer, context),
            admission.anybody_there,
            look_every_ms=ADVANCE_EVERY_MS,
        )
    )


def refusal(  # noqa: PLR0917 - as the port has them
    session: Session, organisation_id: str, event_id: str, guest_id: str, tab: str, now: Millis
) -> GatehouseError | None:
    """Why a guest may not hold seats of an event with a queue."""
    tab_hash = sha256(tab.encode()).digest() if tab else None
    return rules.refusal(queries.pass_of(session, organisation_id, event_id, guest_id), tab_hash, now)
