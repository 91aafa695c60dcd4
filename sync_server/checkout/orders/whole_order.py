"""An order with all that belongs to it, as the transaction that makes or pays it knows it: nothing is read again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sync_server.checkout.models import OrderLineRow, OrderRow
from sync_server.checkout.money.ledger import Balance
from sync_server.tickets.queries import Ticket


@dataclass(frozen=True, slots=True)
class WholeOrder:
    """An order, its lines in their order, and the tickets that were issued for them."""

    order: OrderRow
    lines: Sequence[OrderLineRow]
    balance: Balance
    tickets: Mapping[int, Ticket] = field(default_factory=dict)  # by id
