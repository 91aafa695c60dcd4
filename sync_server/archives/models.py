"""The tables of what is put away: an event's archive, and how long an organisation keeps what."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, LargeBinary, String, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base, Unsigned64, Uuid, references

AT_WORK = text("state IN ('writing', 'removing', 'restoring')")
"""What the worker looks for; queries use the same text as the index, so that the index serves them."""


class EventArchiveRow(Base):
    """An event that is put away, or on its way into its file or back."""

    __tablename__ = "event_archives"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    state: Mapped[str] = mapped_column(String(10))
    reason: Mapped[str] = mapped_column(String(1000), default="")
    asked_at: Mapped[Millis] = mapped_column(BigInteger)
    asked_by: Mapped[Uuid | None]  # None: the policy, or the command line
    file: Mapped[str] = mapped_column(String(300), default="")  # below the folder of archives
    size: Mapped[int] = mapped_column(BigInteger, default=0)  # in bytes
    sha256: Mapped[bytes | None] = mapped_column(LargeBinary(32))  # of the whole file
    rows: Mapped[int] = mapped_column(BigInteger, default=0)  # that leave the tables, or come back
    rows_done: Mapped[int] = mapped_column(BigInteger, default=0)
    again: Mapped[bool] = mapped_column(default=False)  # after restoring: write the file anew
    figures: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    problem: Mapped[str] = mapped_column(String(500), default="")
    written_at: Mapped[Millis | None] = mapped_column(BigInteger)
    done_at: Mapped[Millis | None] = mapped_column(BigInteger)  # put away, or restored
    leased_until: Mapped[Millis] = mapped_column(BigInteger, default=0)  # nobody else works on it until then

    __table_args__ = (
        references("events", "event_id"),
        Index("ix_event_archives_at_work", "leased_until", sqlite_where=AT_WORK, postgresql_where=AT_WORK),
    )


class PutAwayPersonRow(Base):
    """What a row of a put-away event says of a person: it stays here, where an erasure reaches it."""

    __tablename__ = "put_away_people"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    part: Mapped[str] = mapped_column(String(40), primary_key=True)  # of the file: the table
    line: Mapped[bytes] = mapped_column(LargeBinary(16), primary_key=True)  # the hash of its line there
    content: Mapped[dict[str, Any]] = mapped_column(JSON)  # by column
    ticket: Mapped[int | None] = mapped_column(Unsigned64)
    membership_id: Mapped[str] = mapped_column(String(36), default="")
    email: Mapped[str] = mapped_column(String(254), default="")

    __table_args__ = (
        references("event_archives", "event_id", to="event_id"),
        Index("ix_put_away_people_ticket", "organisation_id", "ticket"),
        Index("ix_put_away_people_membership_id", "organisation_id", "membership_id"),
        Index("ix_put_away_people_email", "organisation_id", "email"),
    )


class RetentionPolicyRow(Base):
    """How long an organisation keeps what, in days by kind of record, where it differs from `rules.KEPT_DAYS`."""

    __tablename__ = "retention_policies"

    organisation_id: Mapped[Uuid] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    days: Mapped[dict[str, Any]] = mapped_column(JSON)
    updated_at: Mapped[Millis] = mapped_column(BigInteger)
