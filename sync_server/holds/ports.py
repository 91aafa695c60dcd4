"""What holds ask of higher packages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import GatehouseError
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext


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
    opens_sale: Callable[[EventKey, Sequence[str], ActionContext], bool]
    """Whether codes that are shown open the sale of an event before it begins; the refusals of a code that does not
    count."""
    is_presale: Callable[[Session, EventKey, Millis], bool]
    """Whether there are codes that do so at that time."""
