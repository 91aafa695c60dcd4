"""Tables of queues and of who waits in them."""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import BigInteger, CheckConstraint, Index, LargeBinary, SmallInteger, String, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base, Uuid, references


class EntryState(StrEnum):
    """The state of an entry; only those who wait or are admitted take part."""

    WAITING = "waiting"
    ADMITTED = "admitted"
    SPENT = "spent"  # something was bought
    EXPIRED = "expired"
    LEFT = "left"


class EventQueueRow(Base):
    """The queue of an event: how many come in a minute, and the draw. When it opens follows from the event's sale."""

    __tablename__ = "event_queues"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    room_minutes: Mapped[int] = mapped_column(SmallInteger)  # how long before the sale the waiting room opens
    per_minute: Mapped[int]  # 0: as many as there are free slots in the checkout
    pass_minutes: Mapped[int] = mapped_column(SmallInteger)
    commitment: Mapped[bytes] = mapped_column(LargeBinary(32))
    sealed_seed: Mapped[bytes] = mapped_column(LargeBinary(80))
    beacon_source: Mapped[str] = mapped_column(String(200), default="")  # empty: the seed alone decides
    beacon_value: Mapped[str | None] = mapped_column(String(200))
    root: Mapped[bytes | None] = mapped_column(LargeBinary(32))  # once the waiting room has closed
    closed_at: Mapped[Millis | None] = mapped_column(BigInteger)
    drawn_at: Mapped[Millis | None] = mapped_column(BigInteger)
    paused_at: Mapped[Millis | None] = mapped_column(BigInteger)  # since then nobody is admitted
    drawn: Mapped[int] = mapped_column(default=0)  # entries that took part in the draw
    next_seq: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    updated_at: Mapped[Millis] = mapped_column(BigInteger)

    __table_args__ = (
        references("events", "event_id", ondelete="CASCADE"),
        CheckConstraint("per_minute >= 0 AND pass_minutes > 0 AND room_minutes >= 0", name="numbers_fit"),
    )


_TAKES_PART = text("state IN ('waiting', 'admitted')")


class QueueEntryRow(Base):
    """Somebody's place in a queue; rejoining takes a new one. `id` is the entry of the draw, and the receipt."""

    __tablename__ = "queue_entries"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    bearer_id: Mapped[Uuid]
    seq: Mapped[int | None]  # None until the draw
    in_draw: Mapped[bool] = mapped_column(default=False)
    state: Mapped[str] = mapped_column(String(8))
    joined_at: Mapped[Millis] = mapped_column(BigInteger)
    expires_at: Mapped[Millis] = mapped_column(BigInteger)
    admitted_at: Mapped[Millis | None] = mapped_column(BigInteger)
    cooldown_until: Mapped[Millis | None] = mapped_column(BigInteger)
    tab_hash: Mapped[bytes | None] = mapped_column(LargeBinary(32))  # of the tab that has the pass

    __table_args__ = (
        references("event_queues", "event_id", to="event_id", ondelete="CASCADE"),
        CheckConstraint("state IN ('waiting', 'admitted', 'spent', 'expired', 'left')", name="state_known"),
        Index("ix_queue_entries_bearer_id", "organisation_id", "event_id", "bearer_id", "joined_at"),
        # One place for each: a second request to join finds the first one's.
        Index(
            "uq_queue_entries_bearer_id",
            "organisation_id",
            "event_id",
            "bearer_id",
            unique=True,
            sqlite_where=_TAKES_PART,
            postgresql_where=_TAKES_PART,
        ),
        Index("ix_queue_entries_state_seq", "organisation_id", "event_id", "state", "seq"),
        Index("ix_queue_entries_expires_at", "expires_at", sqlite_where=_TAKES_PART, postgresql_where=_TAKES_PART),
    )
