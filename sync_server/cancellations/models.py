"""Tables of cancelled events, and of what buyers chose who were offered another date."""

from __future__ import annotations

from sqlalchemy import BigInteger, CheckConstraint, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base, Unsigned64, Uuid, references

_RUNNING = text("state = 'running'")


class CancellationRow(Base):
    """What the organiser chose for an event's buyers, and how far the job has come that carries it out."""

    __tablename__ = "cancellations"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    choice: Mapped[str] = mapped_column(String(12))  # refund, another_date, nothing
    state: Mapped[str] = mapped_column(String(8))  # running, stopped, done
    reason: Mapped[str] = mapped_column(String(1000), default="")
    keep_fees: Mapped[bool] = mapped_column(default=False)
    orders: Mapped[int]  # as the organiser saw them, and confirmed
    tickets: Mapped[int]
    cents: Mapped[int] = mapped_column(BigInteger)
    new_date: Mapped[Millis | None] = mapped_column(BigInteger)
    keep_until: Mapped[Millis | None] = mapped_column(BigInteger)  # until then buyers may have their money instead
    end_others: Mapped[bool] = mapped_column(default=False)  # tickets that no order has: issued by hand, imported
    other_tickets: Mapped[int] = mapped_column(default=0)  # as many as there were of them
    ended_tickets: Mapped[int] = mapped_column(default=0)  # of those
    last_ticket: Mapped[int | None] = mapped_column(Unsigned64)  # that the job has dealt with, once all orders are
    last_order: Mapped[Uuid | None]  # that the job has dealt with
    done_orders: Mapped[int] = mapped_column(default=0)
    failed_orders: Mapped[int] = mapped_column(default=0)
    begun_at: Mapped[Millis] = mapped_column(BigInteger)
    finished_at: Mapped[Millis | None] = mapped_column(BigInteger)

    __table_args__ = (
        references("events", "event_id"),
        CheckConstraint("choice IN ('refund', 'another_date', 'nothing')", name="choice_known"),
        CheckConstraint("state IN ('running', 'stopped', 'done')", name="state_known"),
        Index("ix_cancellations_running", "begun_at", sqlite_where=_RUNNING, postgresql_where=_RUNNING),
    )


class DateAnswerRow(Base):
    """What a buyer chose who was offered another date; without a row the tickets are kept."""

    __tablename__ = "date_answers"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    order_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid]
    new_date: Mapped[Millis] = mapped_column(BigInteger)  # which date was answered
    answer: Mapped[str] = mapped_column(String(8))  # keep, refund
    at: Mapped[Millis] = mapped_column(BigInteger)

    __table_args__ = (
        references("orders", "order_id"),
        CheckConstraint("answer IN ('keep', 'refund')", name="answer_known"),
        Index("ix_date_answers_organisation_id_event_id", "organisation_id", "event_id"),
    )
