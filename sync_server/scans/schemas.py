"""Request and response schemas for scans, conflicts and quarantine."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from sync_server.plumbing.api.schemas import Query, RequestBody, iso, iso_or_none
from sync_server.scans.decisions import Decision
from sync_server.scans.gaps import Lost, Stretch
from sync_server.scans.models import ConflictRow, ScanEntry
from sync_server.scans.queries import JournalState
from sync_server.tickets.queries import public_id

Note = Annotated[str, Field(min_length=1, max_length=2000)]


class ScansQuery(Query):
    """How many of the latest scans."""

    limit: Annotated[int, Field(ge=1, le=500)] = 100


class ConflictsQuery(Query):
    """Which conflicts: open ones, or resolved and withdrawn ones too."""

    all: bool = False


class WithNote(RequestBody):
    """A note that explains the decision."""

    note: Note


class ScanOut(BaseModel):
    """One presentation of a code at a gate, at its corrected time."""

    device: int
    branch: int
    seq: int
    gate: int
    ticket_id: str | None
    admitted: bool
    reason: str
    at: str
    uncertainty_ms: int
    received_at: str

    @classmethod
    def of(cls, row: ScanEntry) -> ScanOut:
        return cls(
            device=row.device,
            branch=row.branch,
            seq=row.seq,
            gate=row.gate,
            ticket_id=public_id(row.ticket) if row.ticket else None,
            admitted=row.admitted,
            reason=row.reason,
            at=iso(row.at),
            uncertainty_ms=row.uncertainty,
            received_at=iso(row.received_at),
        )


class ScansOut(BaseModel):
    """The latest scans, newest first."""

    items: list[ScanOut]
    next: str | None = None


class ConflictScan(BaseModel):
    """One of the scans that contradict each other."""

    device: int
    branch: int
    seq: int
    gate: int
    direction: str
    admitted: bool
    reason: str
    override: str
    at: str
    uncertainty_ms: int


class ConflictOut(BaseModel):
    """A contradiction between scans, or between a scan and the server's rows."""

    id: str
    event_number: int
    ticket_id: str
    kind: str
    severity: int
    would_be: str
    order_unsure: bool
    scans: list[ConflictScan]
    found_at: str
    withdrawn_at: str | None
    resolved_at: str | None
    resolved_by: str
    note: str

    @classmethod
    def of(cls, row: ConflictRow, event_number: int) -> ConflictOut:
        return cls(
            id=row.id,
            event_number=event_number,
            ticket_id=public_id(row.ticket),
            kind=row.kind,
            severity=row.severity,
            would_be=row.reason,
            order_unsure=row.order_unsure,
            scans=[_scan(scan) for scan in row.scans],
            found_at=iso(row.found_at),
            withdrawn_at=iso_or_none(row.withdrawn_at),
            resolved_at=iso_or_none(row.resolved_at),
            resolved_by=row.resolved_by,
            note=row.note,
        )


class ConflictsOut(BaseModel):
    """Conflicts, gravest first."""

    items: list[ConflictOut]
    next: str | None = None


class DecisionOut(BaseModel):
    """A supervisor's decision at a gate; gate 0 stands for the event's doors, or the whole venue."""

    what: str
    gate: int
    device: int
    supervisor: int
    at: str
    uncertainty_ms: int

    @classmethod
    def of(cls, one: Decision) -> DecisionOut:
        return cls(
            what=one.what,
            gate=one.entry.gate,
            device=one.entry.device,
            supervisor=one.entry.override_by,
            at=iso(one.at),
            uncertainty_ms=one.uncertainty,
        )


class DecisionsOut(BaseModel):
    """All decisions of an event, newest first."""

    items: list[DecisionOut]
    next: str | None = None


class AcceptedOut(BaseModel):
    """How many entries were accepted."""

    accepted: int


def _scan(scan: dict[str, object]) -> ConflictScan:
    fields = dict(scan)
    at, uncertainty = fields.pop("at"), fields.pop("uncertainty")
    return ConflictScan.model_validate(fields | {"at": iso(int(str(at))), "uncertainty_ms": uncertainty})


class StretchOut(BaseModel):
    """Consecutive entries of a journal that are lost."""

    branch: int
    first: int
    last: int
    entries: int
    declared_at: str

    @classmethod
    def of(cls, stretch: Stretch) -> StretchOut:
        return cls(
            branch=stretch.branch,
            first=stretch.first,
            last=stretch.last,
            entries=stretch.missing,
            declared_at=iso(stretch.declared_at),
        )


class JournalOut(BaseModel):
    """A device's journal as the server has it. `lost`: entries that the device declared lost, first at `lost_since`."""

    held: int
    missing: int
    quarantined: int
    alarm: str
    lost: int
    lost_since: str | None
    gaps: list[StretchOut]

    @classmethod
    def of(cls, state: JournalState, lost: Lost | None) -> JournalOut:
        return cls(
            held=state.held,
            missing=state.missing,
            quarantined=state.quarantined,
            alarm=state.alarm,
            lost=lost.entries if lost else 0,
            lost_since=iso_or_none(lost.since if lost else None),
            gaps=[StretchOut.of(stretch) for stretch in lost.stretches] if lost else [],
        )
