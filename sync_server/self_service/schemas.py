"""Requests and responses about what buyers do alone."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from sync_server.events.rules import Mark
from sync_server.plumbing.api.edits import EditedView
from sync_server.plumbing.api.schemas import IsoTime, PatchBody, RequestBody, View, WholeList
from sync_server.self_service.models import SelfServiceSettingsRow

Email = Annotated[str, Field(min_length=3, max_length=254)]
PersonName = Annotated[str, Field(min_length=1, max_length=100)]
Code = Annotated[str, Field(min_length=1, max_length=200)]


class OwnTicket(View):
    """A ticket of the customer. While `offered_until` is set it is offered to somebody, and still the customer's."""

    id: str
    number: str
    order_id: str
    event_id: str
    event_name: str
    event_mark: Mark | None  # cancelled, postponed or rescheduled
    starts_at: IsoTime
    ticket_type_name: str
    seat_label: str
    holder_name: str
    state: str
    received: bool  # from somebody else
    offered_until: IsoTime | None


class OwnTickets(WholeList):
    """The tickets of the customer, the latest orders first."""

    items: list[OwnTicket]


class LinkMembership(RequestBody):
    """The code of the card, or the number of the membership."""

    membership: Annotated[str, Field(min_length=1, max_length=100)]


class LinkedMembership(View):
    """The membership that the customer has linked."""

    id: str
    tier: str
    until: IsoTime | None


class OfferTicket(RequestBody):
    """To whom a ticket is given: the mail says that it is from `giver`, in the language `locale`."""

    email: Email
    giver: Annotated[str, Field(max_length=100)] = ""
    locale: Annotated[str, Field(pattern="^[a-z]{2}(-[A-Z]{2})?$")] | None = None


class TransferView(View):
    """A ticket that was offered to somebody."""

    id: str
    ticket_id: str
    state: Literal["offered", "accepted", "declined", "withdrawn", "lapsed"]
    recipient_email: str
    ends_at: IsoTime


class TransferCode(RequestBody):
    """The code of a link: what stands behind its #."""

    code: Code


class AcceptTransfer(RequestBody):
    """The code of a link, and the name of whoever comes with the ticket."""

    code: Code
    name: PersonName


class OfferedTicket(View):
    """What is offered by a link."""

    event_id: str
    event_name: str
    event_mark: Mark | None  # cancelled, postponed or rescheduled
    starts_at: IsoTime
    ticket_type_name: str
    seat_label: str
    ends_at: IsoTime


class AcceptedTicket(View):
    """The recipient's ticket; `secret`, sent as `X-Ticket-Secret`, opens it without a login."""

    ticket_id: str
    number: str
    event_id: str
    holder_name: str
    secret: str


class CancelLines(RequestBody):
    """Lines of the order to give back; none for all that are left. With `preview` nothing is changed."""

    lines: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1, max_length=200)] | None = None
    preview: bool = False


class CancellationView(View):
    """What giving back comes to: `refund_cents` of `paid_cents` are owed back, `kept_cents` are kept."""

    lines: list[int]
    paid_cents: int
    kept_cents: int
    refund_cents: int
    done: bool


class SelfServiceView(EditedView):
    """What buyers may do alone, and until when before the event starts."""

    transfers: bool
    max_transfers: int
    transfer_days: int
    transfer_until_minutes: int
    cancellations: bool
    cancel_until_hours: int
    cancel_fee_cents: int


class ChangeSelfService(PatchBody):
    """Changes to what buyers may do alone; what is left out stays."""

    transfers: bool | None = None
    max_transfers: Annotated[int, Field(ge=1, le=20)] | None = None
    transfer_days: Annotated[int, Field(ge=1, le=30)] | None = None
    transfer_until_minutes: Annotated[int, Field(ge=0, le=43_200)] | None = None
    cancellations: bool | None = None
    cancel_until_hours: Annotated[int, Field(ge=0, le=8_760)] | None = None
    cancel_fee_cents: Annotated[int, Field(ge=0, le=1_000_000)] | None = None


def settings_view(row: SelfServiceSettingsRow) -> SelfServiceView:
    """The settings."""
    return SelfServiceView.of(row)
