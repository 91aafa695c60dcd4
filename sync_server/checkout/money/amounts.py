"""Amounts in whole cents: the tax that they include, and what lines of an order come to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

BASIS_POINTS = 10_000


def tax_included(cents: int, rate: int) -> int:
    """The tax that an amount includes at a rate in basis points, rounded half up to whole cents."""
    whole = BASIS_POINTS + rate
    return (2 * cents * rate + whole) // (2 * whole)


class Priced(Protocol):
    """What one admission costs."""

    unit_cents: int
    discount_cents: int
    fee_cents: int
    tax_cents: int


@dataclass(frozen=True, slots=True)
class Amounts:
    """What several admissions cost together; the tax is included."""

    subtotal: int
    discount: int
    fees: int
    tax: int

    @property
    def tickets(self) -> int:
        """For the admissions themselves."""
        return self.subtotal - self.discount

    @property
    def total(self) -> int:
        """What the buyer pays."""
        return self.tickets + self.fees


def amounts_of(lines: Iterable[Priced]) -> Amounts:
    """The sums of these lines."""
    listed = list(lines)
    return Amounts(
        sum(line.unit_cents for line in listed),
        sum(line.discount_cents for line in listed),
        sum(line.fee_cents for line in listed),
        sum(line.tax_cents for line in listed),
    )


def less(amounts: Amounts, cents: int) -> Amounts:
    """These amounts without so many cents, but never below nothing: first of the admissions, then of the fees."""
    of_tickets = min(cents, amounts.tickets)
    of_fees = min(cents - of_tickets, amounts.fees)
    return replace(amounts, discount=amounts.discount + of_tickets, fees=amounts.fees - of_fees)


def decimal(cents: int) -> str:
    """An amount with its point: 12.05."""
    return f"{cents // 100}.{cents % 100:02}"
