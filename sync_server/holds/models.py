"""Tables of holds, and of what is held and sold at an event: one row for each seat that was ever taken."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Final

from sqlalchemy import BigInteger, CheckConstraint, Index, SmallInteger, String, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.events.days.chosen_days import EVERY_DAY
from sync_server.plumbing.sql.tables import Base, DayBits, Unsigned64, Uuid, references


class SeatState(IntEnum):
    """The state of a seat; one without a row is free."""

    FREE = 0
    HELD = 1
    SOLD = 2


class HoldStatus(StrEnum):
    """The state of a hold; all but active and suspended are final."""

    ACTIVE = "active"
    CONVERTED = "converted"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    SUSPENDED = "suspended"


NEVER: Final[Millis] = 253_402_300_799_000
"""`held_until` of a suspended hold: its seats stay held whatever the clock says."""

COUNTER_PRECISION_MS: Final = 3_600_000
"""How exactly a hold counter knows when it was used last."""

WHOLE_EVENT: Final = 0
"""The zone number of places at an event without a layout."""

KEEPS_SEAT: Final = text("seat IS NOT NULL AND status IN ('active', 'suspended')")
_OPEN = text("status IN ('active', 'suspended')")
_ACTIVE = text("status = 'active'")
OPEN_PLACES: Final = text("kind = 'places' AND status IN ('active', 'suspended')")
"""Places held, overdue or not; queries use the same text as the index, so that the index serves them."""
_COUNTED = text("origin IS NOT NULL")
_WITH_CARD = text("membership_id IS NOT NULL")
_ORDERED = text("order_id IS NOT NULL")
_SOLD = text("ticket_id IS NOT NULL")


class EventSeatRow(Base):
    """A seat on an event day that was ever taken: the final guard against double holds and sales.

    What takes a seat for several days has a row for each of them, so that two who want it for the same day meet at one.
    """

    __tablename__ = "event_seats"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    seat: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)  # number in the event's layout
    day: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)  # counted from 0
    state: Mapped[int] = mapped_column(SmallInteger)
    hold_id: Mapped[Uuid | None]
    held_until: Mapped[Millis | None] = mapped_column(BigInteger)
    ticket_id: Mapped[int | None] = mapped_column(Unsigned64)
    version: Mapped[int]
    locked_at: Mapped[Millis | None] = mapped_column(BigInteger)

    __table_args__ = (
        references("events", "event_id"),
        CheckConstraint(
            "(state = 0 AND hold_id IS NULL AND held_until IS NULL AND ticket_id IS NULL) OR "
            "(state = 1 AND hold_id IS NOT NULL AND held_until IS NOT NULL AND ticket_id IS NULL) OR "
            "(state = 2 AND hold_id IS NULL AND held_until IS NULL AND ticket_id IS NOT NULL)",
            name="state_fits",
        ),
        Index(
            "uq_event_seats_ticket_id",
            "organisation_id",
            "ticket_id",
            "day",
            unique=True,
            sqlite_where=_SOLD,
            postgresql_where=_SOLD,
        ),
    )


class ZonePlacesRow(Base):
    """How many places of a zone without seats are held and sold on one day; its conditional update is the guard.

    Zone 0 is an event without a layout. The limit of an event that sells less than its zones hold is not counted here:
    the lock for that is its row in `events`, which every sale takes anyway.
    """

    __tablename__ = "event_places"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    zone: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)  # number in the event's layout
    day: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)  # counted from 0
    held: Mapped[int]
    sold: Mapped[int]

    __table_args__ = (references("events", "event_id"), CheckConstraint("held >= 0 AND sold >= 0", name="not_negative"))


class HoldRow(Base):
    """A short reservation of a seat, or of places of a zone without seats."""

    __tablename__ = "holds"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid]
    days: Mapped[int] = mapped_column(DayBits, default=EVERY_DAY)
    kind: Mapped[str] = mapped_column(String(6))  # seat, places
    seat: Mapped[int | None]
    zone: Mapped[int]
    quantity: Mapped[int]
    bearer_kind: Mapped[str] = mapped_column(String(8))  # guest, user, token
    bearer_id: Mapped[Uuid]
    group_id: Mapped[Uuid | None]  # shared by holds made in one request
    order_id: Mapped[Uuid | None]  # the order that they belong to: it alone sells or releases them
    status: Mapped[str] = mapped_column(String(10))
    held_until: Mapped[Millis] = mapped_column(BigInteger)
    remaining_ms: Mapped[int | None] = mapped_column(BigInteger)  # of a suspended hold
    extended: Mapped[int] = mapped_column(SmallInteger, default=0)  # number of times
    source: Mapped[str] = mapped_column(String(8))
    notes: Mapped[str | None] = mapped_column(String(200))
    origin: Mapped[str | None] = mapped_column(String(32))  # a hash of the address, while the hold is open
    membership_id: Mapped[str | None] = mapped_column(String(36))  # whose card was shown, while the hold is open
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    updated_at: Mapped[Millis] = mapped_column(BigInteger)

    __table_args__ = (
        references("events", "event_id"),
        references("tier_memberships", "membership_id"),
        CheckConstraint("status IN ('active', 'converted', 'expired', 'cancelled', 'suspended')", name="status_known"),
        CheckConstraint("source IN ('web', 'scanner')", name="source_known"),
        CheckConstraint(
            "(kind = 'seat' AND seat IS NOT NULL AND quantity = 1) OR "
            "(kind = 'places' AND seat IS NULL AND quantity > 0)",
            name="kind_fits",
        ),
        CheckConstraint("(status = 'suspended') = (remaining_ms IS NOT NULL)", name="suspended_keeps_time"),
        # The second guard: even with a wrong row in event_seats, two holds never keep one seat for the same days.
        Index(
            "uq_holds_seat",
            "organisation_id",
            "event_id",
            "seat",
            "days",
            unique=True,
            sqlite_where=KEEPS_SEAT,
            postgresql_where=KEEPS_SEAT,
        ),
        Index("ix_holds_organisation_id_event_id", "organisation_id", "event_id", "seat", "status"),
        Index(
            "ix_holds_living", "organisation_id", "bearer_id", "event_id", sqlite_where=_OPEN, postgresql_where=_OPEN
        ),
        Index("ix_holds_organisation_id_bearer_id", "organisation_id", "bearer_id", "created_at"),
        Index(
            "ix_holds_organisation_id_origin",
            "organisation_id",
            "event_id",
            "origin",
            sqlite_where=_COUNTED,
            postgresql_where=_COUNTED,
        ),
        Index(
            "ix_holds_organisation_id_membership_id",
            "organisation_id",
            "event_id",
            "membership_id",
            sqlite_where=_WITH_CARD,
            postgresql_where=_WITH_CARD,
        ),
        Index(
            "ix_holds_organisation_id_order_id",
            "organisation_id",
            "order_id",
            sqlite_where=_ORDERED,
            postgresql_where=_ORDERED,
        ),
        Index(
            "ix_holds_open_places",
            "organisation_id",
            "event_id",
            "held_until",
            sqlite_where=OPEN_PLACES,
            postgresql_where=OPEN_PLACES,
        ),
        Index("ix_holds_held_until", "held_until", sqlite_where=_ACTIVE, postgresql_where=_ACTIVE),
    )


class HoldOutcomeRow(Base):
    """How many holds for some days of an event ended in one way: figures read it instead of all holds."""

    __tablename__ = "hold_outcomes"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    status: Mapped[str] = mapped_column(String(10), primary_key=True)
    days: Mapped[int] = mapped_column(DayBits, primary_key=True)  # as the hold has them; 0: every day
    n: Mapped[int] = mapped_column(BigInteger)

    __table_args__ = (references("events", "event_id"),)


class SaleLockRow(Base):
    """The sale lock of an event: holds share it; closing the sale or changing the layout takes it exclusively.

    Every such change raises `version`. A hold decided before finds another version, and is decided again.
    """

    __tablename__ = "sale_locks"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)  # stays behind when a draft is deleted
    version: Mapped[int]


class HoldCounterRow(Base):
    """The hold counter of a bearer: its lock and `version` serialise the requests of one bearer."""

    __tablename__ = "hold_counters"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    bearer_id: Mapped[Uuid] = mapped_column(primary_key=True)
    version: Mapped[int]
    updated_at: Mapped[Millis] = mapped_column(BigInteger, index=True)
