"""The ledger of an order: double entries that are only ever added, and the balances that follow from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sync_server.checkout.models import MoneyMovementRow, OrderRow
from sync_server.checkout.money.amounts import Amounts
from sync_server.plumbing.requests.principals import ActionContext


class Account(StrEnum):
    """Where money, or a claim to it, stands."""

    BUYER = "buyer"  # what the buyer of the order owes
    TICKETS = "tickets"
    FEES = "fees"
    CASH = "cash"
    CARD = "card"
    BANK = "bank"
    STRIPE = "stripe"
    DISPUTED = "disputed"  # withdrawn by a bank, which has not decided yet
    COSTS = "costs"  # what payment services charge the organiser


class Kind(StrEnum):
    """Why money moved."""

    CHARGE = "charge"  # the order was made
    REVERSAL = "reversal"  # it ended without being paid
    PAYMENT = "payment"
    CREDIT = "credit"  # lines were refunded
    PAYOUT = "payout"
    RETURN = "return"  # a payout came back: it did not reach the buyer
    WITHDRAWAL = "withdrawal"  # a buyer disputes a payment, and its bank takes the money back
    REINSTATED = "reinstated"  # it came back
    CHARGEBACK = "chargeback"  # the buyer keeps it
    RECOVERED = "recovered"  # or does not, after all
    FEE = "fee"  # the payment service charges the organiser for a dispute
    FEE_BACK = "fee_back"  # and gives it back


@dataclass(frozen=True, slots=True)
class Balance:
    """What an order comes to, in cents."""

    charged: int = 0  # for lines that stand
    credited: int = 0  # for refunded lines
    paid: int = 0
    paid_out: int = 0

    @property
    def due(self) -> int:
        """What the buyer still owes; negative: what is owed to the buyer."""
        return self.charged - self.credited - self.paid + self.paid_out


@dataclass(frozen=True, slots=True)
class Told:
    """A payment or payout as whoever made it tells of it."""

    method: str
    account: Account
    cents: int
    reference: str | None = None
    note: str = ""


def charge(session: Session, order: OrderRow, amounts: Amounts, context: ActionContext) -> None:
    """The buyer owes these amounts."""
    for account, cents in ((Account.TICKETS, amounts.tickets), (Account.FEES, amounts.fees)):
        _move(session, order, Kind.CHARGE, (Account.BUYER, account), cents, context)


def reverse(session: Session, order: OrderRow, amounts: Amounts, context: ActionContext) -> None:
    """The buyer does not owe these amounts any more: nothing was sold."""
    _give_up(session, order, Kind.REVERSAL, amounts, context)


def credit(session: Session, order: OrderRow, amounts: Amounts, context: ActionContext) -> None:
    """These amounts are owed back to the buyer."""
    _give_up(session, order, Kind.CREDIT, amounts, context)


def _give_up(session: Session, order: OrderRow, kind: Kind, amounts: Amounts, context: ActionContext) -> None:
    for account, cents in ((Account.TICKETS, amounts.tickets), (Account.FEES, amounts.fees)):
        _move(session, order, kind, (account, Account.BUYER), cents, context)


def receive(session: Session, order: OrderRow, told: Told, context: ActionContext) -> None:
    """The buyer has paid."""
    _move(session, order, Kind.PAYMENT, (told.account, Account.BUYER), told.cents, context, told)


def pay_out(session: Session, order: OrderRow, told: Told, context: ActionContext) -> None:
    """The buyer has been paid back."""
    _move(session, order, Kind.PAYOUT, (Account.BUYER, told.account), told.cents, context, told)


def take_back(session: Session, order: OrderRow, told: Told, context: ActionContext) -> None:
    """A payout did not reach the buyer, and is owed again."""
    _move(session, order, Kind.RETURN, (told.account, Account.BUYER), told.cents, context, told)


def dispute(session: Session, order: OrderRow, kind: Kind, told: Told, context: ActionContext) -> None:
    """Money of a disputed payment goes, comes back, or is the buyer's for good."""
    gone, kept = (Account.DISPUTED, told.account), (Account.BUYER, Account.DISPUTED)
    fee = Account.COSTS, told.account
    accounts = {Kind.WITHDRAWAL: gone, Kind.REINSTATED: gone[::-1], Kind.CHARGEBACK: kept, Kind.RECOVERED: kept[::-1]}
    accounts |= {Kind.FEE: fee, Kind.FEE_BACK: fee[::-1]}
    _move(session, order, kind, accounts[kind], told.cents, context, told)


