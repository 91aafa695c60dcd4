"""Tables of moves to another layout and their steps, one for each ticket that changes."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, BigInteger, CheckConstraint, Index, SmallInteger, String, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base, Unsigned64, Uuid, references

_MOVING = text("state IN ('closed', 'moving')")


class ReseatingRecord(Base):
    """One move of an event's guests: its report, and how far it has been carried out."""

    __tablename__ = "reseatings"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid]
    from_layout_id: Mapped[Uuid]
    to_layout_id: Mapped[Uuid]
    fingerprint: Mapped[str] = mapped_column(String(64))
    state: Mapped[str] = mapped_column(String(10), default="planned")
    report: Mapped[dict[str, Any]] = mapped_column(JSON)
    reason: Mapped[str] = mapped_column(String(1000), default="")
    made_at: Mapped[Millis] = mapped_column(BigInteger)
    made_by: Mapped[Uuid | None]
    done_at: Mapped[Millis | None] = mapped_column(BigInteger)
    done_by: Mapped[Uuid | None]
    moved: Mapped[int] = mapped_column(default=0)  # the place of the last completed step
    touched_at: Mapped[Millis] = mapped_column(BigInteger, default=0)  # when the last batch was done

    __table_args__ = (
        references("events", "event_id"),
        references("layouts", "from_layout_id"),
        references("layouts", "to_layout_id"),
        CheckConstraint("state IN ('planned', 'closed', 'moving', 'done')", name="state_known"),
        Index("ix_reseatings_organisation_id_event_id", "organisation_id", "event_id", "id"),
        Index("ix_reseatings_moving", "touched_at", sqlite_where=_MOVING, postgresql_where=_MOVING),
    )


class ReseatingStepRecord(Base):
    """What a move changes for one ticket: another seat, other details of the same seat, or no seat."""

    __tablename__ = "reseating_steps"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    reseating_id: Mapped[Uuid] = mapped_column(primary_key=True)
    place: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)  # in the order of issuing, from 1
    ticket_id: Mapped[int] = mapped_column(Unsigned64)
    old_seat: Mapped[int]
    new_seat: Mapped[int | None]
    moves: Mapped[bool]  # to another seat
    new_code: Mapped[bool]  # the code of the ticket is replaced
    flags: Mapped[int] = mapped_column(SmallInteger)  # the flags of the ticket from then on
    why: Mapped[str] = mapped_column(String(60), default="")  # why there is no seat

    __table_args__ = (references("reseatings", "reseating_id"),)
