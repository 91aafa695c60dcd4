"""Tables of signing keys, ticket types and tickets."""

from __future__ import annotations

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, LargeBinary, SmallInteger, String, false, text
from sqlalchemy import UniqueConstraint as Unique
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base, DayBits, Unsigned64, Uuid, references


class TicketKeyRecord(Base):
    """A key that signs an organisation's tickets; its private part is sealed with the master key."""

    __tablename__ = "ticket_keys"

    organisation_id: Mapped[Uuid] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)  # counted within the organisation
    public: Mapped[bytes] = mapped_column(LargeBinary(32))
    sealed: Mapped[bytes] = mapped_column(LargeBinary(80))
    state: Mapped[str] = mapped_column(String(12))
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    signs_from: Mapped[Millis] = mapped_column(BigInteger)

    __table_args__ = (CheckConstraint("id BETWEEN 1 AND 65535", name="two_bytes"),)


class TicketTypeRecord(Base):
    """A kind of ticket that an event offers."""

    __tablename__ = "ticket_types"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(String(100))
    description: Mapped[str] = mapped_column(String(1000), default="")
    kind: Mapped[str] = mapped_column(String(30), default="general", server_default=text("'general'"))
    price_cents: Mapped[int]
    fee_cents: Mapped[int] = mapped_column(default=0, server_default=text("0"))  # of each ticket, on top of the price
    tax_rate: Mapped[int] = mapped_column(
        default=0, server_default=text("0")
    )  # included, in basis points: 1900 is 19 %
    currency: Mapped[str] = mapped_column(String(3))
    quantity: Mapped[int]
    issued: Mapped[int] = mapped_column(default=0)  # those reserved among them
    reserved: Mapped[int] = mapped_column(default=0, server_default=text("0"))  # by orders that are not paid yet
    min_per_order: Mapped[int] = mapped_column(SmallInteger, default=1, server_default=text("1"))
    max_per_order: Mapped[int] = mapped_column(SmallInteger, default=10, server_default=text("10"))
    hidden: Mapped[bool] = mapped_column(default=False, server_default=false())  # not offered in the shop
    position: Mapped[int] = mapped_column(default=0, server_default=text("0"))  # in lists; equal ones by number
    zone: Mapped[int] = mapped_column(default=0)
    entitlement: Mapped[int] = mapped_column(SmallInteger)
    entry_limit: Mapped[int] = mapped_column(SmallInteger, default=0)
    valid_days: Mapped[int] = mapped_column(DayBits, default=0)
    flags: Mapped[int] = mapped_column(SmallInteger, default=0)
    check_words: Mapped[str] = mapped_column(String(100), default="")
    badge_layout: Mapped[str] = mapped_column(  # what gates print; read only where it is asked for: it is long
        String(24_000), default="", server_default=text("''"), deferred=True
    )
    not_before: Mapped[int] = mapped_column(BigInteger, default=0)
    not_after: Mapped[int] = mapped_column(BigInteger, default=0)
    sale_start_at: Mapped[Millis | None] = mapped_column(BigInteger)
    sale_end_at: Mapped[Millis | None] = mapped_column(BigInteger)
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    updated_at: Mapped[Millis] = mapped_column(BigInteger)

    __table_args__ = (
        references("events", "event_id"),
        Unique("organisation_id", "event_id", "name"),
        CheckConstraint("price_cents >= 0", name="price_not_negative"),
        CheckConstraint("issued >= 0", name="issued_not_negative"),  # the quantity counts for each day
        CheckConstraint("fee_cents >= 0", name="fee_not_negative"),
        CheckConstraint("tax_rate BETWEEN 0 AND 10000", name="tax_rate_in_basis_points"),
        CheckConstraint("reserved BETWEEN 0 AND issued", name="reserved_are_counted"),
        CheckConstraint("min_per_order BETWEEN 1 AND max_per_order", name="order_limits"),
    )


OCCUPIES_SEAT = text("seat_key IS NOT NULL AND state <> 1")
"""Seats that are taken; queries use the same text as the index, so that the index serves them."""
BY_SEATS = "INDEXED BY uq_tickets_seat"
"""For SQLite, which has no statistics and would as soon read all tickets of the event."""
_HAS_MEMBERSHIP = text("membership_id <> ''")


class EndingTicketsRecord(Base):
    """A cancelled event that still has tickets for which nothing was paid: the worker ends them piece by piece."""

    __tablename__ = "ending_tickets"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)

    __table_args__ = (references("events", "event_id"),)


