"""The watchman's rounds in the worker: the nightly check in short turns, and the log of what has come up or is over."""

from __future__ import annotations

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.principals import Deed
from sync_server.plumbing.work import MORE, Job
from sync_server.watch import queries, service
from sync_server.watch.crossings import Pointer
from sync_server.watch.houses import HousesRound
from sync_server.watch.rules import Alert, Kind

ASK_EVERY_MS: Millis = 600_000
LOOK_EVERY_MS: Millis = 60_000


class NightlyRound:
    """Goes one way at a turn, so that others write in between."""

    def __init__(self) -> None:
        """Not begun."""
        self._left: list[Pointer] = []
        self._going = False
        self._abroad = 0

    def go(self, session: Session, deed: Deed) -> object:
        """One turn; MORE as long as there is more to look at."""
        if not self._going:
            if not service.claim(session, deed.now):
                return None
            self._left, self._abroad, self._going = service.everywhere(), 0, True
        if self._left:
            self._abroad += service.look(session, self._left.pop(), deed.now)
            return MORE
        service.close(session, self._abroad, deed.now)
        self._going = False
        return None


class Teller:
    """Says in the log what has come up since the last look, and what is over."""

    def __init__(self) -> None:
        """Nothing was told yet."""
        self._told: dict[tuple[Kind, str], Alert] = {}

    def look(self, session: Session, deed: Deed) -> None:
        """One look at all organisations and the platform."""
        alerts = [*queries.of_all_events(session, deed.now), *queries.of_platform(session, deed.now)]
        now = {(alert.kind, alert.event_id): alert for alert in alerts}
        for name in now.keys() - self._told.keys():
            _say("alert_raised", now[name])
        for name in self._told.keys() - now.keys():
            _say("alert_over", self._told[name])
        self._told = now


def _say(what: str, alert: Alert) -> None:
    ids = {"event_id": alert.event_id, "venue_id": alert.venue_id, "organisation_id": alert.organisation_id}
    LOG.warning(what, alert=alert.kind.value, count=alert.count, since=alert.since, **ids)


def jobs() -> list[Job]:
    """What the worker does for the watch."""
    return [
        Job("watch.nightly", ASK_EVERY_MS, NightlyRound().go),
        Job("watch.alerts", LOOK_EVERY_MS, Teller().look),
        Job("watch.houses", LOOK_EVERY_MS, HousesRound().go),
    ]
