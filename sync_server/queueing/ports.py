"""What the queue asks of a higher package."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.clock import Millis


@dataclass(frozen=True, slots=True)
class QueuePorts:
    """Answered by the package that has the checkout."""

    free_slots: Callable[[Session, str, str, Millis], int]
    """How many more may be let in to an event, by organisation and id: slots of its checkout that nobody uses, and
    that nobody whose turn it is may still want."""
