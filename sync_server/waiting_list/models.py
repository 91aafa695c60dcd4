"""Tables of waiting lists, the parties on them, and the offers that parties got."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, BigInteger, CheckConstraint, Index, SmallInteger, String, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base, Uuid, references

_DUE = text("due_at IS NOT NULL")
_OPEN = text("state = 'open'")


class WaitingListRow(Base):
    """The waiting list of an event. One process at a time makes offers from it: whoever has the lease."""

    __tablename__ = "waiting_lists"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    open: Mapped[bool]  # whether parties may join
    offer_minutes: Mapped[int] = mapped_column(SmallInteger)
    last_seq: Mapped[int]  # given to the last party that has joined
    wakes: Mapped[int] = mapped_column(BigInteger, default=0)  # how often something came back that may fit somebody
    due_at: Mapped[Millis | None] = mapped_column(BigInteger)  # when to look again
    leased_until: Mapped[Millis] = mapped_column(BigInteger, default=0)
    updated_at: Mapped[Millis] = mapped_column(BigInteger)

    __table_args__ = (
        references("events", "event_id", ondelete="CASCADE"),
        Index("ix_waiting_lists_due_at", "due_at", sqlite_where=_DUE, postgresql_where=_DUE),
    )


class WaitingPartyRow(Base):
    """A party that waits: how many they are and what they wish. They get all of it together, or wait on."""

    __tablename__ = "waiting_parties"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid]
    seq: Mapped[int]  # the order in which they joined
    bearer_id: Mapped[Uuid]  # the guest session that has joined
    email: Mapped[str] = mapped_column(String(254))
    locale: Mapped[str] = mapped_column(String(5), default="")
    size: Mapped[int] = mapped_column(SmallInteger)
    together: Mapped[bool]
    zone_ids: Mapped[list[Any]] = mapped_column(JSON)  # of the layout; none: any
    ticket_types: Mapped[list[Any]] = mapped_column(JSON)  # none: any that the shop sells
    days: Mapped[list[Any]] = mapped_column(JSON)  # dates; none: every day of the event
    state: Mapped[str] = mapped_column(String(10))
    passed_over: Mapped[int] = mapped_column(default=0)  # how often somebody behind got what did not fit them
    joined_at: Mapped[Millis] = mapped_column(BigInteger)
    updated_at: Mapped[Millis] = mapped_column(BigInteger)

    __table_args__ = (
        references("events", "event_id", ondelete="CASCADE"),
        CheckConstraint("size > 0", name="somebody"),
        CheckConstraint("state IN ('waiting', 'offered', 'taken', 'lapsed', 'left', 'ended')", name="state_known"),
        Index("uq_waiting_parties_seq", "organisation_id", "event_id", "seq", unique=True),
        Index("ix_waiting_parties_state", "organisation_id", "event_id", "state", "seq"),
        Index("ix_waiting_parties_email", "organisation_id", "email"),
    )


class WaitingOfferRow(Base):
    """Places that were held for a party until then, and who before them in the list was passed over, and why."""

    __tablename__ = "waiting_offers"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid]
    party_id: Mapped[Uuid]
    ticket_type: Mapped[int]
    zone: Mapped[int]  # of the layout
    seats: Mapped[list[Any]] = mapped_column(JSON)  # numbers in the layout; none for places
    passed: Mapped[dict[str, Any]] = mapped_column(JSON)  # by reason: stretches of `seq`, first and last
    state: Mapped[str] = mapped_column(String(10))
    ends_at: Mapped[Millis] = mapped_column(BigInteger)
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    done_at: Mapped[Millis | None] = mapped_column(BigInteger)

    __table_args__ = (
        references("events", "event_id", ondelete="CASCADE"),
        references("waiting_parties", "party_id", ondelete="CASCADE"),
        CheckConstraint("state IN ('open', 'taken', 'lapsed', 'left')", name="state_known"),
        Index(
            "uq_waiting_offers_party_id",
            "organisation_id",
            "party_id",
            unique=True,
            sqlite_where=_OPEN,
            postgresql_where=_OPEN,
        ),
        Index("ix_waiting_offers_event_id", "organisation_id", "event_id", "id"),
        Index("ix_waiting_offers_ends_at", "ends_at", sqlite_where=_OPEN, postgresql_where=_OPEN),
    )
