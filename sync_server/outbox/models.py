"""Tables of the outbox: facts to deliver, how far each reader has come, and messages of other services."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, BigInteger, ForeignKeyConstraint, Index, String, text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.sql.expression import ColumnElement

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base, Uuid

_UNNUMBERED = text("position IS NULL")
_NUMBERED = text("position IS NOT NULL")


class StatementTime(ColumnElement[int]):
    """Microseconds of PostgreSQL's clock when the statement runs. SQLite has one writer, and rows in its order."""

    inherit_cache = True
    type = BigInteger()
    POSTGRESQL = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"
    SQLITE = "0"


@compiles(StatementTime, "postgresql")
def _postgresql(_element: StatementTime, _compiler: Any, **_: Any) -> str:
    return StatementTime.POSTGRESQL


@compiles(StatementTime, "sqlite")
def _sqlite(_element: StatementTime, _compiler: Any, **_: Any) -> str:
    return StatementTime.SQLITE


class OutboxRow(Base):
    """One fact. The relay gives it its position among the facts of its organisation, and never another.

    Statements that insert rows themselves need all columns but the last four, from `written_at` on.
    """

    __tablename__ = "outbox"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    message_id: Mapped[Uuid] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(60))
    stream: Mapped[str] = mapped_column(String(100))
    subjects: Mapped[dict[str, Any]] = mapped_column(JSON)
    payload: Mapped[dict[str, Any]] = mapped_column(JSON)
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    trace: Mapped[str | None] = mapped_column(String(55))  # `traceparent` of the request that made the change
    written_at: Mapped[int] = mapped_column(BigInteger, default=StatementTime())  # orders facts without a position
    position: Mapped[int | None] = mapped_column(BigInteger)
    relayed_at: Mapped[Millis | None] = mapped_column(BigInteger)  # when it got its position
    unrouted: Mapped[bool] = mapped_column(default=False, server_default=text("false"))  # no queue was bound for it

    __table_args__ = (
        # Stays small: numbered facts are not in it.
        Index(
            "ix_outbox_unnumbered",
            "organisation_id",
            "written_at",
            sqlite_where=_UNNUMBERED,
            postgresql_where=_UNNUMBERED,
        ),
        # Otherwise each new fact would have an entry here too, beside those of all others without a position.
        Index(
            "uq_outbox_organisation_id_position",
            "organisation_id",
            "position",
            unique=True,
            sqlite_where=_NUMBERED,
            postgresql_where=_NUMBERED,
        ),
    )


class CursorRow(Base):
    """How far a reader has come with the facts of one organisation; the relay's own row counts the positions given."""

    __tablename__ = "outbox_cursors"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    reader: Mapped[str] = mapped_column(String(30), primary_key=True)  # relay, broker, or a subscriber's name
    position: Mapped[int] = mapped_column(BigInteger)
    leased_until: Mapped[Millis] = mapped_column(BigInteger, default=0)  # of relay and broker: nobody else goes on


class RetryRow(Base):
    """A fact that a reader is to get once more, though its cursor has passed it: after a failure, or by request."""

    __tablename__ = "outbox_retries"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    reader: Mapped[str] = mapped_column(String(30), primary_key=True)
    message_id: Mapped[Uuid] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(BigInteger)
    stream: Mapped[str] = mapped_column(String(100))
    attempts: Mapped[int]
    due_at: Mapped[Millis | None] = mapped_column(BigInteger, index=True)  # null: given up
    dead_at: Mapped[Millis | None] = mapped_column(BigInteger)
    last_error: Mapped[str] = mapped_column(String(500))

    __table_args__ = (
        ForeignKeyConstraint(
            ["organisation_id", "message_id"], ["outbox.organisation_id", "outbox.message_id"], ondelete="CASCADE"
        ),
        Index("ix_outbox_retries_organisation_id_message_id", "organisation_id", "message_id"),
    )


class ProcessedMessage(Base):
    """A message of another service that was processed: when it comes again it has no effect."""

    __tablename__ = "processed_messages"

    message_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    processed_at: Mapped[Millis] = mapped_column(BigInteger, index=True)


class JoinedElsewhere(Base):
    """How many participants joined an event elsewhere; a cancellation may arrive before its confirmation."""

    __tablename__ = "joined_elsewhere"

    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    participants: Mapped[int] = mapped_column(default=0)
    updated_at: Mapped[Millis] = mapped_column(BigInteger)
