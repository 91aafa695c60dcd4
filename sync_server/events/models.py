"""Tables of events, their zones, and which zones a gate serves."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, BigInteger, CheckConstraint, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.tables import Base


class EventRecord(Base):
    """A concert. Its row is also the lock of its status and counters."""

    __tablename__ = "events"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    organisation_id: Mapped[str] = mapped_column(ForeignKey("organisations.id"))
    venue_id: Mapped[str] = mapped_column(ForeignKey("venues.id"), index=True)
    number: Mapped[int] = mapped_column(BigInteger, unique=True)
    code: Mapped[str] = mapped_column(String(12))
    slug: Mapped[str] = mapped_column(String(60))
    name: Mapped[str] = mapped_column(String(200))
    description: Mapped[str] = mapped_column(String(2000), default="")
    category: Mapped[str] = mapped_column(String(50), default="")
    status: Mapped[str] = mapped_column(String(12), default="draft")
    start_at: Mapped[Millis] = mapped_column(BigInteger)
    end_at: Mapped[Millis] = mapped_column(BigInteger)
    doors_at: Mapped[Millis | None] = mapped_column(BigInteger)
    sale_start_at: Mapped[Millis | None] = mapped_column(BigInteger)
    sale_end_at: Mapped[Millis] = mapped_column(BigInteger)
    go_live_at: Mapped[Millis | None] = mapped_column(BigInteger)
    end_at_auto: Mapped[Millis | None] = mapped_column(BigInteger)
    counts_from: Mapped[Millis | None] = mapped_column(BigInteger)
    rescheduled_at: Mapped[Millis | None] = mapped_column(BigInteger)
    postponement_reason: Mapped[str] = mapped_column(String(1000), default="")
    replaced_by_event_id: Mapped[str | None] = mapped_column(ForeignKey("events.id"))
    recurrence_group_id: Mapped[str | None] = mapped_column(String(36))
    # Copied from the venue when the event is made: times and places stay right whatever becomes of the venue.
    timezone: Mapped[str] = mapped_column(String(64))
    venue_name: Mapped[str] = mapped_column(String(100))
    city: Mapped[str] = mapped_column(String(50))
    country: Mapped[str] = mapped_column(String(60))
    address: Mapped[str] = mapped_column(String(500))
    cutover_hour: Mapped[int] = mapped_column(default=5)
    cutover_empties: Mapped[bool] = mapped_column(default=True)
    anti_passback: Mapped[bool] = mapped_column(default=False)
    name_checks: Mapped[bool] = mapped_column(default=False)
    known_tickets_only: Mapped[bool] = mapped_column(default=False)
    max_snapshot_age_hours: Mapped[int | None]
    clock_uncertain: Mapped[str] = mapped_column(String(5), default="admit")
    repeat_ms: Mapped[int] = mapped_column(default=5_000)
    capacity: Mapped[int] = mapped_column(default=0)
    tickets_issued: Mapped[int] = mapped_column(default=0)
    ticket_sequence: Mapped[int] = mapped_column(default=0)
    settings: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    created_by: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    updated_at: Mapped[Millis] = mapped_column(BigInteger)
    published_at: Mapped[Millis | None] = mapped_column(BigInteger)
    cancelled_at: Mapped[Millis | None] = mapped_column(BigInteger)

    __table_args__ = (
        UniqueConstraint("organisation_id", "slug"),
        UniqueConstraint("organisation_id", "code"),
        CheckConstraint("start_at < end_at", name="ends_after_start"),
        CheckConstraint("capacity = 0 OR tickets_issued <= capacity", name="within_capacity"),
        Index("ix_events_organisation_id_id", "organisation_id", "id"),
        Index("ix_events_organisation_id_status", "organisation_id", "status"),
        Index("ix_events_organisation_id_start_at", "organisation_id", "start_at"),
        Index("ix_events_status_start_at", "status", "start_at", "id"),
    )


class ZoneRecord(Base):
    """A part of the house at one event. The minimum that gates need, until seating layouts bring zones of their own."""

    __tablename__ = "event_zones"

    event_id: Mapped[str] = mapped_column(ForeignKey("events.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    organisation_id: Mapped[str] = mapped_column(String(36))
    name: Mapped[str] = mapped_column(String(100))
    kind: Mapped[str] = mapped_column(String(20))
    capacity: Mapped[int | None]
    membership_tier: Mapped[str | None] = mapped_column(String(40))

    __table_args__ = (UniqueConstraint("event_id", "name"),)


class GateZonesRecord(Base):
    """Which zones one gate serves at one event; a gate without such a row serves all."""

    __tablename__ = "event_gate_zones"

    event_id: Mapped[str] = mapped_column(ForeignKey("events.id"), primary_key=True)
    gate_number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    organisation_id: Mapped[str] = mapped_column(String(36))
    zones: Mapped[list[Any]] = mapped_column(JSON)
