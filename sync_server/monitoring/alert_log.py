"""Logs alerts when they are raised and when they are over: once, however many workers there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.ids import NIL_ID
from sync_server.monitoring import queries, service
from sync_server.monitoring.models import ActiveAlertRow, CheckRow
from sync_server.monitoring.rules import Alert
from sync_server.plumbing.database import after_commit
from sync_server.plumbing.jobs import MORE
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.telemetry.logs import LOG

ALERTS: Final = "alerts"
INTERVAL_MS: Final[Millis] = 60_000
_LOGGED: Final = ("count", "since", "event_id", "venue_id", "organisation_id")


class AlertCheck:
    """Checks some hundred events per run; the worker that claimed this minute's check logs for all of them."""

    def __init__(self) -> None:
        self._found: list[Alert] = []
        self._next: str | None = None

    def run(self, session: Session, context: ActionContext) -> object:
        """Job: check the next events; MORE while there are any left."""
        if self._next is None:
            if not service.claim(session, context.now, ALERTS, INTERVAL_MS):
                return None
            self._found, self._next = [], NIL_ID
        found, self._next = queries.event_alerts_batch(session, context.now, after=self._next)
        self._found.extend(found)
        if self._next is not None:
            return MORE
        log_alert_changes(
            session, [*self._found, *queries.standing_alerts(session), *queries.platform_alerts(session, context.now)]
        )
        return None


def log_alert_changes(session: Session, alerts: Iterable[Alert]) -> None:
    """Log the difference to the alerts that were logged before, once the transaction commits."""
    # A check that took longer than a minute waits for the next one here.
    session.execute(select(CheckRow.name).where(CheckRow.name == ALERTS).with_for_update())
    logged = {
        (row.kind, row.organisation_id, row.event_id): row for row in session.execute(select(ActiveAlertRow)).scalars()
    }
    current = {(each.kind.value, each.organisation_id or NIL_ID, each.event_id or NIL_ID): each for each in alerts}
    for key in sorted(current.keys() - logged.keys()):
        row = _row(current[key])
        session.add(row)
        after_commit(session, partial(LOG.warning, "alert_raised", **_log_fields(row)))
    for key in sorted(logged.keys() - current.keys()):
        after_commit(session, partial(LOG.warning, "alert_over", **_log_fields(logged[key])))
        session.delete(logged[key])
    session.flush()


def _row(alert: Alert) -> ActiveAlertRow:
    return ActiveAlertRow(
        organisation_id=alert.organisation_id or NIL_ID,
        kind=alert.kind.value,
        event_id=alert.event_id or NIL_ID,
        venue_id=alert.venue_id or None,
        since=alert.since,
        count=alert.count,
    )


def _log_fields(row: ActiveAlertRow) -> Mapping[str, Any]:
    named = ((name, getattr(row, name)) for name in _LOGGED)
    return {"alert": row.kind, **{name: "" if value in {None, NIL_ID} else value for name, value in named}}
