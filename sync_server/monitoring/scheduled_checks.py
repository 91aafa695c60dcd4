"""The worker's checks: the nightly check in short steps, alerts, and seating."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby, starmap
from typing import Protocol

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.ids import NIL_ID
from sync_server.monitoring import queries, service
from sync_server.monitoring.alert_log import INTERVAL_MS, AlertCheck
from sync_server.monitoring.json_references import PrimaryKey, TableScan
from sync_server.monitoring.seating_checks import SeatingCheck
from sync_server.monitoring.sum_checks import EVERY_MS, SumCheck
from sync_server.monitoring.tenant_checks import TenantReference, find
from sync_server.plumbing.jobs import MORE, HeavyJob, Job
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.seating.event_seatings import event_seatings_of

RETRY_CLAIM_MS: Millis = 600_000


class Step(Protocol):
    """A part of the nightly check."""

    def run(self, session: Session, now: Millis) -> bool:
        """Check some rows; whether there are more."""
        ...


class ReferenceCheck:
    """Checks the references of one column."""

    def __init__(self, place: str, references: Iterable[TenantReference]) -> None:
        self._place, self._references = place, tuple(references)

    def run(self, session: Session, now: Millis) -> bool:
        """Check all rows, with one statement for each referenced table."""
        found = [finding for reference in self._references for finding in find(session, reference)]
        service.record_findings(session, found, now)
        service.delete_resolved(session, self._place, {finding.row for finding in found})
        return False


class JsonReferenceCheck:
    """Scans one table that has ids inside its columns."""

    def __init__(self, scan: TableScan) -> None:
        self._scan = scan
        self._last: PrimaryKey | None = None
        self._found: dict[str, set[str]] = {place: set() for place in scan.places}

    def run(self, session: Session, now: Millis) -> bool:
        """Check some hundred rows; after the last, delete the findings that are resolved."""
        batch = self._scan.batch(session, self._last, now)
        service.record_findings(session, batch.findings, now)
        for finding in batch.findings:
            self._found[finding.place].add(finding.row)
        self._last = batch.last
        if self._last is None:
            for place, rows in self._found.items():
                service.delete_resolved(session, place, rows)
        return self._last is not None


class FinishCheck:
    """Counts events with contradictory times, then records the result of the nightly check."""

    def __init__(self) -> None:
        self._wrong_times = 0
        self._next: str | None = ""

    def run(self, session: Session, now: Millis) -> bool:
        """Count some hundred events."""
        wrong, self._next = queries.times_in_wrong_order(session, now, self._next or NIL_ID)
        self._wrong_times += wrong
        if self._next is None:
            service.finish_nightly(session, self._wrong_times, now)
        return self._next is not None


class NightlyCheck:
    """Runs one step at a time, so that others write in between."""

    def __init__(self) -> None:
        self._steps: list[Step] = []

    def run(self, session: Session, context: ActionContext) -> object:
        """Job: run the next step; MORE while there are any left."""
        if not self._steps:
            if not service.claim(session, context.now):
                return None
            by_place = groupby(service.all_references(), key=lambda reference: reference.place)
            self._steps = [
                FinishCheck(),
                *map(JsonReferenceCheck, service.all_table_scans()),
                *starmap(ReferenceCheck, by_place),
            ]
        step = self._steps.pop()  # a step that fails is logged by the worker, and the others still run
        if step.run(session, context.now):
            self._steps.append(step)
        return MORE if self._steps else None


def jobs(parts: Parts) -> list[Job | HeavyJob]:
    """The jobs of this package."""
    return [
        Job("monitoring.nightly", RETRY_CLAIM_MS, NightlyCheck().run),
        Job("monitoring.alerts", INTERVAL_MS, AlertCheck().run),
        HeavyJob("monitoring.sums", EVERY_MS, SumCheck().run),
        Job("monitoring.seating", INTERVAL_MS, SeatingCheck(event_seatings_of(parts)).run),
    ]
