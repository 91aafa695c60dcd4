"""Tables of orders, their lines, the ledger of money, and the settings of checkout."""

from __future__ import annotations

from typing import Any, cast

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    ForeignKey,
    Index,
    LargeBinary,
    SmallInteger,
    String,
    Table,
    Text,
    TextClause,
    false,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.append_only import guard
from sync_server.plumbing.sql.tables import Base, DayBits, Unsigned64, Uuid, references

_PENDING = text("state = 'pending'")
_NOT_FILED = text("NOT filed")
_TOLD = text("external_reference IS NOT NULL")
_FOLLOWED = text("look_at IS NOT NULL")
_WAITING = text("state = 'waiting'")


def _where(which: TextClause) -> dict[str, Any]:
    """An index of these rows alone, on both databases."""
    return {"sqlite_where": which, "postgresql_where": which}


class OrderRow(Base):
    """What somebody buys at an event in one go. What was paid for it stands in the ledger alone."""

    __tablename__ = "orders"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid]
    number: Mapped[str] = mapped_column(String(30))  # for people: the event's code, and a number
    channel: Mapped[str] = mapped_column(String(10))
    bearer_kind: Mapped[str] = mapped_column(String(8))  # guest, user, token
    bearer_id: Mapped[Uuid]
    customer_id: Mapped[Uuid | None]  # who was signed in, or has proved the address since
    buyer_name: Mapped[str] = mapped_column(String(100), default="")
    buyer_email: Mapped[str] = mapped_column(String(254), default="")
    buyer_locale: Mapped[str] = mapped_column(String(5), default="")
    search_text: Mapped[str] = mapped_column(Text, default="")  # number, name and address, folded
    filed: Mapped[bool] = mapped_column(default=False, server_default=false())  # in sums and words, see `filing`
    admissions: Mapped[int] = mapped_column(SmallInteger)  # how many lines it has
    currency: Mapped[str] = mapped_column(String(3))
    subtotal_cents: Mapped[int] = mapped_column(BigInteger)
    discount_cents: Mapped[int] = mapped_column(BigInteger, default=0)
    fees_cents: Mapped[int] = mapped_column(BigInteger)
    tax_cents: Mapped[int] = mapped_column(BigInteger)  # included in the total
    total_cents: Mapped[int] = mapped_column(BigInteger)
    state: Mapped[str] = mapped_column(String(20))
    method: Mapped[str] = mapped_column(String(20), default="")  # how it is to be paid, once chosen
    expires_at: Mapped[Millis] = mapped_column(BigInteger)  # if it is not paid
    access: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)  # what opened its zones: roles, invitation
    remaining_ms: Mapped[int | None] = mapped_column(BigInteger)  # while its postponed event has no date
    due_at: Mapped[Millis | None] = mapped_column(BigInteger)  # of an invoice
    reason: Mapped[str] = mapped_column(String(1000), default="")  # why it was cancelled
    dispute: Mapped[str] = mapped_column(String(8), default="", server_default="")  # of a payment: inquiry, open, …
    paid_at: Mapped[Millis | None] = mapped_column(BigInteger)
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    updated_at: Mapped[Millis] = mapped_column(BigInteger)

    @property
    def event(self) -> EventKey:
        """The event at which something is bought."""
        return EventKey(self.organisation_id, self.event_id)

    __table_args__ = (
        references("events", "event_id"),
        references("customers", "customer_id"),
        CheckConstraint("total_cents = subtotal_cents - discount_cents + fees_cents", name="total_adds_up"),
        CheckConstraint("total_cents >= 0 AND tax_cents BETWEEN 0 AND total_cents", name="not_negative"),
        CheckConstraint("channel IN ('shop', 'box_office')", name="channel_known"),
        # Its last two columns spare sums over an event's orders the rows.
        Index("ix_orders_organisation_id_event_id", "organisation_id", "event_id", "id", "state", "created_at"),
        Index("ix_orders_organisation_id_bearer_id", "organisation_id", "bearer_id", "id"),
        Index("ix_orders_organisation_id_customer_id", "organisation_id", "customer_id", "id"),
        Index("ix_orders_organisation_id_number", "organisation_id", "number"),
        Index("ix_orders_organisation_id_buyer_email", "organisation_id", "buyer_email"),
        Index("ix_orders_expires_at", "expires_at", **_where(_PENDING)),
        Index("ix_orders_not_filed", "organisation_id", "event_id", "id", "state", "updated_at", **_where(_NOT_FILED)),
        Index("ix_orders_organisation_id_state", "organisation_id", "state", "id"),
    )