class TicketRecord(Base):
    """One ticket.

    `claims` are what the current issue signs; the other columns may have changed since. The code is not stored: Ed25519
    signatures of the same claims are identical.
    """

    __tablename__ = "tickets"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Unsigned64, primary_key=True, autoincrement=False)
    event_id: Mapped[Uuid]
    sequence: Mapped[int]
    number: Mapped[str] = mapped_column(String(24))
    confirmation_code: Mapped[str] = mapped_column(String(8))
    key_id: Mapped[int]
    issue: Mapped[int] = mapped_column(SmallInteger, default=1)
    issued_at: Mapped[int] = mapped_column(BigInteger)
    claims: Mapped[bytes] = mapped_column(LargeBinary)
    state: Mapped[int] = mapped_column(SmallInteger, default=0)
    ticket_type: Mapped[int]
    zone: Mapped[int] = mapped_column(default=0)
    seat: Mapped[int] = mapped_column(BigInteger, default=0)
    seat_id: Mapped[str] = mapped_column(String(80), default="")  # the same in all versions of the layout
    section: Mapped[str] = mapped_column(String(60), default="")
    seat_row: Mapped[str] = mapped_column(String(20), default="")
    seat_number: Mapped[str] = mapped_column(String(20), default="")
    seat_key: Mapped[str | None] = mapped_column(String(400))  # case folding may lengthen the text
    group_id: Mapped[Uuid]  # the same for tickets bought together
    valid_days: Mapped[int] = mapped_column(DayBits, default=0)
    entitlement: Mapped[int] = mapped_column(SmallInteger)
    entry_limit: Mapped[int] = mapped_column(SmallInteger, default=0)
    flags: Mapped[int] = mapped_column(SmallInteger, default=0)
    not_before: Mapped[int] = mapped_column(BigInteger, default=0)
    not_after: Mapped[int] = mapped_column(BigInteger, default=0)
    membership_tier: Mapped[str] = mapped_column(String(40), default="")
    membership_id: Mapped[str] = mapped_column(String(36), default="")  # as the organiser names it
    membership_state: Mapped[int] = mapped_column(SmallInteger, default=0)
    membership_until: Mapped[Millis] = mapped_column(BigInteger, default=0)
    holder_name: Mapped[str] = mapped_column(String(100), default="")
    notes: Mapped[str] = mapped_column(String(200), default="")
    price_cents: Mapped[int] = mapped_column(default=0)
    currency: Mapped[str] = mapped_column(String(3), default="EUR")
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    updated_at: Mapped[Millis] = mapped_column(BigInteger)

    __table_args__ = (
        references("events", "event_id"),
        references("ticket_keys", "key_id"),
        Unique("organisation_id", "event_id", "sequence"),
        Unique("organisation_id", "event_id", "confirmation_code"),
        # The last guard: no two valid tickets for the same days share a seat, even if the code has a bug.
        Index(
            "uq_tickets_seat",
            "organisation_id",
            "event_id",
            "seat_key",
            "valid_days",
            unique=True,
            sqlite_where=OCCUPIES_SEAT,
            postgresql_where=OCCUPIES_SEAT,
        ),
        Index("ix_tickets_key_id", "organisation_id", "key_id"),
        Index(
            "ix_tickets_membership",
            "organisation_id",
            "membership_id",
            sqlite_where=_HAS_MEMBERSHIP,
            postgresql_where=_HAS_MEMBERSHIP,
        ),
        CheckConstraint("issue BETWEEN 1 AND 255", name="issue_one_byte"),
    )


class TicketCountRecord(Base):
    """How many tickets of an event a key has signed that are in one state: pages read it instead of all tickets."""

    __tablename__ = "ticket_counts"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    key_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    state: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    n: Mapped[int]

    __table_args__ = (
        references("events", "event_id"),
        references("ticket_keys", "key_id"),
        Index("ix_ticket_counts_key_id", "organisation_id", "key_id"),
    )


class TicketIssueRecord(Base):
    """Claims of an issue that was replaced: journals may still refer to its code."""

    __tablename__ = "ticket_issues"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    ticket_id: Mapped[int] = mapped_column(Unsigned64, primary_key=True, autoincrement=False)
    issue: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    key_id: Mapped[int]
    claims: Mapped[bytes] = mapped_column(LargeBinary)

    __table_args__ = (references("tickets", "ticket_id"), references("ticket_keys", "key_id"))
