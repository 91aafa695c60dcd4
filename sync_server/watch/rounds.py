"""The watchman's rounds in the worker: the nightly check in short turns, alerts, and how houses are seated."""

from __future__ import annotations

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.plumbing.principals import Deed
from sync_server.plumbing.work import MORE, Job
from sync_server.watch import queries, service
from sync_server.watch.crossings import Pointer
from sync_server.watch.houses import HousesRound
from sync_server.watch.telling import LOOK_EVERY_MS, AlertsRound

ASK_EVERY_MS: Millis = 600_000


class NightlyRound:
    """Goes one way at a turn, so that others write in between."""

    def __init__(self) -> None:
        """Not begun."""
        self._left: list[Pointer] = []
        self._going = False
        self._abroad = 0
        self._wrong_times = 0
        self._next: str | None = None

    def go(self, session: Session, deed: Deed) -> object:
        """One turn; MORE as long as there is more to look at."""
        if not self._going:
            if not service.claim(session, deed.now):
                return None
            self._left, self._next, self._going = service.everywhere(), "", True
            self._abroad = self._wrong_times = 0
        if self._left:
            self._abroad += service.look(session, self._left.pop(), deed.now)
            return MORE
        if self._next is not None:
            wrong, self._next = queries.times_in_wrong_order(session, deed.now, self._next)
            self._wrong_times += wrong
            return MORE
        service.close(session, self._abroad, self._wrong_times, deed.now)
        self._going = False
        return None


def jobs() -> list[Job]:
    """What the worker does for the watch."""
    return [
        Job("watch.nightly", ASK_EVERY_MS, NightlyRound().go),
        Job("watch.alerts", LOOK_EVERY_MS, AlertsRound().go),
        Job("watch.houses", LOOK_EVERY_MS, HousesRound().go),
    ]
