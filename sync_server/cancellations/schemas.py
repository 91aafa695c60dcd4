"""Requests and responses about events that are called off."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from sync_server.cancellations.models import CancellationRow
from sync_server.cancellations.rules import Choice
from sync_server.cancellations.service import Wanted
from sync_server.checkout.payments.owing import Affected, Owed, Totals
from sync_server.plumbing.api.schemas import IsoTime, Reason, RequestBody, Time, View


class AffectedQuery(BaseModel):
    """How refunds would be made."""

    keep_fees: bool = False


class AffectedView(View):
    """Whom it concerns if the event is called off, and how much: `by_hand_cents` the box office has to pay back."""

    event_mark: str | None  # whether it is cancelled, postponed or rescheduled now
    orders: int
    tickets: int
    tickets_without_order: int  # issued by hand or imported: nothing is refunded for them
    cents: int
    by_itself_cents: int
    by_hand_cents: int
    unpaid_orders: int  # these end at once


class CallOff(RequestBody):
    """What buyers of the event get; `orders` is how many are affected, as seen before.

    `end_others` says whether tickets end that no order has; without it they do where orders are refunded.
    """

    choice: Literal["nothing", "refund", "another_date"]
    orders: Annotated[int, Field(ge=0)]
    reason: Reason = ""
    keep_fees: bool = False
    new_date: Time | None = None
    keep_until: Time | None = None
    end_others: bool | None = None

    def wanted(self) -> Wanted:
        """What is confirmed."""
        named = self.model_dump(exclude={"choice"})
        return Wanted(choice=Choice(self.choice), **named)


class CancellationView(View):
    """What buyers get, how far the job is, and what became of the money."""

    event_id: str
    event_mark: str | None
    choice: str
    state: str
    reason: str
    keep_fees: bool
    orders: int
    tickets: int
    cents: int
    done_orders: int
    failed_orders: int
    other_tickets: int  # that no order has, and that end
    ended_tickets: int  # of these
    percent: int
    waiting_cents: int  # that payment services are to pay back
    paid_back_cents: int  # that they have paid back
    owed_orders: int  # that the box office has to pay back
    owed_cents: int
    kept: int  # buyers who keep their tickets for the new date, and have said so
    refunded: int
    new_date: IsoTime | None
    keep_until: IsoTime | None
    begun_at: IsoTime
    finished_at: IsoTime | None


class OwedView(BaseModel):
    """An order whose buyer is owed money that no payment service pays back."""

    order_id: str
    number: str
    state: str
    method: str
    cents: int
    currency: str
    buyer_name: str
    buyer_email: str


class OwedListView(BaseModel):
    """A page of them, by order."""

    items: list[OwedView]
    next: str | None


class OfferView(View):
    """Another date, until when the buyer may choose, and what was chosen; without an answer the tickets are kept."""

    new_date: IsoTime
    keep_until: IsoTime
    answer: Literal["keep", "refund"] | None
    open: bool


class AnswerBody(RequestBody):
    """Keep the tickets for the new date, or have the money back."""

    answer: Literal["keep", "refund"]


def affected_view(found: Affected, mark: str | None, others: int) -> AffectedView:
    """As the organiser sees it before."""
    return AffectedView.of(found, event_mark=mark, tickets_without_order=others)


def cancellation_view(
    row: CancellationRow, mark: str | None, money: dict[str, int], owed: Totals, answers: dict[str, int]
) -> CancellationView:
    """As the organiser sees it afterwards."""
    dealt_with, all_of_it = row.done_orders + row.failed_orders + row.ended_tickets, row.orders + row.other_tickets
    percent = 100 if row.state == "done" else min(99, dealt_with * 100 // all_of_it) if all_of_it else 0
    return CancellationView.of(
        row,
        event_mark=mark,
        percent=percent,
        waiting_cents=money["waiting"],
        paid_back_cents=money["made"],
        owed_orders=owed.orders,
        owed_cents=owed.cents,
        kept=answers["keep"],
        refunded=answers["refund"],
    )


def owed_view(owed: Owed) -> OwedView:
    """As the box office sees it."""
    order = owed.order
    return OwedView(
        order_id=order.id,
        number=order.number,
        state=order.state,
        method=order.method,
        cents=owed.cents,
        currency=order.currency,
        buyer_name=order.buyer_name,
        buyer_email=order.buyer_email,
    )