class OrderLineRow(Base):
    """One admission of an order: what it is, what it costs, and its ticket once that is issued."""

    __tablename__ = "order_lines"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    order_id: Mapped[Uuid] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)  # counted from 1
    ticket_type: Mapped[int]
    ticket_type_name: Mapped[str] = mapped_column(String(100))
    zone: Mapped[int]  # of the event
    seat: Mapped[int] = mapped_column(BigInteger, default=0)  # number in the layout
    seat_name: Mapped[str] = mapped_column(String(80), default="")  # its id in the layout, or what is printed
    seat_label: Mapped[str] = mapped_column(String(110), default="")
    holder_name: Mapped[str] = mapped_column(String(100), default="")
    valid_days: Mapped[int] = mapped_column(DayBits, default=0)
    unit_cents: Mapped[int] = mapped_column(BigInteger)
    discount_cents: Mapped[int] = mapped_column(BigInteger, default=0)
    fee_cents: Mapped[int] = mapped_column(BigInteger)
    tax_rate: Mapped[int]
    tax_cents: Mapped[int] = mapped_column(BigInteger)
    state: Mapped[str] = mapped_column(String(10))
    hold_id: Mapped[Uuid | None]
    membership_id: Mapped[str] = mapped_column(String(36), default="")
    ticket_id: Mapped[int | None] = mapped_column(Unsigned64)
    # The ticket is another person's now: its code is shown to the buyer no more.
    passed_on: Mapped[bool] = mapped_column(default=False, server_default=false())

    __table_args__ = (
        references("orders", "order_id"),  # and no ticket: those leave with an event that is put away
        CheckConstraint("discount_cents BETWEEN 0 AND unit_cents", name="discount_within_price"),
        CheckConstraint("fee_cents >= 0 AND tax_cents >= 0", name="not_negative"),
        Index("ix_order_lines_organisation_id_ticket_id", "organisation_id", "ticket_id"),
    )


class MoneyMovementRow(Base):
    """One movement of money between two accounts. The rows are only ever added: a mistake is another movement."""

    __tablename__ = "money_movements"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    order_id: Mapped[Uuid] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)  # counted from 1
    kind: Mapped[str] = mapped_column(String(10))
    debit: Mapped[str] = mapped_column(String(20))
    credit: Mapped[str] = mapped_column(String(20))
    cents: Mapped[int] = mapped_column(BigInteger)
    currency: Mapped[str] = mapped_column(String(3))
    at: Mapped[Millis] = mapped_column(BigInteger)
    method: Mapped[str] = mapped_column(String(20), default="")
    # As the bank, the terminal or the payment service names it: told twice, it counts once.
    external_reference: Mapped[str | None] = mapped_column(String(140))
    note: Mapped[str] = mapped_column(String(1000), default="")

    __table_args__ = (
        references("orders", "order_id"),
        CheckConstraint("cents > 0", name="positive"),
        CheckConstraint("debit <> credit", name="between_two_accounts"),
        Index(
            "uq_money_movements_external_reference",
            "organisation_id",
            "method",
            "kind",
            "external_reference",
            unique=True,
            **_where(_TOLD),
        ),
    )


guard(cast(Table, MoneyMovementRow.__table__), identity=("order_id", "position"))


class CheckoutSettingsRow(Base):
    """How an organisation sells: for how long orders wait, whether by invoice, and to which account."""

    __tablename__ = "checkout_settings"

    organisation_id: Mapped[Uuid] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    order_minutes: Mapped[int] = mapped_column(SmallInteger, default=10)
    invoices: Mapped[bool] = mapped_column(default=False, server_default=false())
    invoice_days: Mapped[int] = mapped_column(SmallInteger, default=14)
    unpaid_tickets: Mapped[bool] = mapped_column(default=False, server_default=false())
    account_holder: Mapped[str] = mapped_column(String(70), default="")
    iban: Mapped[str] = mapped_column(String(34), default="")
    bic: Mapped[str] = mapped_column(String(11), default="")
    stripe_publishable_key: Mapped[str] = mapped_column(String(255), default="", server_default="")
    stripe_sealed_key: Mapped[bytes | None] = mapped_column(LargeBinary)
    stripe_key_ending: Mapped[str] = mapped_column(String(4), default="", server_default="")
    stripe_sealed_webhook_secret: Mapped[bytes | None] = mapped_column(LargeBinary)
    # What becomes of the tickets of a disputed payment: block, keep.
    dispute_tickets: Mapped[str] = mapped_column(String(5), default="block", server_default=text("'block'"))
    updated_at: Mapped[Millis] = mapped_column(BigInteger)


