"""The nightly check: run by one of all workers, once a day, one table at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict
from typing import Final

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.monitoring import queries
from sync_server.monitoring.json_references import Batch, TableScan, table_scans
from sync_server.monitoring.models import CheckRow, FindingRow
from sync_server.monitoring.tenant_checks import Finding, TenantReference, find, tenant_references
from sync_server.plumbing.sql.tables import Base
from sync_server.plumbing.telemetry.logs import LOG

NIGHTLY: Final = "nightly"
SUMS: Final = "sums"
WRONG_TIMES: Final = "times_in_wrong_order"
DAY_MS: Final[Millis] = 24 * 3_600_000


def claim(session: Session, now: Millis, name: str = NIGHTLY, every_ms: Millis = DAY_MS) -> bool:
    """Claim a check for this worker: True if it is due and nobody else has claimed it."""
    # A claim from the future, by a clock that was ahead, counts as due.
    due = (CheckRow.ran_at <= now - every_ms) | (CheckRow.ran_at > now + every_ms)
    claimed = update(CheckRow).where(CheckRow.name == name, due).values(ran_at=now)
    if session.execute(claimed.returning(CheckRow.name)).first() is not None:
        return True
    if queries.last_check(session, name) is not None:
        return False
    try:
        with session.begin_nested():
            session.add(CheckRow(name=name, ran_at=now, findings=0))
    except IntegrityError:
        return False  # another worker was first
    return True


def all_references() -> Iterator[TenantReference]:
    """All references between tables that have no foreign key."""
    return tenant_references(Base.metadata)


def all_table_scans() -> Iterator[TableScan]:
    """Scans of all tables that have ids inside their columns."""
    return table_scans(Base.metadata)


def find_all(session: Session, now: Millis) -> Iterator[Finding]:
    """All references into other organisations, at once and without recording them."""
    for reference in all_references():
        yield from find(session, reference)
    for scan in all_table_scans():
        batch: Batch = scan.batch(session, None, now)
        yield from batch.findings
        while batch.last is not None:
            batch = scan.batch(session, batch.last, now)
            yield from batch.findings


def record_findings(session: Session, findings: Sequence[Finding], now: Millis) -> None:
    """Store and log the findings that are new."""
    for finding in findings:
        if session.get(FindingRow, (finding.organisation_id, finding.place, finding.row)) is None:
            LOG.error(
                "row_points_abroad", place=finding.place, row=finding.row, organisation_id=finding.organisation_id
            )
            session.add(FindingRow(**asdict(finding), found_at=now))
    session.flush()


def delete_resolved(session: Session, place: str, rows: AbstractSet[str]) -> None:
    """Delete the findings at this place that were not found again."""
    stored = set(session.execute(select(FindingRow.row).where(FindingRow.place == place)).scalars())
    resolved = stored - rows
    if resolved:
        session.execute(delete(FindingRow).where(FindingRow.place == place, FindingRow.row.in_(resolved)))


def finish_nightly(session: Session, wrong_times: int, now: Millis) -> None:
    """Record that the check is complete, and what is only counted once a night."""
    mismatches = len(queries.findings(session))
    session.merge(CheckRow(name=NIGHTLY, ran_at=now, findings=mismatches))
    session.merge(CheckRow(name=WRONG_TIMES, ran_at=now, findings=wrong_times))
    session.flush()
    LOG.info("nightly_check", points_abroad=mismatches, times_in_wrong_order=wrong_times)


def finish_sums(session: Session, wrong: int, now: Millis) -> None:
    """Record that every sum was compared with its rows, and how many were wrong."""
    session.merge(CheckRow(name=SUMS, ran_at=now, findings=wrong))
    session.flush()
    LOG.info("sums_checked", wrong=wrong)
