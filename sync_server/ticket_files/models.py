"""Tables of what tickets look like, and of PDFs of many tickets."""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, CheckConstraint, ForeignKey, Index, LargeBinary, SmallInteger, String, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base, Uuid, references


class TicketDesignRow(Base):
    """What tickets and shop of an organisation look like, and the websites that may show the shop."""

    __tablename__ = "ticket_designs"

    organisation_id: Mapped[Uuid] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    colour: Mapped[str] = mapped_column(String(7), default="#1f2937", server_default=text("'#1f2937'"))
    terms: Mapped[str] = mapped_column(String(2000), default="", server_default=text("''"))
    logo: Mapped[bytes | None] = mapped_column(LargeBinary)  # PNG
    embed_origins: Mapped[list[str]] = mapped_column(
        JSON, default=list, server_default=text("'[]'")
    )  # may show the shop
    updated_at: Mapped[Millis] = mapped_column(BigInteger)


class TicketBatchRow(Base):
    """A PDF of an event's tickets; the worker that holds the claim writes it."""

    __tablename__ = "ticket_batches"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid]
    ticket_type: Mapped[int | None]  # None: all of them
    state: Mapped[str] = mapped_column(String(10))
    tickets: Mapped[int] = mapped_column(default=0)  # to write, as counted at the beginning
    written: Mapped[int] = mapped_column(default=0)
    bytes: Mapped[int] = mapped_column(BigInteger, default=0)
    attempts: Mapped[int] = mapped_column(SmallInteger, default=0)
    claim: Mapped[Uuid | None]  # of the worker that writes; another begins anew when it is not seen any more
    seen_at: Mapped[Millis] = mapped_column(BigInteger)
    problem: Mapped[str] = mapped_column(String(40), default="")
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    finished_at: Mapped[Millis | None] = mapped_column(BigInteger)

    __table_args__ = (
        references("events", "event_id", ondelete="CASCADE"),
        CheckConstraint("state IN ('waiting', 'running', 'done', 'failed', 'cancelled')", name="state_known"),
        Index("ix_ticket_batches_state", "state", "seen_at"),
        Index("ix_ticket_batches_organisation_id_event_id", "organisation_id", "event_id", "id"),
    )


class TicketBatchPartRow(Base):
    """A piece of the PDF, sealed: whoever reads it has the codes."""

    __tablename__ = "ticket_batch_parts"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    batch_id: Mapped[Uuid] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    body: Mapped[bytes] = mapped_column(LargeBinary)

    __table_args__ = (references("ticket_batches", "batch_id", ondelete="CASCADE"),)