def dispute_fees(session: Session, order: OrderRow, reference: str) -> int:
    """What was booked as the fee of a dispute of this order, by its reference."""
    booked = {Kind.FEE: 0, Kind.FEE_BACK: 0}
    for row in movements(session, order.organisation_id, order.id):
        if row.kind in booked and (row.external_reference or "").startswith(f"{reference}/"):
            booked[Kind(row.kind)] += row.cents
    return booked[Kind.FEE] - booked[Kind.FEE_BACK]


def _move(  # noqa: PLR0917 - one movement
    session: Session,
    order: OrderRow,
    kind: Kind,
    accounts: tuple[Account, Account],
    cents: int,
    context: ActionContext,
    told: Told | None = None,
) -> None:
    if not cents:
        return
    debit, credit_ = accounts
    session.add(
        MoneyMovementRow(
            organisation_id=order.organisation_id,
            order_id=order.id,
            position=_count(session, order) + 1,
            kind=kind.value,
            debit=debit.value,
            credit=credit_.value,
            cents=cents,
            currency=order.currency,
            at=context.now,
            method=told.method if told else "",
            external_reference=told.reference if told else None,
            note=told.note if told else "",
        )
    )
    session.flush()


def _count(session: Session, order: OrderRow) -> int:
    """How many movements an order has; it is locked, and none is ever removed."""
    row = MoneyMovementRow
    here = row.organisation_id == order.organisation_id, row.order_id == order.id
    return session.execute(select(func.count()).where(*here)).scalar_one()


def movements(session: Session, organisation_id: str, order_id: str) -> Sequence[MoneyMovementRow]:
    """The movements of an order, the first one first."""
    row = MoneyMovementRow
    wanted = select(row).where(row.organisation_id == organisation_id, row.order_id == order_id)
    return session.execute(wanted.order_by(row.position)).scalars().all()


def movements_of(session: Session, organisation_id: str, orders: Collection[str]) -> Sequence[MoneyMovementRow]:
    """The movements of these orders, those of the newest order first."""
    row = MoneyMovementRow
    wanted = select(row).where(row.organisation_id == organisation_id, row.order_id.in_(sorted(orders)))
    return session.execute(wanted.order_by(row.order_id.desc(), row.position)).scalars().all() if orders else ()


def told_before(
    session: Session, organisation_id: str, kind: Kind, method: str, reference: str | None
) -> MoneyMovementRow | None:
    """The movement that was recorded for this reference, if it was told before."""
    if reference is None:
        return None
    row = MoneyMovementRow
    same = row.kind == kind.value, row.method == method, row.external_reference == reference
    return session.execute(select(row).where(row.organisation_id == organisation_id, *same)).scalar_one_or_none()


def balances(session: Session, organisation_id: str, orders: Collection[str]) -> dict[str, Balance]:
    """The balance of each of these orders."""
    row = MoneyMovementRow
    wanted = select(row).where(row.organisation_id == organisation_id, row.order_id.in_(sorted(orders)))
    found: dict[str, list[MoneyMovementRow]] = {id: [] for id in orders}
    for movement in session.execute(wanted).scalars() if orders else ():
        found[movement.order_id].append(movement)
    return {id: balance_of(its) for id, its in found.items()}


def balance(session: Session, order: OrderRow) -> Balance:
    """The balance of one order."""
    return balances(session, order.organisation_id, [order.id])[order.id]


def balance_of(rows: Iterable[MoneyMovementRow]) -> Balance:
    """The balance that follows from these movements of one order."""
    sums = dict.fromkeys(Kind, 0)
    for row in rows:
        sums[Kind(row.kind)] += row.cents
    charged = sums[Kind.CHARGE] - sums[Kind.REVERSAL]
    paid_out = sums[Kind.PAYOUT] - sums[Kind.RETURN] + sums[Kind.CHARGEBACK] - sums[Kind.RECOVERED]
    return Balance(charged, sums[Kind.CREDIT], sums[Kind.PAYMENT], paid_out)
