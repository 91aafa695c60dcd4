"""What holds ask of higher packages."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import GatehouseError


@dataclass(frozen=True, slots=True)
class HoldPorts:
    """Answered by the packages that issue tickets and keep the queue."""

    days_of_membership: Callable[[Session, str, str, str, Collection[int]], Collection[int]]
    """The valid days, as bitmaps, of each ticket by which a membership admits to some zones: a function of
    organisation, event, membership and the numbers of the event's zones."""
    is_queued: Callable[[Session, str, str], bool]
    """Whether an event, by organisation and id, has a queue."""
    queue_refusal: Callable[[Session, str, str, str, str, Millis], GatehouseError | None]
    """Why a guest, by organisation, event, id, and the secret of the tab, may not hold seats of an event with one."""
