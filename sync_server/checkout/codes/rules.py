"""What codes are worth: discounts in whole cents for each admission, and what a presale opens; pure."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, Protocol

from shared.clock import Millis
from shared.errors import Conflict, NotFound
from sync_server.accounts.rules import Limit

GUESSES: Final = Limit("codes typed in from", 20, 1_000, 60_000, 3_600_000)
"""Of one network. A code that is right is not counted."""


class CodeKind(StrEnum):
    """What a code does."""

    DISCOUNT = "discount"
    PRESALE = "presale"


class Per(StrEnum):
    """Of what a discount is taken off."""

    ORDER = "order"
    TICKET = "ticket"


class Terms(Protocol):
    """What a batch of codes gives."""

    kind: str
    name: str
    percent: int
    cents: int
    per: str
    ticket_types: list[int]
    valid_from: Millis | None
    valid_until: Millis | None
    revoked_at: Millis | None


def unknown() -> NotFound:
    """What to say of a text that is no code of this event."""
    return NotFound("This event has no such code. Check it for typing mistakes.", code="unknown_code")


def require_valid(terms: Terms, now: Millis) -> None:
    """Conflict for a code whose batch was revoked, or is not valid now."""
    if terms.revoked_at is not None:
        raise Conflict("The organiser has withdrawn this code.", code="code_revoked")
    if terms.valid_from is not None and now < terms.valid_from:
        raise Conflict("This code is not valid yet.", code="code_not_valid", valid_from=terms.valid_from)
    if terms.valid_until is not None and now >= terms.valid_until:
        raise Conflict("This code is no longer valid.", code="code_not_valid", valid_until=terms.valid_until)


def spent() -> Conflict:
    """What to say of a code that was used as often as it may be."""
    return Conflict("This code has been used as often as it can be. Order without it.", code="code_spent")


def one_discount() -> Conflict:
    """Discounts do not add up."""
    return Conflict("An order can use only one discount code. Remove the others.", code="one_discount")


def discounts(terms: Terms, lines: Sequence[tuple[int, int]]) -> list[int]:
    """The discount of each admission, given as ticket type and price; never more than the price."""
    prices = [price if not terms.ticket_types or number in terms.ticket_types else 0 for number, price in lines]
    if terms.per == Per.TICKET:
        return [_off(terms, price) for price in prices]
    return _shared_out(_off(terms, sum(prices)), prices)


def _off(terms: Terms, price: int) -> int:
    """Percents are rounded half up to a cent."""
    return (price * terms.percent + 50) // 100 if terms.percent else min(terms.cents, price)


def _shared_out(off: int, prices: Sequence[int]) -> list[int]:
    """An amount shared out by price, to the cent: whoever has the largest remainder bears the cents that are left."""
    whole = sum(prices)
    if not whole:
        return [0] * len(prices)
    shares = [off * price // whole for price in prices]
    left = off - sum(shares)
    by_remainder = sorted(range(len(prices)), key=lambda index: (-(off * prices[index] % whole), index))
    for index in by_remainder[:left]:
        shares[index] += 1
    return shares


def require_applies(given: Sequence[int]) -> None:
    """Conflict where a discount takes nothing off: the code would be spent for nothing."""
    if not sum(given):
        raise Conflict(
            "This code does not reduce anything in your order. Keep it for another one.", code="code_not_applicable"
        )
