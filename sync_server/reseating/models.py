"""The table of moves to another layout: planned, and carried out."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, BigInteger, CheckConstraint, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.tables import Base


class ReseatingRecord(Base):
    """One move of an event's guests: the report that was asked for, and whether it was carried out."""

    __tablename__ = "reseatings"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    organisation_id: Mapped[str] = mapped_column(String(36))
    event_id: Mapped[str] = mapped_column(ForeignKey("events.id"))
    from_layout_id: Mapped[str] = mapped_column(ForeignKey("layouts.id"))
    to_layout_id: Mapped[str] = mapped_column(ForeignKey("layouts.id"))
    fingerprint: Mapped[str] = mapped_column(String(64))
    state: Mapped[str] = mapped_column(String(10), default="planned")
    report: Mapped[dict[str, Any]] = mapped_column(JSON)
    reason: Mapped[str] = mapped_column(String(1000), default="")
    made_at: Mapped[Millis] = mapped_column(BigInteger)
    made_by: Mapped[str] = mapped_column(String(80), default="")
    done_at: Mapped[Millis | None] = mapped_column(BigInteger)
    done_by: Mapped[str] = mapped_column(String(80), default="")

    __table_args__ = (
        CheckConstraint("state IN ('planned', 'done')", name="state_known"),
        Index("ix_reseatings_event_id_id", "event_id", "id"),
    )
