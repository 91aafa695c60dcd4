"""What the worker runs: jobs that may run twice, and subscribers to facts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec import Struct
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.trace import heard
from sync_server.plumbing.database import Database
from sync_server.plumbing.messaging.bus import Notification
from sync_server.plumbing.requests.principals import ActionContext

MORE: Final = object()
"""Returned by a job that stopped early to let others write: it is due again at once."""


LOOK_EVERY_MS: Final[Millis] = 30_000
"""How often a job asks whether it has anything to do: whatever gives it something to do wakes it, or is due at a time
that it knows. So it finds what was due before it looked, and what a process had no time to announce before it died."""

LOG_SUBJECTS: Final[Mapping[str, str]] = {
    "hold": "hold_id",
    "ticket": "ticket_id",
    "layout": "layout_id",
    "version": "version",
    "event": "event_id",
    "venue": "venue_id",
}
"""What log lines call the subjects of a fact."""


@dataclass(frozen=True, slots=True)
class Job:
    """A recurring task, in a transaction of its own; running it twice changes nothing."""

    name: str
    every_ms: Millis
    """How often it runs; one that asks what is due: how often at most while it has something to do."""
    run: Callable[[Session, ActionContext], object]
    due: Callable[[Session, Millis], Millis | None] | None = None
    """When it has something to do next, as far as is known: one cheap question, asked outside a transaction."""
    look_every_ms: Millis = LOOK_EVERY_MS
    """How often it asks that while there is nothing to do; whatever is due within that time must wake it."""


@dataclass(frozen=True, slots=True)
class HeavyJob:
    """A recurring task that takes long: no light job waits for it, and it opens short transactions itself."""

    name: str
    every_ms: Millis
    run: Callable[[Database, ActionContext], object]
    due: Callable[[Session, Millis], Millis | None] | None = None
    look_every_ms: Millis = LOOK_EVERY_MS
    """These three as of a job."""
    lane: str = "heavy jobs"
    """Jobs of one lane run one after another, those of different lanes side by side."""


class Message(Struct, frozen=True):
    """A fact on its way to subscribers; the id is the same at every attempt."""

    message_id: str
    name: str
    organisation_id: str
    at: Millis
    subjects: Mapping[str, Any]
    payload: Mapping[str, Any]
    attempts: int
    order: int = 0  # the position that the relay gave it among the facts of its organisation
    stream: str = ""  # facts of one stream, of an event or a device, arrive in order
    trace: str = ""  # `traceparent` of the request that made the change

    @property
    def trace_id(self) -> str:
        """The id of that trace, for log lines; empty where there is none."""
        found = heard(self.trace) if self.trace else None
        return "" if found is None else found.trace_id


@dataclass(frozen=True, slots=True)
class Subscriber:
    """Receives facts in batches, those of one event in order, in a transaction in which its cursor moves too.

    So what it writes in the database is written exactly once. What it does elsewhere may happen again. All share that
    transaction as long as none fails; then each has its own, and the fact is retried for the one that fails alone.
    """

    name: str
    wants: Callable[[Message], bool]
    handle: Callable[[Session, Sequence[Message]], Iterable[Notification]]
    """Writes what follows from the facts; returns what the bus is to publish after the commit."""
