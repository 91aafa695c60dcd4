"""Request and response schemas for scans, conflicts and quarantine."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from sync_server.plumbing.api.one_line import SEVERAL_LINES
from sync_server.plumbing.api.schemas import IsoTime, Query, RequestBody, Time, View
from sync_server.scans.decisions import Decision
from sync_server.scans.gaps import Lost
from sync_server.scans.models import ConflictRow, ScanEntry
from sync_server.scans.queries import JournalState, ScanFilter
from sync_server.tickets.queries import internal_id, public_id

Note = Annotated[str, Field(min_length=1, max_length=2000), SEVERAL_LINES]


class ScansQuery(Query):
    """How many of the latest scans, and which: at a gate, let in or refused, of a ticket, tests alone or none."""

    limit: Annotated[int, Field(ge=1, le=500)] = 100
    gate: Annotated[int, Field(ge=0, le=65_535)] | None = None
    admitted: bool | None = None
    reason: Annotated[str, Field(max_length=24)] | None = None
    ticket_id: Annotated[str, Field(pattern="^[0-9a-f]{16}$")] | None = None
    test: bool | None = None
    since: Time | None = None
    until: Time | None = None

    def chosen(self) -> ScanFilter:
        """Which scans that are."""
        ticket = None if self.ticket_id is None else internal_id(self.ticket_id)
        return ScanFilter(self.gate, self.admitted, self.reason, ticket, self.test, self.since, self.until)


class ConflictsQuery(Query):
    """Which conflicts: open ones, or resolved and withdrawn ones too."""

    all: bool = False


class WithNote(RequestBody):
    """A note that explains the decision."""

    note: Note


class ScanOut(View):
    """One presentation of a code at a gate, at its corrected time."""

    device: int
    branch: int
    seq: int
    gate: int
    ticket_id: str | None
    admitted: bool
    test: bool
    reason: str
    at: IsoTime
    uncertainty_ms: int
    received_at: IsoTime


def scan_out(row: ScanEntry) -> ScanOut:
    """A scan as organisers see it."""
    return ScanOut.of(row, ticket_id=public_id(row.ticket) if row.ticket else None, uncertainty_ms=row.uncertainty)


class ScansOut(BaseModel):
    """The latest scans, newest first."""

    items: list[ScanOut]
    next: str | None = None


class ConflictScan(View):
    """One of the scans that contradict each other."""

    device: int
    branch: int
    seq: int
    gate: int
    direction: str
    admitted: bool
    reason: str
    override: str
    at: IsoTime
    uncertainty_ms: int


class ConflictOut(View):
    """A contradiction between scans, or between a scan and the server's rows."""

    id: str
    event_number: int
    ticket_id: str
    kind: str
    severity: int
    would_be: str
    order_unsure: bool
    scans: list[ConflictScan]
    found_at: IsoTime
    withdrawn_at: IsoTime | None
    resolved_at: IsoTime | None
    resolved_by: str
    note: str


def conflict_out(row: ConflictRow, event_number: int) -> ConflictOut:
    """A conflict as organisers see it."""
    scans = [{**scan, "uncertainty_ms": scan["uncertainty"]} for scan in row.scans]
    return ConflictOut.of(
        row, event_number=event_number, ticket_id=public_id(row.ticket), would_be=row.reason, scans=scans
    )


class ConflictsOut(BaseModel):
    """Conflicts, gravest first."""

    items: list[ConflictOut]
    next: str | None = None


class DecisionOut(View):
    """A supervisor's decision at a gate; gate 0 stands for the event's doors, or the whole venue.

    `change` is by how many the count of people inside was corrected, 0 for other decisions.
    """

    what: str
    gate: int
    device: int
    supervisor: int
    at: IsoTime
    uncertainty_ms: int
    change: int


def decision_out(one: Decision) -> DecisionOut:
    """A decision as organisers see it."""
    entry = one.entry
    where = {"gate": entry.gate, "device": entry.device, "supervisor": entry.override_by}
    return DecisionOut.of(one, **where, uncertainty_ms=one.uncertainty)


class DecisionsOut(BaseModel):
    """All decisions of an event, newest first."""

    items: list[DecisionOut]
    next: str | None = None


class AcceptedOut(BaseModel):
    """How many entries were accepted."""

    accepted: int


class StretchOut(View):
    """Consecutive entries of a journal that are lost."""

    branch: int
    first: int
    last: int
    entries: int
    declared_at: IsoTime


class JournalOut(View):
    """A device's journal as the server has it. `lost`: entries that the device declared lost, first at `lost_since`."""

    held: int
    missing: int
    quarantined: int
    alarm: str
    lost: int
    lost_since: IsoTime | None
    gaps: list[StretchOut]


def journal_out(state: JournalState, lost: Lost | None) -> JournalOut:
    """A journal as organisers see it."""
    gaps = [StretchOut.of(stretch, entries=stretch.missing) for stretch in lost.stretches] if lost else []
    return JournalOut.of(state, lost=lost.entries if lost else 0, lost_since=lost.since if lost else None, gaps=gaps)
