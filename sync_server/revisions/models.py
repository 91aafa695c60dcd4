"""Tables of the rows that gates hold: live rows, their history, the log of revisions, and each event's head."""

from __future__ import annotations

from sqlalchemy import BigInteger, Index, LargeBinary, SmallInteger
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base, Unsigned64, Uuid, references

_IN_ORDER = {"sqlite_with_rowid": False}
"""SQLite stores these rows by their primary key: a frame of a snapshot is then read in one piece."""


class LineageRow(Base):
    """A single row: the random id of this database's history, renewed by every restore."""

    __tablename__ = "lineage"

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    value: Mapped[bytes] = mapped_column(LargeBinary(8))
    since: Mapped[Millis] = mapped_column(BigInteger)


class HeadRow(Base):
    """The head of one event; locking it puts the revisions of concurrent transactions in commit order."""

    __tablename__ = "event_heads"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    revision: Mapped[int] = mapped_column(BigInteger)
    digest: Mapped[bytes] = mapped_column(LargeBinary(16))
    arrivals: Mapped[int] = mapped_column(BigInteger)
    settled_at: Mapped[Millis] = mapped_column(
        BigInteger, default=0
    )  # no ticket added later is issued before this time

    __table_args__ = (references("events", "event_id"),)


class RevisionRow(Base):
    """One revision: its time, how many rows it changed, and the digest after it."""

    __tablename__ = "event_revisions"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    revision: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    digest: Mapped[bytes] = mapped_column(LargeBinary(16))
    at: Mapped[Millis] = mapped_column(BigInteger)
    changed: Mapped[int]

    __table_args__ = (
        references("event_heads", "event_id", to="event_id"),
        Index("ix_event_revisions_at", "organisation_id", "event_id", "at"),
    )


class SnapshotRow(Base):
    """One row as gates hold it now; a row without a body is deleted."""

    __tablename__ = "snapshot_rows"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    kind: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    key: Mapped[int] = mapped_column(Unsigned64, primary_key=True, autoincrement=False)
    body: Mapped[bytes | None] = mapped_column(LargeBinary)
    revision: Mapped[int] = mapped_column(BigInteger)

    __table_args__ = (Index("ix_snapshot_rows_revision", "organisation_id", "event_id", "revision"), _IN_ORDER)


class SupersededRow(Base):
    """What a row was from `revision` until, not including, `until`."""

    __tablename__ = "snapshot_history"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    kind: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    key: Mapped[int] = mapped_column(Unsigned64, primary_key=True, autoincrement=False)
    revision: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    until: Mapped[int] = mapped_column(BigInteger)
    body: Mapped[bytes | None] = mapped_column(LargeBinary)

    __table_args__ = (Index("ix_snapshot_history_revision", "organisation_id", "event_id", "revision"), _IN_ORDER)
