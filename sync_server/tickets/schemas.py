"""Schemas of requests and responses about ticket types and tickets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, model_validator

from shared.tickets import Entitlement
from shared.wire.snapshot import TicketState
from sync_server.plumbing.api.edits import EditedView
from sync_server.plumbing.api.one_line import SEVERAL_LINES
from sync_server.plumbing.api.schemas import (
    Dates,
    Id,
    IsoTime,
    Name,
    PatchBody,
    Query,
    Reason,
    RequestBody,
    Time,
    View,
    WholeList,
)
from sync_server.seating.zone_access.entitlements import Bearer
from sync_server.seating.zone_access.guest_list_schemas import GuestName
from sync_server.tickets import rules
from sync_server.tickets.issuance.bearers import Issuer, MembershipReference
from sync_server.tickets.issuance.issue_request import IssueRequest, Member
from sync_server.tickets.models import TicketRecord, TicketTypeRecord
from sync_server.tickets.queries import JoinedTicket, public_id

EntitlementName = Literal[
    "single_entry", "limited_reentry_per_day", "unlimited_reentry", "unlimited_multi_day", "ga_seated", "ga_standing"
]
Flag = Literal["wheelchair", "companion", "companion_reserved", "vip", "membership", "exempt"]
Kind = Annotated[str, Field(min_length=1, max_length=30)]
"""`general`, `vip`, `early_bird`, or a word of the organiser's own."""
Cents = Annotated[int, Field(ge=0, le=999_999)]
TaxRate = Annotated[int, Field(ge=0, le=10_000)]
"""In basis points: 1900 is 19 %."""
PerOrder = Annotated[int, Field(ge=1, le=100)]
Quantity = Annotated[int, Field(ge=1, le=1_000_000)]
Days = Annotated[list[Annotated[int, Field(ge=1, le=400)]], Field(max_length=400)]
Limit = Annotated[int, Field(ge=1, le=255)]
State = Literal["valid", "cancelled", "blocked", "unpaid"]


class NewTicketType(RequestBody):
    """A new ticket type; prices are whole cents. Without `valid_days` it is valid on every event day.

    The buyer pays `price_cents` and `fee_cents` for each ticket; both include tax at `tax_rate`, in basis points. A
    `hidden` type is not sold in the shop.
    """

    name: Name
    description: Annotated[str, Field(max_length=1000), SEVERAL_LINES] = ""
    kind: Kind = "general"
    price_cents: Cents
    fee_cents: Cents = 0
    tax_rate: TaxRate = 0
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")] | None = None
    quantity: Quantity
    zone: Annotated[int, Field(ge=0, le=65535)] = 0
    entitlement: EntitlementName = "single_entry"
    entry_limit: Limit | None = None
    valid_days: Days = Field(default_factory=list)
    flags: Annotated[list[Flag], Field(max_length=6)] = Field(default_factory=list)
    check_words: Annotated[str, Field(max_length=100)] = ""
    not_before_at: Time | None = None
    not_after_at: Time | None = None
    sale_start_at: Time | None = None
    sale_end_at: Time | None = None
    min_per_order: PerOrder = 1
    max_per_order: PerOrder = 10
    hidden: bool = False
    position: Annotated[int, Field(ge=0, le=1_000_000)] = 0


class ChangeTicketType(PatchBody):
    """Changes to a ticket type; tickets already issued keep what they were issued with."""

    clearable = frozenset({"entry_limit", "not_before_at", "not_after_at", "sale_start_at", "sale_end_at"})

    name: Name | None = None
    description: Annotated[str, Field(max_length=1000), SEVERAL_LINES] | None = None
    kind: Kind | None = None
    price_cents: Cents | None = None
    fee_cents: Cents | None = None
    tax_rate: TaxRate | None = None
    quantity: Quantity | None = None
    zone: Annotated[int, Field(ge=0, le=65535)] | None = None
    entitlement: EntitlementName | None = None
    entry_limit: Limit | None = None
    valid_days: Days | None = None
    flags: Annotated[list[Flag], Field(max_length=6)] | None = None
    check_words: Annotated[str, Field(max_length=100)] | None = None
    not_before_at: Time | None = None
    not_after_at: Time | None = None
    sale_start_at: Time | None = None
    sale_end_at: Time | None = None
    min_per_order: PerOrder | None = None
    max_per_order: PerOrder | None = None
    hidden: bool | None = None
    position: Annotated[int, Field(ge=0, le=1_000_000)] | None = None


