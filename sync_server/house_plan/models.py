"""Tables of the log from which open maps are kept up to date: which seats were touched, in the order of the telling.

No foreign keys: what is told of an event may arrive after the event is deleted, and must hold up nothing else.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, BigInteger, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.tables import Base


class SeatMapHead(Base):
    """How far an event's map has been told. Its row is the lock under which versions are given: no gaps, no doubles."""

    __tablename__ = "seat_map_heads"

    event_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    organisation_id: Mapped[str] = mapped_column(String(36))
    version: Mapped[int] = mapped_column(BigInteger)
    oldest: Mapped[int] = mapped_column(BigInteger)  # whoever knows this version can still be told what came after it
    changed_at: Mapped[Millis] = mapped_column(BigInteger, index=True)


class SeatMapChange(Base):
    """Seats that may be otherwise than they were at the version before; how they are now is asked elsewhere."""

    __tablename__ = "seat_map_changes"

    event_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    version: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    at: Mapped[Millis] = mapped_column(BigInteger)
    seats: Mapped[list[Any] | None] = mapped_column(JSON(none_as_null=True))  # numbers in the layout; null: look at all

    __table_args__ = (Index("ix_seat_map_changes_at", "at"),)