class OrderCounterRow(Base):
    """The number of the last order of an event."""

    __tablename__ = "order_counters"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    orders: Mapped[int]

    __table_args__ = (references("events", "event_id"),)


class CheckoutLimitRow(Base):
    """How many may be in the checkout of an event at once; its lock lets one in after another."""

    __tablename__ = "checkout_limits"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    sessions: Mapped[int]

    __table_args__ = (references("events", "event_id"), CheckConstraint("sessions > 0", name="somebody"))


_OPEN = text("state = 'open'")


class CheckoutSessionRow(Base):
    """Somebody's time in the checkout of an event. While it is open it has one of the event's slots alone."""

    __tablename__ = "checkout_sessions"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    bearer_kind: Mapped[str] = mapped_column(String(8))
    bearer_id: Mapped[Uuid]
    slot: Mapped[int]  # counted from 1
    state: Mapped[str] = mapped_column(String(8))
    opened_at: Mapped[Millis] = mapped_column(BigInteger)
    expires_at: Mapped[Millis] = mapped_column(BigInteger)
    ended_at: Mapped[Millis | None] = mapped_column(BigInteger)

    __table_args__ = (
        references("events", "event_id"),
        CheckConstraint("slot > 0", name="counted_from_one"),
        CheckConstraint("state IN ('open', 'paid', 'left', 'expired')", name="state_known"),
        *(
            Index(f"uq_checkout_sessions_{column}", "organisation_id", "event_id", column, unique=True, **_where(_OPEN))
            for column in ("slot", "bearer_id")
        ),
        Index("ix_checkout_sessions_expires_at", "expires_at", **_where(_OPEN)),
    )


class StripePaymentRow(Base):
    """One payment intent at Stripe, written before Stripe is asked for it: its id is the idempotency key."""

    __tablename__ = "stripe_payments"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    order_id: Mapped[Uuid]
    intent: Mapped[str | None] = mapped_column(String(255))  # as Stripe names it, once it has answered
    cents: Mapped[int] = mapped_column(BigInteger)
    currency: Mapped[str] = mapped_column(String(3))
    state: Mapped[str] = mapped_column(String(10))  # begun, open, received, ended
    look_at: Mapped[Millis | None] = mapped_column(BigInteger)  # when to ask Stripe what became of it
    looks: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[Millis] = mapped_column(BigInteger)

    __table_args__ = (
        references("orders", "order_id"),
        CheckConstraint("cents > 0", name="positive"),
        Index("ix_stripe_payments_organisation_id_order_id", "organisation_id", "order_id"),
        Index("uq_stripe_payments_intent", "organisation_id", "intent", unique=True),
        Index("ix_stripe_payments_look_at", "look_at", **_where(_FOLLOWED)),
    )


class PayoutRow(Base):
    """Money that a payment service is to pay back, written before it is asked: its id is the idempotency key."""

    __tablename__ = "payouts"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    order_id: Mapped[Uuid]
    method: Mapped[str] = mapped_column(String(20))
    payment: Mapped[str] = mapped_column(String(140))  # which is paid back, as the service names it
    cents: Mapped[int] = mapped_column(BigInteger)
    reason: Mapped[str] = mapped_column(String(1000), default="")
    state: Mapped[str] = mapped_column(String(10))  # waiting, made, failed
    refund: Mapped[str | None] = mapped_column(String(140))  # as the service names it
    problem: Mapped[str] = mapped_column(String(300), default="")
    attempts: Mapped[int] = mapped_column(default=0)
    try_at: Mapped[Millis] = mapped_column(BigInteger)
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    ended_at: Mapped[Millis | None] = mapped_column(BigInteger)

    __table_args__ = (
        references("orders", "order_id"),
        CheckConstraint("cents > 0", name="positive"),
        Index("ix_payouts_organisation_id_order_id", "organisation_id", "order_id"),
        Index("ix_payouts_try_at", "try_at", **_where(_WAITING)),
    )


