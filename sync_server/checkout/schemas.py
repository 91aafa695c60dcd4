"""Schemas of requests and responses about orders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BaseModel, Field, model_validator

from shared.wire.snapshot import TicketState
from sync_server.checkout.codes.code_schemas import Codes
from sync_server.checkout.models import DisputeRow, OrderLineRow, OrderRow
from sync_server.checkout.money.ledger import Balance
from sync_server.checkout.orders.order_request import Buyer, Chosen
from sync_server.checkout.payments.choices import Choice
from sync_server.checkout.payments.methods import Instructions
from sync_server.checkout.rules import MAX_ADMISSIONS
from sync_server.events.days.chosen_days import ChosenDays
from sync_server.events.rules import Mark
from sync_server.plumbing.api.edits import EditedView
from sync_server.plumbing.api.one_line import SEVERAL_LINES
from sync_server.plumbing.api.pagination import PageQuery
from sync_server.plumbing.api.schemas import Id, IsoTime, Query, Reason, RequestBody, View
from sync_server.tickets.queries import Ticket, printed_seat, public_id

State = Literal["pending", "paid", "partially_refunded", "refunded", "cancelled", "expired"]
Method = Literal["free", "cash", "card", "invoice", "stripe"]
TypeNumber = Annotated[int, Field(ge=1, le=65535)]
Email = Annotated[str, Field(min_length=3, max_length=254, pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$")]
Reference = Annotated[str, Field(min_length=1, max_length=140)]
HolderName = Annotated[str, Field(max_length=100)]
SeatName = Annotated[str, Field(min_length=1, max_length=80)]


class TypeCount(RequestBody):
    """So many of a ticket type."""

    ticket_type: TypeNumber
    count: Annotated[int, Field(ge=1, le=MAX_ADMISSIONS)]


class OrderedHold(RequestBody):
    """A hold to order: of a seat with one `ticket_type`, of places with one or with `ticket_types` that add up.

    Without any, the seat or the zone decides, where only one ticket type is sold for it.
    """

    hold_id: Id
    ticket_type: TypeNumber | None = None
    ticket_types: Annotated[list[TypeCount], Field(max_length=50)] = Field(default_factory=list)
    count: Annotated[int, Field(ge=1, le=MAX_ADMISSIONS)] = 1
    holder_name: HolderName = ""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.ticket_type is not None and self.ticket_types:
            raise ValueError("send either `ticket_type` or `ticket_types`")
        return self

    def chosen(self) -> Chosen:
        """What is ordered."""
        types = {self.ticket_type: self.count} if self.ticket_type is not None else _summed(self.ticket_types)
        return Chosen(self.hold_id, types=types, holder_name=self.holder_name)


class OrderedSeat(RequestBody):
    """A free seat, sold at once at the box office."""

    seat_id: SeatName
    ticket_type: TypeNumber | None = None
    holder_name: HolderName = ""

    def chosen(self) -> Chosen:
        """What is ordered."""
        types = {} if self.ticket_type is None else {self.ticket_type: 1}
        return Chosen(seat_name=self.seat_id, types=types, holder_name=self.holder_name)


def _summed(counts: Sequence[TypeCount]) -> dict[int, int]:
    types: dict[int, int] = {}
    for each in counts:
        types[each.ticket_type] = types.get(each.ticket_type, 0) + each.count
    return types


class BuyerBody(RequestBody):
    """Who buys: needed for an invoice, and to be written to."""

    name: Annotated[str, Field(max_length=100)] = ""
    email: Email | None = None
    locale: Annotated[str, Field(pattern="^[a-z]{2}(-[A-Z]{2})?$")] | None = None

    def buyer(self) -> Buyer:
        """The buyer."""
        return Buyer(self.name, (self.email or "").casefold(), self.locale or "")


class PayAtOnce(RequestBody):
    """How the buyer pays an order while making it; online payments have a request of their own."""

    method: Literal["free", "invoice"]


class NewOrder(RequestBody):
    """An order of what this session holds. Prices are the server's; none is sent."""

    holds: Annotated[list[OrderedHold], Field(min_length=1, max_length=MAX_ADMISSIONS)]
    buyer: BuyerBody = Field(default_factory=BuyerBody)
    invitation: Annotated[str, Field(max_length=100)] | None = None
    codes: Codes = Field(default_factory=list)
    pay: PayAtOnce | None = None


