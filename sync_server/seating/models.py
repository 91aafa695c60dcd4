"""Tables of layouts, their use by events, guest lists, memberships and the seating policy."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    String,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base, Uuid, references


class LayoutRecord(Base):
    """One version of a venue's layout; only a draft is ever changed."""

    __tablename__ = "layouts"

    organisation_id: Mapped[Uuid] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    venue_id: Mapped[Uuid]
    family_id: Mapped[Uuid]  # the id of its first version
    version: Mapped[int]  # 0 while it is imported: it gets its number when it is whole
    name: Mapped[str] = mapped_column(String(100))
    description: Mapped[str] = mapped_column(String(2000), default="")
    status: Mapped[str] = mapped_column(String(10), default="draft")
    total_capacity: Mapped[int]
    drawing: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    focus_x: Mapped[float] = mapped_column(Float)
    focus_y: Mapped[float] = mapped_column(Float)
    focus_drawn: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    updated_at: Mapped[Millis] = mapped_column(BigInteger)

    __table_args__ = (
        references("venues", "venue_id"),
        UniqueConstraint("organisation_id", "family_id", "version"),
        CheckConstraint("status IN ('importing', 'draft', 'active', 'archived')", name="status_known"),
        Index("ix_layouts_organisation_id_venue_id", "organisation_id", "venue_id", "id"),
    )


class ImportRecord(Base):
    """A large file on its way into a draft or a guest list; a worker that holds the claim writes it piece by piece."""

    __tablename__ = "imports"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    venue_id: Mapped[Uuid]
    layout_id: Mapped[Uuid | None]  # which it becomes; None: it is a guest list
    family_id: Mapped[Uuid | None]
    event_id: Mapped[Uuid | None]  # of a guest list
    zone_id: Mapped[Uuid | None]
    format: Mapped[str] = mapped_column(String(20))
    name: Mapped[str] = mapped_column(String(100))
    focus_x: Mapped[float | None] = mapped_column(Float)
    focus_y: Mapped[float | None] = mapped_column(Float)
    state: Mapped[str] = mapped_column(String(10))
    ending: Mapped[str] = mapped_column(String(10), default="")  # how it shall end, once what it wrote is deleted
    rows: Mapped[int] = mapped_column(default=0)  # 0 until the file is read
    written: Mapped[int] = mapped_column(default=0)
    added: Mapped[int] = mapped_column(default=0)  # of a guest list: those of them who were not on it
    attempts: Mapped[int] = mapped_column(default=0)
    claim: Mapped[Uuid | None]  # of the worker that writes; another takes over when it is not seen any more
    seen_at: Mapped[Millis] = mapped_column(BigInteger)
    problem: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    started_by: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)  # emptied at the end
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    finished_at: Mapped[Millis | None] = mapped_column(BigInteger)

    __table_args__ = (
        references("venues", "venue_id", ondelete="CASCADE"),
        CheckConstraint(
            "state IN ('receiving', 'waiting', 'running', 'done', 'failed', 'cancelled')", name="state_known"
        ),
        CheckConstraint("ending IN ('', 'failed', 'cancelled')", name="ending_known"),
        CheckConstraint("(layout_id IS NULL) = (event_id IS NOT NULL)", name="of_one_kind"),
        Index(
            "uq_imports_running",
            "organisation_id",
            unique=True,
            sqlite_where=text("state = 'running'"),
            postgresql_where=text("state = 'running'"),
        ),
        Index("ix_imports_state", "state", "seen_at"),
        Index("ix_imports_organisation_id_venue_id", "organisation_id", "venue_id"),
    )


class ImportPartRecord(Base):
    """A part of the file, compressed; deleted with all others when the import ends."""

    __tablename__ = "import_parts"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    import_id: Mapped[Uuid] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    body: Mapped[bytes] = mapped_column(LargeBinary)

    __table_args__ = (references("imports", "import_id", ondelete="CASCADE"),)


