"""Tables of webhooks: the registered addresses, messages to them, and the attempts to deliver each."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, ForeignKey, ForeignKeyConstraint, Index, LargeBinary, String, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base, Uuid, references

_WAITING = text("state = 'waiting'")
_FAILED_BEFORE = text("state = 'waiting' AND failures > 0")


class WebhookRow(Base):
    """An address that gets an organisation's facts. Whoever leased it posts to it; nobody else does meanwhile."""

    __tablename__ = "webhooks"

    organisation_id: Mapped[Uuid] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    url: Mapped[str] = mapped_column(String(1000))
    description: Mapped[str] = mapped_column(String(200))
    facts: Mapped[list[Any]]
    sealed_secret: Mapped[bytes] = mapped_column(LargeBinary)
    sealed_old_secret: Mapped[bytes | None] = mapped_column(LargeBinary)
    old_secret_until: Mapped[Millis | None] = mapped_column(BigInteger)
    active: Mapped[bool] = mapped_column(default=True)
    paused_because: Mapped[str] = mapped_column(String(10), default="")
    paused_at: Mapped[Millis | None] = mapped_column(BigInteger)
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    failures: Mapped[int] = mapped_column(default=0)  # turns in a row without any success
    failing_since: Mapped[Millis | None] = mapped_column(BigInteger)
    slow: Mapped[bool] = mapped_column(default=False)
    due_at: Mapped[Millis | None] = mapped_column(BigInteger)  # null: nothing waits
    leased_until: Mapped[Millis] = mapped_column(BigInteger, default=0)

    __table_args__ = (Index(None, "due_at"),)


class WebhookMessageRow(Base):
    """A fact for one webhook, with the very bytes that are posted: the same at every attempt."""

    __tablename__ = "webhook_messages"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    webhook_id: Mapped[Uuid] = mapped_column(primary_key=True)
    message_id: Mapped[Uuid] = mapped_column(primary_key=True)
    fact: Mapped[str] = mapped_column(String(60))
    position: Mapped[int] = mapped_column(BigInteger)
    stream: Mapped[str] = mapped_column(String(100))
    body: Mapped[bytes] = mapped_column(LargeBinary)
    state: Mapped[str] = mapped_column(String(10), default="waiting")
    attempts: Mapped[int] = mapped_column(default=0)  # all that were made
    failures: Mapped[int] = mapped_column(default=0)  # in a row, since it was made or replayed
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    due_at: Mapped[Millis] = mapped_column(BigInteger)
    done_at: Mapped[Millis | None] = mapped_column(BigInteger)
    last_status: Mapped[int | None]
    last_problem: Mapped[str] = mapped_column(String(30), default="")

    __table_args__ = (
        references("webhooks", "webhook_id", ondelete="CASCADE"),
        Index(
            "ix_webhook_messages_waiting",
            "organisation_id",
            "webhook_id",
            "position",
            sqlite_where=_WAITING,
            postgresql_where=_WAITING,
        ),
        Index(
            "ix_webhook_messages_failing",
            "organisation_id",
            "webhook_id",
            "due_at",
            sqlite_where=_FAILED_BEFORE,
            postgresql_where=_FAILED_BEFORE,
        ),
        Index(None, "created_at"),
    )


class WebhookAttemptRow(Base):
    """One attempt to deliver a message."""

    __tablename__ = "webhook_attempts"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    webhook_id: Mapped[Uuid] = mapped_column(primary_key=True)
    message_id: Mapped[Uuid] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[Millis] = mapped_column(BigInteger)
    ms: Mapped[int]
    status: Mapped[int | None]
    problem: Mapped[str] = mapped_column(String(30))
    answer: Mapped[bytes] = mapped_column(LargeBinary)  # its first bytes

    __table_args__ = (
        ForeignKeyConstraint(
            ["organisation_id", "webhook_id", "message_id"],
            ["webhook_messages.organisation_id", "webhook_messages.webhook_id", "webhook_messages.message_id"],
            ondelete="CASCADE",
        ),
    )
