"""Tables of journals: entries, one row per journal, movements, ticket presence, counts and conflicts."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, BigInteger, Boolean, Index, LargeBinary, String, Text, UniqueConstraint, false, text
from sqlalchemy.orm import Mapped, mapped_column

from sync_server.plumbing.sql.tables import Base, Unsigned64, Uuid, references


class Journal(Base):
    """One branch of one device's journal: what the server has of it, and what the device claims."""

    __tablename__ = "scan_journals"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    device: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    branch: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    mark_seq: Mapped[int] = mapped_column(BigInteger, default=0)
    mark_head: Mapped[bytes] = mapped_column(LargeBinary(32))
    claimed_seq: Mapped[int] = mapped_column(BigInteger, default=0)
    claimed_head: Mapped[bytes] = mapped_column(LargeBinary(32))
    claimed_signature: Mapped[bytes] = mapped_column(LargeBinary(64), default=b"")
    boots: Mapped[bytes] = mapped_column(LargeBinary, default=b"")  # see boots.py
    anchored_seq: Mapped[int] = mapped_column(BigInteger, default=0)  # times after it may still be corrected
    alarm: Mapped[str] = mapped_column(String(20), default="")
    alarm_at: Mapped[int | None] = mapped_column(BigInteger)
    received_at: Mapped[int | None] = mapped_column(BigInteger)

    __table_args__ = (references("devices", "device", to="number"),)


class ScanEntry(Base):
    """One entry as its device wrote it. Its identity is (device, branch, seq, hash): forks are stored side by side."""

    __tablename__ = "scan_entries"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    device: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    branch: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    hash: Mapped[bytes] = mapped_column(LargeBinary(32), primary_key=True)
    body: Mapped[bytes] = mapped_column(LargeBinary)
    received_at: Mapped[int] = mapped_column(BigInteger)
    quarantined: Mapped[bool] = mapped_column(Boolean, default=False)
    why: Mapped[str] = mapped_column(String(40), default="")
    forked: Mapped[bool] = mapped_column(Boolean, default=False)  # another entry has the same number
    kind: Mapped[str] = mapped_column(String(20))
    event_id: Mapped[Uuid | None] = mapped_column()  # None: of no event of this organisation
    gate: Mapped[int] = mapped_column(BigInteger)
    ticket: Mapped[int] = mapped_column(Unsigned64)  # 0: none
    admitted: Mapped[bool] = mapped_column(Boolean)
    test: Mapped[bool] = mapped_column(Boolean, default=False, server_default=false())  # scanned to try the gate out
    reason: Mapped[str] = mapped_column(String(24))
    at: Mapped[int] = mapped_column(BigInteger)
    uncertainty: Mapped[int] = mapped_column(BigInteger)


Index("ix_scan_entries_ticket", ScanEntry.organisation_id, ScanEntry.event_id, ScanEntry.ticket)
Index("ix_scan_entries_event_at", ScanEntry.organisation_id, ScanEntry.event_id, ScanEntry.at)
QUARANTINED = text("quarantined")
"""Entries that wait for a decision; queries use the same text as the index, so that the index serves them."""
Index(
    "ix_scan_entries_quarantined",
    ScanEntry.organisation_id,
    ScanEntry.device,
    postgresql_where=QUARANTINED,
    sqlite_where=QUARANTINED,
)
DECISIONS = text("kind IN ('doors', 'count_correction')")
"""Supervisors' decisions; queries use the same text as the index, so that the index serves them."""
BY_DECISIONS = "INDEXED BY ix_scan_entries_decisions"
"""For SQLite, which would as soon read all entries of the event."""
Index(
    "ix_scan_entries_decisions",
    ScanEntry.organisation_id,
    ScanEntry.event_id,
    ScanEntry.device,
    postgresql_where=DECISIONS,
    sqlite_where=DECISIONS,
)


GAPS = text("kind = 'gap'")
"""Declared losses; queries use the same text as the index, so that the index serves them."""
BY_GAPS = "INDEXED BY ix_scan_entries_gaps"
"""For SQLite, which has no statistics and would as soon read all entries of the organisation."""
Index(
    "ix_scan_entries_gaps",
    ScanEntry.organisation_id,
    ScanEntry.device,
    postgresql_where=GAPS,
    sqlite_where=GAPS,
)


class MovementRow(Base):
    """An admitted entry, exit or annulment as other gates fetch it, numbered in commit order."""

    __tablename__ = "scan_movements"
    __table_args__ = (UniqueConstraint("organisation_id", "event_id", "arrival"),)

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    device: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    branch: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    hash: Mapped[bytes] = mapped_column(LargeBinary(32), primary_key=True)
    event_id: Mapped[Uuid]
    arrival: Mapped[int] = mapped_column(BigInteger)
    kind: Mapped[int] = mapped_column()
    ticket: Mapped[int] = mapped_column(Unsigned64)
    issue: Mapped[int] = mapped_column(BigInteger)
    code_hash: Mapped[bytes] = mapped_column(LargeBinary(16))
    at: Mapped[int] = mapped_column(BigInteger)
    gate: Mapped[int] = mapped_column(BigInteger)
    zone: Mapped[int] = mapped_column(BigInteger)
    annuls_device: Mapped[int | None] = mapped_column(BigInteger)
    annuls_branch: Mapped[int | None] = mapped_column(BigInteger)
    annuls_seq: Mapped[int | None] = mapped_column(BigInteger)