class LayoutZoneRecord(Base):
    """A zone of a layout; its id stays the same in all versions."""

    __tablename__ = "layout_zones"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    layout_id: Mapped[Uuid] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    id: Mapped[Uuid]
    name: Mapped[str] = mapped_column(String(100))
    zone_type: Mapped[str] = mapped_column(String(20))
    capacity: Mapped[int]
    access_mode: Mapped[str] = mapped_column(String(20))
    membership_tier: Mapped[str | None] = mapped_column(String(40))
    allowed_roles: Mapped[list[Any]] = mapped_column(JSON, default=list)
    focus_x: Mapped[float] = mapped_column(Float)
    focus_y: Mapped[float] = mapped_column(Float)
    focus_drawn: Mapped[bool] = mapped_column(default=False)
    details: Mapped[dict[str, Any]] = mapped_column("metadata", JSON, default=dict)

    __table_args__ = (
        references("layouts", "layout_id"),
        UniqueConstraint("organisation_id", "layout_id", "name"),
        UniqueConstraint("organisation_id", "layout_id", "id"),
        CheckConstraint("capacity > 0", name="holds_somebody"),
    )


class SeatRecord(Base):
    """A seat, by its number in the layout; its id and seat_id stay the same in all versions."""

    __tablename__ = "layout_seats"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    layout_id: Mapped[Uuid] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    id: Mapped[Uuid]
    seat_id: Mapped[str] = mapped_column(String(80))
    zone_number: Mapped[int]
    section: Mapped[str] = mapped_column(String(60), default="")
    row: Mapped[str] = mapped_column(String(20))
    row_order: Mapped[int]
    place: Mapped[int]
    seat_number: Mapped[str] = mapped_column(String(20))
    x: Mapped[float] = mapped_column(Float)
    y: Mapped[float] = mapped_column(Float)
    drawn: Mapped[bool] = mapped_column(default=True)  # False: the layout gives no position
    category: Mapped[str] = mapped_column(String(20))
    companion_seat_id: Mapped[str | None] = mapped_column(String(80))
    price_category: Mapped[str] = mapped_column(String(60), default="")
    aisle_after: Mapped[bool] = mapped_column(default=False)

    __table_args__ = (
        references("layouts", "layout_id"),
        UniqueConstraint("organisation_id", "layout_id", "seat_id"),
        UniqueConstraint("organisation_id", "layout_id", "id"),
    )


class SeatGroupRecord(Base):
    """Seats that belong together."""

    __tablename__ = "seat_groups"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    layout_id: Mapped[Uuid] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    group_type: Mapped[str] = mapped_column(String(20))
    seats: Mapped[list[Any]] = mapped_column(JSON)  # seat_ids
    details: Mapped[dict[str, Any]] = mapped_column("metadata", JSON, default=dict)
    sold_whole: Mapped[bool] = mapped_column(default=False)

    __table_args__ = (references("layouts", "layout_id"),)


class EventLayoutRecord(Base):
    """What an event changes about the layout version it uses; the seats themselves are not copied."""

    __tablename__ = "event_layouts"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    layout_id: Mapped[Uuid]
    layout_version: Mapped[int]
    revision: Mapped[int] = mapped_column(default=1)
    blocked_seats: Mapped[list[Any]] = mapped_column(JSON)  # numbers in the layout
    released_seats: Mapped[list[Any]] = mapped_column(JSON, default=list, server_default=text("'[]'"))  # likewise
    disabled_zones: Mapped[list[Any]] = mapped_column(JSON)  # numbers in the layout
    zone_overrides: Mapped[dict[str, Any]] = mapped_column(JSON)  # by number in the layout, as text
    price_zones: Mapped[dict[str, Any]] = mapped_column(JSON)  # likewise
    seating_overrides: Mapped[dict[str, Any]] = mapped_column(JSON)
    event_zones: Mapped[dict[str, Any]] = mapped_column(JSON)  # number of the event's zone, by number in the layout
    moving: Mapped[bool] = mapped_column(default=False)  # guests are being moved to other seats: nothing is sold
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    updated_at: Mapped[Millis] = mapped_column(BigInteger)

    __table_args__ = (
        references("events", "event_id"),
        references("layouts", "layout_id"),
        Index("ix_event_layouts_organisation_id_layout_id", "organisation_id", "layout_id"),
    )


