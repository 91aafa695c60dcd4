"""States of orders and their lines, the transitions between them, and what an order may contain: pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Protocol

from shared.errors import Conflict, InvalidRequest

MAX_ADMISSIONS: Final = 200
"""In one order; the policy of seating limits what one guest may hold, and so buy."""
ONLINE: Final = frozenset({"stripe"})
"""The methods of payment services, which can pay back by themselves."""


class OrderState(StrEnum):
    """What became of an order."""

    PENDING = "pending"
    PAID = "paid"
    PARTIALLY_REFUNDED = "partially_refunded"
    REFUNDED = "refunded"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


class LineState(StrEnum):
    """What became of one admission of an order."""

    ORDERED = "ordered"
    ISSUED = "issued"
    REFUNDED = "refunded"
    RELEASED = "released"  # with its order, which was not paid


class PayoutState(StrEnum):
    """What became of money that a payment service is to pay back."""

    WAITING = "waiting"
    MADE = "made"
    FAILED = "failed"


class Channel(StrEnum):
    """Where an order was made."""

    SHOP = "shop"
    BOX_OFFICE = "box_office"


_S = OrderState

TRANSITIONS: Final[Mapping[OrderState, frozenset[OrderState]]] = MappingProxyType(
    {
        _S.PENDING: frozenset({_S.PAID, _S.CANCELLED, _S.EXPIRED}),
        _S.PAID: frozenset({_S.PARTIALLY_REFUNDED, _S.REFUNDED}),
        _S.PARTIALLY_REFUNDED: frozenset({_S.PARTIALLY_REFUNDED, _S.REFUNDED}),
        _S.EXPIRED: frozenset({_S.PAID}),  # paid late, while its seats were still free
        _S.REFUNDED: frozenset(),
        _S.CANCELLED: frozenset(),
    }
)
OPEN: Final = frozenset(state for state, following in TRANSITIONS.items() if _S.CANCELLED in following)
PAYABLE: Final = frozenset(state for state, following in TRANSITIONS.items() if _S.PAID in following)
REFUNDABLE: Final = frozenset(state for state, following in TRANSITIONS.items() if _S.REFUNDED in following)


def require_transition(old: OrderState, new: OrderState) -> None:
    """Conflict `invalid_order_state` unless the table has this transition."""
    if new not in TRANSITIONS[old]:
        raise Conflict(
            f"The order is {_words(old)} and cannot become {_words(new)}.",
            code="invalid_order_state",
            old=str(old),
            new=str(new),
        )


def _words(state: OrderState) -> str:
    return state.value.replace("_", " ")


def state_after_refund(lines: Iterable[str]) -> OrderState:
    """The state of an order whose lines are in these states, some of them refunded."""
    return _S.PARTIALLY_REFUNDED if LineState.ISSUED in set(lines) else _S.REFUNDED


class TypeOnSale(Protocol):
    """What decides whether the shop sells a ticket type."""

    number: int
    name: str
    hidden: bool
    min_per_order: int
    max_per_order: int
    sale_start_at: int | None
    sale_end_at: int | None


def require_sold_in_shop(
    wanted: Counter[int], types: Mapping[int, TypeOnSale], opened: Collection[int], now: int
) -> None:
    """Refuse ticket types that the shop does not sell now, and numbers of them that it does not sell together.

    Those that a code has opened are sold although they are hidden, and before their sale starts.
    """
    for number, count in sorted(wanted.items()):
        row = types[number]
        if row.hidden and number not in opened:
            raise Conflict(f"“{row.name}” is not on sale here.", code="ticket_type_hidden", ticket_type=number)
        _require_window(row, now, opened=number in opened)
        if not row.min_per_order <= count <= row.max_per_order:
            raise InvalidRequest(
                f"An order has {row.min_per_order} to {row.max_per_order} of “{row.name}”, not {count}.",
                code="order_limit",
                ticket_type=number,
                min=row.min_per_order,
                max=row.max_per_order,
            )


def require_opened_early(wanted: Collection[int], types: Mapping[int, TypeOnSale], opened: Collection[int]) -> None:
    """Before the event's own sale begins, refuse ticket types that no code has opened for then."""
    for number in sorted(set(wanted) - set(opened)):
        raise Conflict(
            f"“{types[number].name}” is not on sale yet: your code opens other tickets.",
            code="ticket_type_not_on_sale",
            ticket_type=number,
        )


def _require_window(row: TypeOnSale, now: int, *, opened: bool) -> None:
    early = row.sale_start_at is not None and now < row.sale_start_at and not opened
    if early or (row.sale_end_at is not None and now > row.sale_end_at):
        raise Conflict(
            f"“{row.name}” is {'not on sale yet' if early else 'no longer on sale'}.",
            code="ticket_type_not_on_sale",
            ticket_type=row.number,
        )


def require_one_currency(currencies: Iterable[str]) -> str:
    """The currency of an order; InvalidRequest where its ticket types have several."""
    found = sorted(set(currencies))
    if len(found) != 1:
        raise InvalidRequest(
            f"One order has one currency, not {' and '.join(found)}. Order them separately.", code="mixed_currencies"
        )
    return found[0]
