"""The outbox's table."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, BigInteger, Index, Integer, String, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.tables import Base

_UNSENT = text("sent_at IS NULL")


class OutboxRow(Base):
    """One fact that waits for delivery, or was delivered."""

    __tablename__ = "outbox"

    id: Mapped[int] = mapped_column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True)
    message_id: Mapped[str] = mapped_column(String(36), unique=True)
    name: Mapped[str] = mapped_column(String(60))
    organisation_id: Mapped[str] = mapped_column(String(36))
    subjects: Mapped[dict[str, Any]] = mapped_column(JSON)
    payload: Mapped[dict[str, Any]] = mapped_column(JSON)
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    due_at: Mapped[Millis] = mapped_column(BigInteger)
    sent_at: Mapped[Millis | None] = mapped_column(BigInteger)
    attempts: Mapped[int] = mapped_column(default=0)
    last_error: Mapped[str] = mapped_column(String(500), default="")

    __table_args__ = (
        Index("ix_outbox_unsent", "id", sqlite_where=_UNSENT, postgresql_where=_UNSENT),
        Index("ix_outbox_sent_at", "sent_at"),
    )