class Presence(Base):
    """Where the holder of one ticket was last seen; the row is also the lock for reconciling the ticket."""

    __tablename__ = "scan_presence"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    ticket: Mapped[int] = mapped_column(Unsigned64, primary_key=True, autoincrement=False)
    bodies: Mapped[int] = mapped_column(default=0)  # people inside with this ticket; more than one after a duplicate
    at: Mapped[int] = mapped_column(BigInteger, default=0)
    gate: Mapped[int] = mapped_column(BigInteger, default=0)
    zone: Mapped[int] = mapped_column(BigInteger, default=0)
    steps: Mapped[bytes] = mapped_column(LargeBinary, default=b"")  # see attendance/steps.py


Index("ix_scan_presence_at", Presence.organisation_id, Presence.event_id, Presence.at)


class InsideSum(Base):
    """How many people are inside who came in one minute, hour or day through one gate into one zone."""

    __tablename__ = "scan_inside"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    span: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)  # its length in milliseconds
    starts: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    gate: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    zone: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    n: Mapped[int] = mapped_column(BigInteger)

    __table_args__ = (references("events", "event_id"),)


class SumBasis(Base):
    """What an event's sums of flows and days rest on; its row is also the lock for counting them anew."""

    __tablename__ = "scan_bases"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    basis: Mapped[str] = mapped_column(Text)  # see attendance/basis.py
    round: Mapped[int] = mapped_column(BigInteger)  # rises with each change of what was found beyond capacity

    __table_args__ = (references("events", "event_id"),)


class FlowSum(Base):
    """How many went in or out in one minute or hour through one gate into one zone, where a place has a limit."""

    __tablename__ = "scan_flows"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    span: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)  # its length in milliseconds
    day: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)  # when it begins
    starts: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    gate: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    zone: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    figure: Mapped[str] = mapped_column(String(8), primary_key=True)
    n: Mapped[int] = mapped_column(BigInteger)

    __table_args__ = (references("events", "event_id"),)


class DaySum(Base):
    """How many tickets came on one event day into one zone, and whether their holders stayed until its end."""

    __tablename__ = "scan_days"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    day: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)  # when it begins
    zone: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    stayed: Mapped[bool] = mapped_column(primary_key=True)
    n: Mapped[int] = mapped_column(BigInteger)

    __table_args__ = (references("events", "event_id"),)


class ScanCount(Base):
    """How often one gate gave one answer at one event, test scans left out."""

    __tablename__ = "scan_counts"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    gate: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    direction: Mapped[str] = mapped_column(String(8), primary_key=True)
    reason: Mapped[str] = mapped_column(String(24), primary_key=True)
    n: Mapped[int] = mapped_column(BigInteger)

    __table_args__ = (references("events", "event_id"),)


class ConflictRow(Base):
    """A conflict that reconciliation found; an organiser resolves it with a note, later entries may withdraw it."""

    __tablename__ = "scan_conflicts"
    __table_args__ = (
        references("events", "event_id"),
        UniqueConstraint("organisation_id", "event_id", "ticket", "kind", "subject"),
    )

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid]
    ticket: Mapped[int] = mapped_column(Unsigned64)
    kind: Mapped[str] = mapped_column(String(30))
    subject: Mapped[str] = mapped_column(String(80))  # the entry that is wrong: device-branch-seq-hash
    severity: Mapped[int] = mapped_column()
    order_unsure: Mapped[bool] = mapped_column(Boolean)
    scans: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    reason: Mapped[str] = mapped_column(String(24), default="")  # what the server would have answered
    found_at: Mapped[int] = mapped_column(BigInteger)
    withdrawn_at: Mapped[int | None] = mapped_column(BigInteger)
    resolved_at: Mapped[int | None] = mapped_column(BigInteger)
    resolved_by: Mapped[str] = mapped_column(String(120), default="")
    note: Mapped[str] = mapped_column(Text, default="")


Index("ix_scan_conflicts_event", ConflictRow.organisation_id, ConflictRow.event_id, ConflictRow.found_at)
UNRESOLVED = text("resolved_at IS NULL AND withdrawn_at IS NULL AND severity > 0")
"""Conflicts that somebody must look at; queries use the same text as the index, so that the index serves them."""
Index(
    "ix_scan_conflicts_unresolved",
    ConflictRow.organisation_id,
    ConflictRow.event_id,
    postgresql_where=UNRESOLVED,
    sqlite_where=UNRESOLVED,
)