class NewSale(RequestBody):
    """A sale at the box office: anybody's `holds`, free `seats`, and `places` of a ticket type, paid by `method`.

    Only holds can wait to be paid by invoice. `override` is the reason for overriding access and accessibility rules.
    """

    holds: Annotated[list[OrderedHold], Field(max_length=MAX_ADMISSIONS)] = Field(default_factory=list)
    seats: Annotated[list[OrderedSeat], Field(max_length=MAX_ADMISSIONS)] = Field(default_factory=list)
    places: Annotated[list[TypeCount], Field(max_length=50)] = Field(default_factory=list)
    method: Method
    reference: Reference | None = None
    buyer: BuyerBody = Field(default_factory=BuyerBody)
    override: Annotated[str, Field(min_length=3, max_length=1000), SEVERAL_LINES] | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.holds and not self.seats and not self.places:
            raise ValueError("send `holds`, `seats` or `places`")
        if self.method == "invoice" and (self.seats or self.places):
            raise ValueError("hold the seats first: an order that waits for its invoice needs `holds`")
        return self

    def chosen(self) -> list[Chosen]:
        """What is ordered."""
        places = [Chosen(types={number: count}) for number, count in _summed(self.places).items()]
        return [*(each.chosen() for each in self.holds), *(each.chosen() for each in self.seats), *places]


class PayBody(RequestBody):
    """How the buyer pays."""

    method: Method


class TransferCodeQuery(Query):
    """The format of the code."""

    format: Literal["json", "svg", "png"] = "json"


class TransferCodeView(BaseModel):
    """What the QR code of a transfer says."""

    text: str


class NotePayment(RequestBody):
    """A payment that has arrived: by default all that is due. With a `reference`, it counts once however often sent."""

    method: Method
    cents: Annotated[int, Field(ge=1, le=10**12)] | None = None
    reference: Reference | None = None
    note: Reason = ""


class RefundBody(RequestBody):
    """What to refund: these `lines` by position, none, or (left out) all; and how what is owed then is paid back."""

    method: Method
    lines: Annotated[list[Annotated[int, Field(ge=1, le=MAX_ADMISSIONS)]], Field(max_length=MAX_ADMISSIONS)] | None = (
        None
    )
    keep_fees: bool = False
    reference: Reference | None = None
    reason: Reason = ""


class OrderReason(RequestBody):
    """Why an order is cancelled."""

    reason: Reason = ""


class LineTicket(BaseModel):
    """The ticket of a line. Its code is a separate resource."""

    id: str
    number: str
    confirmation_code: str
    state: str


class LineView(View):
    """One admission of an order; the tax is included. `days` are named at an event of several days."""

    position: int
    ticket_type: int
    ticket_type_name: str
    zone: int
    seat_id: str
    seat_label: str
    days: list[str]
    holder_name: str
    unit_cents: int
    discount_cents: int
    fee_cents: int
    tax_rate: int
    tax_cents: int
    state: str
    hold_id: str | None
    passed_on: bool
    ticket: LineTicket | None


class InstructionsView(View):
    """What the buyer needs to pay; `qr_text` is the text of a QR code that fills in the transfer in a banking app.

    For `stripe` the page pays with `publishable_key` and `client_secret`, which only the response to `pay` has.
    """

    method: str
    reference: str
    cents: int
    currency: str
    account_holder: str
    iban: str
    bic: str
    qr_text: str
    publishable_key: str
    client_secret: str


class BuyerView(BaseModel):
    """Who is named on an order."""

    name: str
    email: str
    locale: str


class OrderSummary(EditedView):
    """An order in a list. `due_cents` is what the buyer still owes; negative: what is owed to the buyer.

    `dispute` is empty, or what a disputed payment has come to: `inquiry`, `open`, `won`, `lost`.
    """

    id: str
    number: str
    event_id: str
    event_mark: Mark | None  # cancelled, postponed or rescheduled
    state: State
    channel: str
    currency: str
    subtotal_cents: int
    discount_cents: int
    fees_cents: int
    tax_cents: int
    total_cents: int
    paid_cents: int
    refunded_cents: int
    due_cents: int
    method: str
    dispute: str
    admissions: int
    buyer: BuyerView
    expires_at: IsoTime | None
    due_at: IsoTime | None
    paid_at: IsoTime | None
    created_at: IsoTime