class TicketTypeView(EditedView):
    """A ticket type; `reserved` tickets belong to orders that are not paid yet.

    At an event of several days `taken_by_day` counts both by date, because the quantity is for each day.
    """

    unedited = frozenset({"issued", "reserved", "taken_by_day"})

    number: int
    name: str
    description: str
    kind: str
    price_cents: int
    fee_cents: int
    tax_rate: int
    currency: str
    quantity: int
    issued: int
    reserved: int
    taken_by_day: dict[str, int]
    zone: int
    entitlement: str
    entry_limit: int | None
    valid_days: list[int]
    flags: list[str]
    check_words: str
    not_before_at: IsoTime | None
    not_after_at: IsoTime | None
    sale_start_at: IsoTime | None
    sale_end_at: IsoTime | None
    min_per_order: int
    max_per_order: int
    hidden: bool
    position: int


def type_view(row: TicketTypeRecord, taken_by_day: Mapping[str, int]) -> TicketTypeView:
    """A ticket type as organisers see it; how many are taken by date, at an event of several days."""
    issued = row.issued - row.reserved
    return TicketTypeView.of(row, **_validity(row), issued=issued, taken_by_day=dict(taken_by_day))


def _validity(row: TicketTypeRecord | TicketRecord) -> dict[str, Any]:
    """What a ticket allows, and when, in words."""
    return {
        "entitlement": Entitlement(row.entitlement).name.lower(),
        "entry_limit": row.entry_limit or None,
        "valid_days": rules.days_list(row.valid_days),
        "flags": rules.names_of(row.flags),
        "not_before_at": row.not_before * 1000 or None,
        "not_after_at": row.not_after * 1000 or None,
    }


class TicketTypesView(WholeList):
    """The ticket types of an event."""

    items: list[TicketTypeView]


class Membership(RequestBody):
    """The membership that a ticket depends on, by its `id`.

    `tier` and `until` without an id are not verified: gates ask for the tier, but it opens no zone of a layout.
    """

    id: Annotated[str, Field(min_length=1, max_length=36)] | None = None
    tier: Annotated[str, Field(min_length=1, max_length=40)] | None = None
    until: Time | None = None

    @model_validator(mode="after")
    def _named(self) -> Self:
        if self.id is None and self.tier is None:
            raise ValueError("name the membership by its `id`")
        return self

    def reference(self) -> MembershipReference:
        """The reference to resolve."""
        return MembershipReference(self.id or "", self.tier or "", self.until)


class RequestedSeat(RequestBody):
    """A seat: by its `seat_id` if the event has a layout, else by what is printed on it.

    `membership` and `guest` are for this seat only, where its guest differs from the others.
    """

    seat_id: Annotated[str, Field(min_length=1, max_length=80)] | None = None
    section: Annotated[str, Field(max_length=60)] = ""
    row: Annotated[str, Field(max_length=20)] = ""
    number: Annotated[str, Field(max_length=20)] = ""
    holder_name: Annotated[str, Field(max_length=100)] = ""
    membership: Membership | None = None
    guest: GuestName | None = None

    @model_validator(mode="after")
    def _exactly_one_way(self) -> Self:
        if (self.seat_id is None) == (not self.number):
            raise ValueError("name a seat either by its `seat_id`, or by its `row` and `number`")
        return self

    @property
    def own(self) -> bool:
        """Whether the seat names its own guest."""
        return self.membership is not None or self.guest is not None

    def seat(self) -> rules.Seat:
        """The printed seat."""
        return rules.Seat(self.row, self.number, self.holder_name, self.section, self.seat_id or "")


