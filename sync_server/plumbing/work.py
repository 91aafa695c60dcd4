"""What the worker does: small jobs that may run twice, and subscribers to facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.plumbing.principals import Deed

MORE: Final = object()
"""What a job answers that has stopped before its end, to let others write: it is due again at once."""


@dataclass(frozen=True, slots=True)
class Job:
    """Something done every so often, in a transaction of its own; doing it twice changes nothing."""

    name: str
    every_ms: Millis
    run: Callable[[Session, Deed], object]


@dataclass(frozen=True, slots=True)
class Message:
    """A fact on its way to subscribers; the id is the same at every attempt."""

    message_id: str
    name: str
    organisation_id: str
    at: Millis
    subjects: Mapping[str, Any]
    payload: Mapping[str, Any]
    attempts: int
    order: int = 0  # rises in the order of what happened
    stream: str = ""  # facts of one stream arrive in their order: an event's, a device's


Announcer = Callable[[Sequence[Message]], None]
"""Is told facts by the batch once all subscribers have heard them; must not fail, for nobody tells it again."""

Subscriber = Callable[[Message], None]
"""Is told each fact at least once, those of one event in their order; raising means: tell me again later."""
