"""Says in the log what has come up since the last look and what is over: once, however many workers there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.plumbing.database import after_commit
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.principals import Deed
from sync_server.plumbing.work import MORE
from sync_server.watch import queries, service
from sync_server.watch.models import CheckRow, ToldRow
from sync_server.watch.rules import Alert

ALERTS: Final = "alerts"
LOOK_EVERY_MS: Final[Millis] = 60_000


class AlertsRound:
    """Looks at some hundred events at a turn; whoever has claimed the minute's look tells what all of them are told."""

    def __init__(self) -> None:
        """Not begun."""
        self._found: list[Alert] = []
        self._next: str | None = None

    def go(self, session: Session, deed: Deed) -> object:
        """One turn; MORE as long as there are events left."""
        if self._next is None:
            if not service.claim(session, deed.now, ALERTS, LOOK_EVERY_MS):
                return None
            self._found, self._next = [], ""
        found, self._next = queries.some_of_events(session, deed.now, after=self._next)
        self._found.extend(found)
        if self._next is not None:
            return MORE
        tell(session, [*self._found, *queries.of_houses(session), *queries.of_platform(session, deed.now)])
        return None


def tell(session: Session, alerts: Iterable[Alert]) -> None:
    """Compare with what the log has, and remember what it is told now; a look that is not committed says nothing."""
    # A look that took longer than a minute meets the next one here.
    session.execute(select(CheckRow.name).where(CheckRow.name == ALERTS).with_for_update())
    told = {(row.kind, row.event_id): row for row in session.execute(select(ToldRow)).scalars()}
    now = {(alert.kind.value, alert.event_id): alert for alert in alerts}
    for name in sorted(now.keys() - told.keys()):
        row = _row(now[name])
        session.add(row)
        after_commit(session, partial(LOG.warning, "alert_raised", **_words(row)))
    for name in sorted(told.keys() - now.keys()):
        after_commit(session, partial(LOG.warning, "alert_over", **_words(told[name])))
        session.delete(told[name])
    session.flush()


def _row(alert: Alert) -> ToldRow:
    return ToldRow(
        kind=alert.kind.value,
        event_id=alert.event_id,
        organisation_id=alert.organisation_id,
        venue_id=alert.venue_id,
        since=alert.since,
        count=alert.count,
    )


def _words(row: ToldRow) -> Mapping[str, Any]:
    ids = {"event_id": row.event_id, "venue_id": row.venue_id, "organisation_id": row.organisation_id}
    return {"alert": row.kind, "count": row.count, "since": row.since, **ids}