class PolicyRecord(Base):
    """An organisation's seating policy; without a row the defaults apply."""

    __tablename__ = "seating_policies"

    organisation_id: Mapped[Uuid] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    allow_reserved_seating: Mapped[bool]
    allow_ga_seating: Mapped[bool]
    allow_hybrid_ga_reserved: Mapped[bool]
    allow_vip_zones: Mapped[bool]
    enforce_accessibility_rules: Mapped[bool]
    companion_release_occupancy_threshold: Mapped[int]
    max_wheelchair_seats_per_booking: Mapped[int]
    accessibility_audit_enabled: Mapped[bool]
    companion_price_category: Mapped[str] = mapped_column(String(60), default="", server_default=text("''"))
    max_seats_per_booking: Mapped[int]
    orphan_avoidance_strict: Mapped[bool]
    group_adjacency_strict: Mapped[bool]
    max_group_split: Mapped[int]
    prefer_clustering_over_selection: Mapped[bool]
    default_hold_ttl_minutes: Mapped[int]
    max_holds_per_user: Mapped[int | None]
    max_holds_per_ip: Mapped[int | None]
    max_holds_per_membership: Mapped[int | None] = mapped_column(server_default=text("6"))
    exempt_networks: Mapped[list[Any]] = mapped_column(JSON, default=list, server_default=text("'[]'"))
    mandatory: Mapped[list[Any]] = mapped_column(JSON)
    updated_at: Mapped[Millis] = mapped_column(BigInteger)

    __table_args__ = (
        CheckConstraint("default_hold_ttl_minutes BETWEEN 1 AND 60", name="hold_ttl_in_bounds"),
        CheckConstraint("companion_release_occupancy_threshold BETWEEN 0 AND 100", name="threshold_is_percent"),
    )


class ZoneGuestRecord(Base):
    """A guest on the list of a zone at one event; addresses and codes are stored as keyed hashes."""

    __tablename__ = "zone_guests"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    zone_id: Mapped[Uuid] = mapped_column(primary_key=True)  # the same in all versions of a layout
    named: Mapped[str] = mapped_column(String(10), primary_key=True)
    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    added_at: Mapped[Millis] = mapped_column(BigInteger)
    import_id: Mapped[Uuid | None]  # which added it: one that is cancelled takes back only these

    __table_args__ = (
        references("events", "event_id"),
        CheckConstraint("named IN ('email', 'customer', 'code')", name="named_known"),
        Index("ix_zone_guests_organisation_id_event_id", "organisation_id", "event_id", "named", "key"),
    )


class TierMembershipRecord(Base):
    """A membership of a tier, by the organiser's own id for it."""

    __tablename__ = "tier_memberships"

    organisation_id: Mapped[Uuid] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tier: Mapped[str] = mapped_column(String(40))
    until: Mapped[Millis | None] = mapped_column(BigInteger)  # exclusive; None: open-ended
    state: Mapped[str] = mapped_column(String(10))
    card: Mapped[str] = mapped_column(String(64))  # keyed hash of the code on the card
    address: Mapped[str] = mapped_column(String(64), default="", server_default="")  # keyed hash of the e-mail address
    granted_at: Mapped[Millis] = mapped_column(BigInteger)
    updated_at: Mapped[Millis] = mapped_column(BigInteger)

    __table_args__ = (
        UniqueConstraint("organisation_id", "card"),
        CheckConstraint("state IN ('active', 'revoked')", name="state_known"),
    )


class CompanionReleaseRecord(Base):
    """A zone so full on a day that its companion seats are open to everybody; deleted when it empties again."""

    __tablename__ = "companion_releases"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    zone_id: Mapped[Uuid] = mapped_column(primary_key=True)
    day: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)  # counted from 0
    seats: Mapped[list[Any]] = mapped_column(JSON)  # seat_ids that were free at that moment
    released_at: Mapped[Millis] = mapped_column(BigInteger)

    __table_args__ = (references("events", "event_id"),)
