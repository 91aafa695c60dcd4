"""Tables of tickets that are passed on, and of what an organiser allows buyers to do alone."""

from __future__ import annotations

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, LargeBinary, SmallInteger, String, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base, Unsigned64, Uuid, references

_OPEN = text("state = 'offered'")


class TransferRow(Base):
    """A ticket that somebody gives to another person: offered by mail, and accepted, declined, withdrawn or lapsed."""

    __tablename__ = "ticket_transfers"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid]
    order_id: Mapped[Uuid]
    ticket_id: Mapped[int] = mapped_column(Unsigned64)
    step: Mapped[int] = mapped_column(SmallInteger)  # the first, second, … time that the ticket changes hands
    recipient_email: Mapped[str] = mapped_column(String(254))
    recipient_name: Mapped[str] = mapped_column(String(100), default="")
    code_hash: Mapped[bytes] = mapped_column(LargeBinary(32))
    state: Mapped[str] = mapped_column(String(10))
    ends_at: Mapped[Millis] = mapped_column(BigInteger)
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    done_at: Mapped[Millis | None] = mapped_column(BigInteger)

    __table_args__ = (
        references("events", "event_id"),
        references("orders", "order_id"),
        CheckConstraint("state IN ('offered', 'accepted', 'declined', 'withdrawn', 'lapsed')", name="state_known"),
        # A ticket is offered to one person at a time.
        Index(
            "uq_ticket_transfers_offered",
            "organisation_id",
            "ticket_id",
            unique=True,
            sqlite_where=_OPEN,
            postgresql_where=_OPEN,
        ),
        Index("uq_ticket_transfers_code_hash", "organisation_id", "code_hash", unique=True),
        Index("ix_ticket_transfers_ticket_id", "organisation_id", "ticket_id", "step"),
        Index("ix_ticket_transfers_recipient_email", "organisation_id", "recipient_email"),
        Index("ix_ticket_transfers_event_id", "organisation_id", "event_id"),
        Index("ix_ticket_transfers_order_id", "organisation_id", "order_id"),
        Index("ix_ticket_transfers_ends_at", "ends_at", sqlite_where=_OPEN, postgresql_where=_OPEN),
    )


class SelfServiceSettingsRow(Base):
    """What an organiser allows buyers to do alone."""

    __tablename__ = "self_service_settings"

    organisation_id: Mapped[Uuid] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    transfers: Mapped[bool]
    max_transfers: Mapped[int] = mapped_column(SmallInteger)  # of one ticket
    transfer_days: Mapped[int] = mapped_column(SmallInteger)  # to accept one
    transfer_until_minutes: Mapped[int]  # before the event starts
    cancellations: Mapped[bool]
    cancel_until_hours: Mapped[int] = mapped_column(SmallInteger)  # before the event starts
    cancel_fee_cents: Mapped[int]  # kept of each ticket
    updated_at: Mapped[Millis] = mapped_column(BigInteger)
