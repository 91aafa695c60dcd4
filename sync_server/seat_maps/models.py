"""Tables of the log that keeps open maps up to date: which seats were touched, in order.

No foreign keys: facts about an event may arrive after it is deleted, and must not hold up anything else.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, BigInteger, Index
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base, Uuid


class SeatMapHead(Base):
    """The newest version of an event's map. Versions are given under the lock of this row: no gaps, no duplicates."""

    __tablename__ = "seat_map_heads"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(BigInteger)
    oldest: Mapped[int] = mapped_column(BigInteger)  # the log has every change after this version
    changed_at: Mapped[Millis] = mapped_column(BigInteger, index=True)


class SeatMapChange(Base):
    """Seats that may have changed with a version; their state is read elsewhere."""

    __tablename__ = "seat_map_changes"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    at: Mapped[Millis] = mapped_column(BigInteger)
    seats: Mapped[list[Any] | None] = mapped_column(JSON(none_as_null=True))  # seat numbers; null: any seat

    __table_args__ = (Index("ix_seat_map_changes_at", "at"),)