class ChoiceView(View):
    """A way to pay. Where it is not `available`, `code` and `message` are those with which `pay` would refuse it."""

    method: Method
    available: bool
    code: str
    message: str


class DisputeView(View):
    """A payment that the buyer disputes with the bank; `answer_by` is until when the organiser may answer.

    `reference` is what the payment service calls it.
    """

    reference: str
    state: str
    reason: str
    cents: int
    currency: str
    withdrawn_cents: int
    lost_cents: int
    blocked_tickets: list[str]
    answer_by: IsoTime | None
    opened_at: IsoTime
    closed_at: IsoTime | None


class OrderView(OrderSummary):
    """An order with its lines; `expires_at` is when it ends if it is not paid.

    `methods` are those of the shop, while the order can be paid; the box office may note any.
    """

    unedited: ClassVar[frozenset[str]] = frozenset({"methods"})

    reason: str
    lines: list[LineView]
    payment: InstructionsView | None
    methods: list[ChoiceView]
    disputes: list[DisputeView]


class OrdersView(BaseModel):
    """A page of orders, the newest first."""

    items: list[OrderSummary]
    next: str | None


class LinkView(BaseModel):
    """The secret that opens an order without a session: it belongs behind the # of a link, never into a log."""

    order_id: str
    secret: str


class OrdersQuery(PageQuery):
    """Which orders to list; `search` looks into number, name and e-mail address of the buyer."""

    event: Id | None = None
    state: State | None = None
    dispute: Literal["inquiry", "open", "won", "lost"] | None = None
    search: Annotated[str, Field(max_length=100)] | None = None


def summary_of(row: OrderRow, balance: Balance, admissions: int, mark: Mark | None) -> OrderSummary:
    """An order in a list."""
    return OrderSummary.of(row, **_derived(row, balance, admissions), event_mark=mark)


def _derived(row: OrderRow, balance: Balance, admissions: int) -> dict[str, object]:
    pending = row.state == "pending" and row.remaining_ms is None
    return {
        "paid_cents": balance.paid,
        "refunded_cents": balance.paid_out,
        "due_cents": balance.due,
        "admissions": admissions,
        "buyer": BuyerView(name=row.buyer_name, email=row.buyer_email, locale=row.buyer_locale),
        "expires_at": row.expires_at if pending else None,
    }


def order_view(
    row: OrderRow,
    lines: Sequence[OrderLineRow],
    tickets: Mapping[int, Ticket],
    balance: Balance,
    instructions: Instructions | None,
    *,
    choices: Iterable[Choice],
    mark: Mark | None,
    dates: tuple[str, ...],
    disputes: Iterable[DisputeRow],
) -> OrderView:
    """An order with its lines and their tickets; `dates` are the days of its event."""
    return OrderView.of(
        row,
        **_derived(row, balance, len(lines)),
        event_mark=mark,
        lines=[_line_view(line, tickets, dates) for line in lines],
        payment=None if instructions is None else InstructionsView.of(instructions),
        methods=[ChoiceView.of(choice) for choice in choices],
        disputes=[DisputeView.of(each) for each in disputes],
    )


def _line_view(line: OrderLineRow, tickets: Mapping[int, Ticket], dates: tuple[str, ...]) -> LineView:
    row = None if line.ticket_id is None else tickets.get(line.ticket_id)
    shown = (
        None
        if row is None
        else LineTicket(
            id=public_id(row.id),
            number=row.number,
            confirmation_code=row.confirmation_code,
            state=TicketState(row.state).name.lower(),
        )
    )
    days = list(ChosenDays(dates, line.valid_days).names)
    # A guest may have been moved since the order was made: where there is a ticket, it knows the seat.
    seat = (row.seat_id, printed_seat(row).label) if row is not None and row.seat else (line.seat_name, line.seat_label)
    return LineView.of(line, seat_id=seat[0], seat_label=seat[1], days=days, ticket=shown)
