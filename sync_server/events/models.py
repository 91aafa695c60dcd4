"""Tables of events, their zones, and which zones a gate serves."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    ForeignKey,
    Index,
    SmallInteger,
    String,
    Text,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.tables import Base, Uuid, references

_EMPTY = text("''")
NOT_CALLED_OFF = text("status NOT IN ('cancelled', 'archived')")
NOT_ENDED = text("status NOT IN ('ended', 'archived')")
"""Events that may still need somebody; queries use the same text as the index, so that the index serves them."""
BY_NOT_ENDED = "INDEXED BY ix_events_not_ended"
"""For SQLite, which has no statistics and would as soon read all events of the organisation."""
HAS_GO_LIVE = text("go_live_at IS NOT NULL")
HAS_AUTO_END = text("end_at_auto IS NOT NULL")


class EventRecord(Base):
    """A concert. Its row is also the lock for its status and counters."""

    __tablename__ = "events"

    organisation_id: Mapped[Uuid] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    venue_id: Mapped[Uuid]
    number: Mapped[int] = mapped_column(BigInteger, unique=True)  # of the installation: gates know events by it
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
    replaced_by_event_id: Mapped[Uuid | None]
    recurrence_group_id: Mapped[Uuid | None]
    # Copied from the venue when the event is created, so that later changes of the venue do not alter the event.
    timezone: Mapped[str] = mapped_column(String(64))
    venue_name: Mapped[str] = mapped_column(String(100))
    city: Mapped[str] = mapped_column(String(50))
    country: Mapped[str] = mapped_column(String(60))
    address: Mapped[str] = mapped_column(String(500))
    venue_capacity: Mapped[int] = mapped_column(default=0, server_default=text("0"))  # the limit if capacity is 0
    # Of the open zones; 0 without a layout.
    layout_capacity: Mapped[int] = mapped_column(default=0, server_default=text("0"))
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
    # Of the day with the fewest; of the one day of an event that has no more, all of them.
    least_issued: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    ticket_sequence: Mapped[int] = mapped_column(default=0)
    settings: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    created_by: Mapped[Uuid | None]  # None: on the command line
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    updated_at: Mapped[Millis] = mapped_column(BigInteger)
    published_at: Mapped[Millis | None] = mapped_column(BigInteger)
    cancelled_at: Mapped[Millis | None] = mapped_column(BigInteger)
    archived_at: Mapped[Millis | None] = mapped_column(BigInteger)
    put_away_at: Mapped[Millis | None] = mapped_column(BigInteger)  # since then nothing of it changes
    owner_id: Mapped[Uuid | None]
    # Name, venue, city and category, folded for searching.
    search_text: Mapped[str] = mapped_column(Text, default="", server_default=_EMPTY)
    city_norm: Mapped[str] = mapped_column(Text, default="", server_default=_EMPTY)
    # owner:venue:start:slug of the name, so that nobody creates the same event twice by accident.
    dedupe_key: Mapped[str] = mapped_column(String(200), server_default=_EMPTY)
    cover_images: Mapped[list[Any]] = mapped_column(JSON, default=list, server_default=text("'[]'"))  # ids in order
    cover_alts: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict, server_default=text("'{}'"))  # by id
    participants_elsewhere: Mapped[bool] = mapped_column(default=False, server_default=false())
    queue_seq: Mapped[int] = mapped_column(default=0, server_default=text("0"))

    @property
    def key(self) -> EventKey:
        """What names the event's rows in other tables."""
        return EventKey(self.organisation_id, self.id)

    __table_args__ = (
        references("venues", "venue_id"),
        references("events", "replaced_by_event_id"),
        UniqueConstraint("organisation_id", "slug"),
        UniqueConstraint("organisation_id", "code"),
        CheckConstraint("start_at < end_at", name="ends_after_start"),
        CheckConstraint("capacity = 0 OR least_issued <= capacity", name="within_capacity"),
        Index("ix_events_organisation_id_venue_id", "organisation_id", "venue_id"),
        Index("ix_events_organisation_id_status", "organisation_id", "status"),
        Index("ix_events_organisation_id_start_at", "organisation_id", "start_at"),
        Index("ix_events_status_start_at", "status", "start_at", "id"),
        Index("ix_events_not_ended", "organisation_id", "start_at", sqlite_where=NOT_ENDED, postgresql_where=NOT_ENDED),
        Index("ix_events_organisation_id_owner_id", "organisation_id", "owner_id", "created_at", "id"),
        Index("ix_events_organisation_id_recurrence_group_id", "organisation_id", "recurrence_group_id", "start_at"),
        Index("ix_events_organisation_id_replaced_by_event_id", "organisation_id", "replaced_by_event_id"),
        # Public addresses name events by id or slug alone.
        Index("ix_events_public_id", "id"),
        Index("ix_events_slug", "slug"),
        # Planned changes are queried every second; partial indexes keep that cheap among a million events.
        Index(
            "ix_events_status_go_live_at",
            "status",
            "go_live_at",
            sqlite_where=HAS_GO_LIVE,
            postgresql_where=HAS_GO_LIVE,
        ),
        Index(
            "ix_events_status_end_at_auto",
            "status",
            "end_at_auto",
            sqlite_where=HAS_AUTO_END,
            postgresql_where=HAS_AUTO_END,
        ),
        Index(
            "uq_events_dedupe_key",
            "organisation_id",
            "dedupe_key",
            unique=True,
            sqlite_where=NOT_CALLED_OFF,
            postgresql_where=NOT_CALLED_OFF,
        ),
    )


class DayCountRecord(Base):
    """How many tickets are for a day of an event that has several: of one type, or of all."""

    __tablename__ = "event_day_counts"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    ticket_type: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)  # 0: of all types
    day: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)  # counted from 0
    issued: Mapped[int]

    __table_args__ = (references("events", "event_id"), CheckConstraint("issued >= 0", name="not_negative"))


class ZoneRecord(Base):
    """A zone of one event, as gates know it."""

    __tablename__ = "event_zones"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(String(100))
    kind: Mapped[str] = mapped_column(String(20))
    capacity: Mapped[int | None]
    membership_tier: Mapped[str | None] = mapped_column(String(40))

    __table_args__ = (references("events", "event_id"), UniqueConstraint("organisation_id", "event_id", "name"))


class GateZonesRecord(Base):
    """The zones that a gate serves at one event; a gate without a row serves all."""

    __tablename__ = "event_gate_zones"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    gate_number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    zones: Mapped[list[Any]] = mapped_column(JSON)

    __table_args__ = (references("events", "event_id"),)
