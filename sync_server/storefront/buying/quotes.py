"""What the visitor is about to order, and what it comes to: shown beforehand, computed anew by the order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sync_server.checkout.codes import rules as code_rules
from sync_server.checkout.codes.spending import Redeemed
from sync_server.checkout.money import amounts as money
from sync_server.checkout.money.amounts import Amounts
from sync_server.checkout.orders.order_request import Chosen
from sync_server.storefront.buying.baskets import Basket
from sync_server.storefront.buying.holding import Held
from sync_server.storefront.windows import TypeOffer


@dataclass(slots=True)
class _Priced:
    """One admission, before it is a line of an order."""

    ticket_type: int
    unit_cents: int
    discount_cents: int
    fee_cents: int
    tax_cents: int
    tax_rate: int


@dataclass(frozen=True, slots=True)
class QuoteLine:
    """What is chosen of one ticket type: a seat, or some places."""

    hold_id: str
    seat: str  # in words
    offer: TypeOffer
    count: int
    others: Sequence[TypeOffer]  # the types that the seat could be bought as instead
    dates: Sequence[str]  # on which days it admits; none at an event of one day

    @property
    def has_choice(self) -> bool:
        """Whether the seat could be bought as another type."""
        return len(self.others) > 1

    @property
    def cents(self) -> int:
        """Together, before a discount."""
        return self.count * self.offer.each_cents


@dataclass(frozen=True, slots=True)
class Quote:
    """All of it."""

    lines: Sequence[QuoteLine]
    amounts: Amounts
    currency: str
    chosen: Sequence[Chosen]

    @property
    def admissions(self) -> int:
        """How many may come in."""
        return sum(line.count for line in self.lines)


def quote(held: Sequence[Held], offers: Sequence[TypeOffer], basket: Basket, redeemed: Redeemed) -> Quote | None:
    """What these holds come to as the chosen ticket types; None where something is held that nothing is sold for."""
    lines: list[QuoteLine] = []
    chosen: list[Chosen] = []
    for each in held:
        types = each.sold_as(offers, redeemed.opened)
        counts = _counts(each, types, basket)
        if not counts:
            return None
        by_number = {offer.number: offer for offer in types}
        chosen.append(Chosen(each.id, types=counts))
        lines.extend(
            QuoteLine(each.id, each.seat, offer, count, types if each.numbered else (), offer.dates_within(each.dates))
            for offer, count in ((by_number[number], count) for number, count in counts.items())
        )
    currency = lines[0].offer.currency if lines else ""
    return Quote(lines, money.amounts_of(_priced(lines, redeemed)), currency, chosen)


def _counts(held: Held, types: Sequence[TypeOffer], basket: Basket) -> Mapping[int, int]:
    """How many of which type: as chosen, where that adds up; else all of the first."""
    known = [offer.number for offer in types]
    if not known:
        return {}
    if held.numbered:
        number = basket.seats.get(held.id, known[0])
        return {number if number in known else known[0]: 1}
    of_these_days = [number for number in known if basket.dates_of(number) == held.dates]
    wanted = {number: basket.count_of(number) for number in of_these_days if basket.count_of(number)}
    return wanted if sum(wanted.values()) == held.quantity else {known[0]: held.quantity}


def _priced(lines: Iterable[QuoteLine], redeemed: Redeemed) -> Sequence[_Priced]:
    priced = [
        _Priced(line.offer.number, line.offer.price_cents, 0, line.offer.fee_cents, 0, line.offer.tax_rate)
        for line in lines
        for _ in range(line.count)
    ]
    if redeemed.discount is not None:
        given = code_rules.discounts(redeemed.discount, [(each.ticket_type, each.unit_cents) for each in priced])
        for each, off in zip(priced, given, strict=True):
            each.discount_cents = off
    for each in priced:
        paid = each.unit_cents - each.discount_cents + each.fee_cents
        each.tax_cents = money.tax_included(paid, each.tax_rate)
    return priced
