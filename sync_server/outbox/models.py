"""Tables of the outbox: facts to deliver, and messages of other services that were processed."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, BigInteger, Index, Integer, String, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base

# Partial indexes stay small: delivered facts are in none of them.
_UNHANDLED = text("handled_at IS NULL AND dead_at IS NULL")
_UNSENT = text("handled_at IS NOT NULL AND sent_at IS NULL AND dead_at IS NULL")
_DEAD = text("dead_at IS NOT NULL")


class OutboxRow(Base):
    """One fact. Local subscribers handle it first, then it is sent to the broker; without a broker both happen at once.

    Statements that insert rows themselves need only `message_id`, `name`, `organisation_id`, `stream`,
    `subjects`, `payload`, `created_at` and `due_at`.
    """

    __tablename__ = "outbox"

    id: Mapped[int] = mapped_column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True)
    message_id: Mapped[str] = mapped_column(String(36), unique=True)
    name: Mapped[str] = mapped_column(String(60))
    organisation_id: Mapped[str] = mapped_column(String(36))
    stream: Mapped[str] = mapped_column(String(100))
    subjects: Mapped[dict[str, Any]] = mapped_column(JSON)
    payload: Mapped[dict[str, Any]] = mapped_column(JSON)
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    due_at: Mapped[Millis] = mapped_column(BigInteger)  # not before; while leased, the end of the lease
    handled_at: Mapped[Millis | None] = mapped_column(BigInteger)
    sent_at: Mapped[Millis | None] = mapped_column(BigInteger)
    dead_at: Mapped[Millis | None] = mapped_column(BigInteger)
    unrouted: Mapped[bool] = mapped_column(default=False, server_default=text("false"))  # no queue was bound for it
    attempts: Mapped[int] = mapped_column(default=0, server_default=text("0"))  # at the stage it waits for
    last_error: Mapped[str] = mapped_column(String(500), default="", server_default=text("''"))

    __table_args__ = (
        Index("ix_outbox_unhandled", "id", sqlite_where=_UNHANDLED, postgresql_where=_UNHANDLED),
        Index("ix_outbox_unhandled_due_at", "due_at", sqlite_where=_UNHANDLED, postgresql_where=_UNHANDLED),
        Index("ix_outbox_unsent", "id", sqlite_where=_UNSENT, postgresql_where=_UNSENT),
        Index("ix_outbox_unsent_due_at", "due_at", sqlite_where=_UNSENT, postgresql_where=_UNSENT),
        Index("ix_outbox_dead", "organisation_id", "id", sqlite_where=_DEAD, postgresql_where=_DEAD),
        Index("ix_outbox_sent_at", "sent_at"),
    )


class ProcessedMessage(Base):
    """A message of another service that was processed: when it comes again it has no effect."""

    __tablename__ = "processed_messages"

    message_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    processed_at: Mapped[Millis] = mapped_column(BigInteger, index=True)


class JoinedElsewhere(Base):
    """How many participants joined an event elsewhere; a cancellation may arrive before its confirmation."""

    __tablename__ = "joined_elsewhere"

    event_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    participants: Mapped[int] = mapped_column(default=0)
    updated_at: Mapped[Millis] = mapped_column(BigInteger)