class IssueTickets(RequestBody):
    """Tickets to issue: `count` of a type, or one for each of `seats`.

    Seats of a layout need no `ticket_type` if their zone or price category decides it. `guest` names a guest on a
    zone's list, `joins` an earlier ticket of the same group, and `override` the reason for overriding access and
    accessibility rules. `holds` are the buyer's holds, which are converted into these tickets. `days` are dates of the
    event, for tickets that are not for all days of their type; without them a ticket has the days of its hold.
    """

    ticket_type: Annotated[int, Field(ge=1, le=65535)] | None = None
    count: Annotated[int, Field(ge=1, le=rules.MAX_TICKETS_PER_REQUEST)] | None = None
    seats: Annotated[list[RequestedSeat], Field(min_length=1, max_length=rules.MAX_TICKETS_PER_REQUEST)] | None = None
    holder_name: Annotated[str, Field(max_length=100)] = ""
    flags: Annotated[list[Flag], Field(max_length=6)] = Field(default_factory=list)
    notes: Annotated[str, Field(max_length=200), SEVERAL_LINES] = ""
    unpaid: bool = False
    membership: Membership | None = None
    guest: GuestName | None = None
    joins: Annotated[str, Field(pattern="^[0-9a-f]{16}$")] | None = None
    override: Annotated[str, Field(min_length=3, max_length=1000), SEVERAL_LINES] | None = None
    holds: Annotated[list[Id], Field(max_length=200)] = Field(default_factory=list)
    days: Dates | None = None

    @model_validator(mode="after")
    def _exactly_one_way(self) -> Self:
        if (self.count is None) == (self.seats is None):
            raise ValueError("send either `count` or `seats`")
        if self.ticket_type is None and not all(seat.seat_id for seat in self.seats or [RequestedSeat(number="-")]):
            raise ValueError("name the `ticket_type`: only seats of a layout can do without")
        return self

    def issue_request(self, issuer: Issuer, joined: JoinedTicket) -> IssueRequest:
        """The request with its memberships and guests resolved; the tickets join the group of `joined`."""
        seats = self.seats or []
        own = {index: self._bearer(seat, issuer) for index, seat in enumerate(seats) if seat.own}
        bearer, member = self._bearer(self, issuer)
        return IssueRequest(
            ticket_type=self.ticket_type or 0,
            count=self.count or 0,
            seats=[seat.seat() for seat in seats],
            holder_name=self.holder_name,
            flags=self.flags,
            notes=self.notes,
            unpaid=self.unpaid,
            member=member,
            bearer=bearer,
            bearers=own,
            joins=joined.seat,
            group_id=joined.group_id,
            override=self.override or "",
            holds=self.holds,
            dates=tuple(self.days or ()),
        )

    @staticmethod
    def _bearer(body: RequestedSeat | IssueTickets, issuer: Issuer) -> tuple[Bearer, Member | None]:
        names = frozenset({body.guest.known_as(issuer.organisation_id, issuer.sealer)} if body.guest else ())
        return issuer.bearer(body.membership.reference() if body.membership else None, names)


class TicketView(View):
    """A ticket. Its code is a separate resource."""

    id: str
    event_id: str
    number: str
    confirmation_code: str
    state: State
    issue: int
    key_id: int
    ticket_type: int
    zone: int
    seat_id: str
    section: str
    seat_row: str
    seat_number: str
    party: str
    entitlement: str
    entry_limit: int | None
    valid_days: list[int]
    flags: list[str]
    not_before_at: IsoTime | None
    not_after_at: IsoTime | None
    membership_tier: str
    associated_membership_id: str | None
    holder_name: str
    notes: str
    price_cents: int
    currency: str
    issued_at: IsoTime


def ticket_view(row: TicketRecord) -> TicketView:
    """A ticket as organisers see it."""
    return TicketView.of(
        row,
        **_validity(row),
        id=public_id(row.id),
        state=TicketState(row.state).name.lower(),
        party=row.group_id,
        associated_membership_id=row.membership_id or None,
        issued_at=row.issued_at * 1000,
    )


class IssuedView(BaseModel):
    """The issued tickets."""

    items: list[TicketView]


class TicketsView(BaseModel):
    """A page of tickets."""

    items: list[TicketView]
    next: str | None


class TicketsQuery(Query):
    """Which tickets to list."""

    limit: Annotated[int, Field(ge=1, le=1000)] = 100
    after: Annotated[str, Field(max_length=400)] | None = None
    state: State | None = None
    ticket_type: Annotated[int, Field(ge=1, le=65535)] | None = None
    number: Annotated[str, Field(max_length=24)] | None = None
    confirmation_code: Annotated[str, Field(max_length=8)] | None = None


class CodeQuery(Query):
    """The format of the code."""

    format: Literal["json", "text", "svg", "png"] = "json"


class CodeView(BaseModel):
    """A ticket's code, as printed, and its issue number."""

    ticket_id: str
    number: str
    issue: int
    code: str


class CodesQuery(Query):
    """Which codes to list."""

    limit: Annotated[int, Field(ge=1, le=2000)] = 500
    after: Annotated[str, Field(max_length=400)] | None = None
    ticket_type: Annotated[int, Field(ge=1, le=65535)] | None = None


class CodesView(BaseModel):
    """A page of codes."""

    items: list[CodeView]
    next: str | None


class TicketReason(RequestBody):
    """The reason for a change of a ticket, for the audit log."""

    reason: Reason = ""
