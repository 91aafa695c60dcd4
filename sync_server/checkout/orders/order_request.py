"""What somebody asks for who makes an order: for whom, through which channel, and which holds as which ticket types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sync_server.checkout.orders.parcels import Access
from sync_server.checkout.rules import Channel
from sync_server.checkout.sessions.queries import Visit
from sync_server.checkout.sessions.rules import BOX_OFFICE
from sync_server.plumbing.event_key import EventKey


@dataclass(frozen=True, slots=True)
class Buyer:
    """Who is named on the order; nobody at the box office."""

    name: str = ""
    email: str = ""
    locale: str = ""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is ordered: a hold, a seat or some places, and as which ticket types; none lets the seats decide."""

    hold_id: str | None = None
    seat_name: str = ""
    types: Mapping[int, int] = field(default_factory=dict)  # how many by ticket type
    holder_name: str = ""


@dataclass(frozen=True, slots=True)
class OrderRequest:
    """A request to make an order at an event."""

    organisation_id: str
    event_id: str
    channel: Channel
    bearer_kind: str
    bearer_id: str
    chosen: Sequence[Chosen]
    buyer: Buyer = field(default_factory=Buyer)
    access: Access = field(default_factory=Access)
    tab: str = ""  # which has the pass of a queue
    codes: Sequence[str] = ()  # as they were typed

    @property
    def in_shop(self) -> bool:
        """Whether the rules of the shop apply: its sale windows, its limits, and only what the buyer holds."""
        return self.channel is Channel.SHOP

    @property
    def needs_slot(self) -> bool:
        """Whether the buyer needs a checkout session."""
        return self.in_shop and self.bearer_kind not in BOX_OFFICE

    @property
    def visit(self) -> Visit:
        """Who buys, as a guest of the checkout."""
        return Visit(EventKey(self.organisation_id, self.event_id), self.bearer_kind, self.bearer_id)
