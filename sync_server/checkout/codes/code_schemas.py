"""Schemas of requests and responses about codes."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from sync_server.checkout.codes.signing import LENGTH, MAX_CODES
from sync_server.checkout.codes.spending import Redeemed
from sync_server.checkout.models import CodeBatchRow
from sync_server.plumbing.api.schemas import IsoTime, RequestBody, Time, View, WholeList
from sync_server.tickets.queries import TicketType
from sync_server.tickets.types.remaining import Remaining

Code = Annotated[str, Field(min_length=LENGTH, max_length=40)]
Codes = Annotated[list[Code], Field(max_length=5)]
TypeNumbers = Annotated[list[Annotated[int, Field(ge=1, le=65535)]], Field(max_length=50)]


class NewBatch(RequestBody):
    """A batch of codes for an event, each of which `max_uses` orders can use.

    A `discount` takes `percent` or `cents` off each ticket or off the order (`per`), of the `ticket_types` that are
    listed, or of all. A `presale` opens the `ticket_types` that are listed: hidden ones, and before their sale starts;
    with `opens_sale` also before the event's own sale begins.
    """

    kind: Literal["discount", "presale"]
    name: Annotated[str, Field(min_length=1, max_length=100)]
    codes: Annotated[int, Field(ge=1, le=MAX_CODES)] = 1
    max_uses: Annotated[int, Field(ge=1, le=100_000)] = 1
    percent: Annotated[int, Field(ge=0, le=100)] = 0
    cents: Annotated[int, Field(ge=0, le=999_999)] = 0
    per: Literal["order", "ticket"] = "ticket"
    ticket_types: TypeNumbers = Field(default_factory=list)
    opens_sale: bool = False
    valid_from: Time | None = None
    valid_until: Time | None = None

    @model_validator(mode="after")
    def _one_worth(self) -> Self:
        if self.kind == "discount" and bool(self.percent) == bool(self.cents):
            raise ValueError("a discount has either `percent` or `cents`")
        if self.kind == "presale" and (self.percent or self.cents or not self.ticket_types):
            raise ValueError("a presale names the `ticket_types` that it opens, and neither `percent` nor `cents`")
        if self.kind == "discount" and self.opens_sale:
            raise ValueError("only a presale has `opens_sale`")
        if self.valid_from is not None and self.valid_until is not None and self.valid_from >= self.valid_until:
            raise ValueError("`valid_from` lies before `valid_until`")
        return self


class BatchView(View):
    """A batch of codes; `uses` counts orders that stand."""

    number: int
    kind: str
    name: str
    codes: int
    max_uses: int
    percent: int
    cents: int
    per: str
    ticket_types: list[int]
    opens_sale: bool
    valid_from: IsoTime | None
    valid_until: IsoTime | None
    revoked_at: IsoTime | None
    created_at: IsoTime
    uses: int


class BatchesView(WholeList):
    """The batches of an event, the first one first."""

    items: list[BatchView]


class OfferView(View):
    """A ticket type as the shop sells it now; `left` is what can still be ordered of it.

    At an event of several days `left_by_day` says it for each date of the type, and `left` is the most of these.
    """

    number: int
    name: str
    description: str
    kind: str
    price_cents: int
    fee_cents: int
    tax_rate: int
    currency: str
    zone: int
    min_per_order: int
    max_per_order: int
    sale_start_at: IsoTime | None
    sale_end_at: IsoTime | None
    on_sale: bool
    opened_by_code: bool
    left: int
    left_by_day: dict[str, int]


class DiscountView(View):
    """What a code takes off."""

    name: str
    percent: int
    cents: int
    per: str
    ticket_types: list[int]


class OffersView(WholeList):
    """The ticket types of an event that the shop sells, and the discount of the code that was sent."""

    items: list[OfferView]
    discount: DiscountView | None


def batch_view(row: CodeBatchRow, uses: int) -> BatchView:
    """A batch as its organiser sees it."""
    return BatchView.of(row, uses=uses)


def offer_view(row: TicketType, remaining: Remaining, redeemed: Redeemed, now: int, *, begun: bool) -> OfferView:
    """A ticket type as a visitor who showed these codes sees it; `begun` is whether the event's own sale has."""
    by_code = row.number in redeemed.opened
    early = row.sale_start_at is not None and now < row.sale_start_at and not by_code
    early = early or (not begun and row.number not in redeemed.opened_early)
    over = row.sale_end_at is not None and now > row.sale_end_at
    left = {"left": remaining.most, "left_by_day": dict(remaining.by_day)}
    return OfferView.of(row, on_sale=not early and not over, opened_by_code=by_code, **left)