class DisputeRow(Base):
    """A payment that its buyer disputes with the bank, as the payment service tells of it."""

    __tablename__ = "disputes"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    reference: Mapped[str] = mapped_column(String(100), primary_key=True)  # as the service names it
    order_id: Mapped[Uuid]
    method: Mapped[str] = mapped_column(String(20))
    payment: Mapped[str] = mapped_column(String(140))  # likewise
    cents: Mapped[int] = mapped_column(BigInteger)
    currency: Mapped[str] = mapped_column(String(3))
    state: Mapped[str] = mapped_column(String(8))
    reason: Mapped[str] = mapped_column(String(60), default="")  # a word of the service
    # What of it stands in the ledger: money that has gone, and what of that the buyer keeps for good.
    withdrawn_cents: Mapped[int] = mapped_column(BigInteger, default=0)
    lost_cents: Mapped[int] = mapped_column(BigInteger, default=0)
    moves: Mapped[int] = mapped_column(default=0)  # so many movements in the ledger
    blocked_tickets: Mapped[list[str]] = mapped_column(JSON, default=list)  # for as long as it is open
    answer_by: Mapped[Millis | None] = mapped_column(BigInteger)
    opened_at: Mapped[Millis] = mapped_column(BigInteger)
    closed_at: Mapped[Millis | None] = mapped_column(BigInteger)
    look_at: Mapped[Millis | None] = mapped_column(BigInteger)  # when to ask what became of it

    __table_args__ = (
        references("orders", "order_id"),
        CheckConstraint("state IN ('inquiry', 'open', 'won', 'lost')", name="state_known"),
        CheckConstraint("lost_cents BETWEEN 0 AND withdrawn_cents AND withdrawn_cents <= cents", name="not_more"),
        Index("ix_disputes_organisation_id_order_id", "organisation_id", "order_id"),
        Index("ix_disputes_look_at", "look_at", **_where(_FOLLOWED)),
    )


class CodeBatchRow(Base):
    """Codes that an organiser made together. Their texts are signed and stored nowhere; a batch is what they give."""

    __tablename__ = "code_batches"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)  # counted from 1
    kind: Mapped[str] = mapped_column(String(10))
    name: Mapped[str] = mapped_column(String(100))
    codes: Mapped[int]  # how many
    max_uses: Mapped[int]  # of each
    percent: Mapped[int] = mapped_column(SmallInteger, default=0)
    cents: Mapped[int] = mapped_column(default=0)
    per: Mapped[str] = mapped_column(String(6))
    ticket_types: Mapped[list[int]] = mapped_column(JSON, default=list)  # by number; none: all
    # A presale: these types are sold before the event's own sale begins.
    opens_sale: Mapped[bool] = mapped_column(default=False, server_default=false())
    valid_from: Mapped[Millis | None] = mapped_column(BigInteger)
    valid_until: Mapped[Millis | None] = mapped_column(BigInteger)
    revoked_at: Mapped[Millis | None] = mapped_column(BigInteger)
    created_at: Mapped[Millis] = mapped_column(BigInteger)

    __table_args__ = (
        references("events", "event_id"),
        CheckConstraint("kind IN ('discount', 'presale') AND per IN ('order', 'ticket')", name="kind_known"),
        CheckConstraint("percent BETWEEN 0 AND 100 AND cents >= 0 AND codes > 0 AND max_uses > 0", name="numbers_fit"),
    )


_STANDS = text("given_back_at IS NULL")


class CodeUseRow(Base):
    """One use of a code by an order. Those that stand are unique, so that a code is never used too often."""

    __tablename__ = "code_uses"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    order_id: Mapped[Uuid] = mapped_column(primary_key=True)
    batch: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    serial: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    event_id: Mapped[Uuid]
    use: Mapped[int]  # counted from 1
    spent_at: Mapped[Millis] = mapped_column(BigInteger)
    given_back_at: Mapped[Millis | None] = mapped_column(BigInteger)  # its order ended unpaid

    __table_args__ = (
        references("orders", "order_id"),
        references("events", "event_id"),
        Index(
            "uq_code_uses_use", "organisation_id", "event_id", "batch", "serial", "use", unique=True, **_where(_STANDS)
        ),
    )
