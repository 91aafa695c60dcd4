"""Takes codes into an order: each use is a unique row of its transaction, given back if the order ends unpaid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.checkout.codes import batches, rules, signing
from sync_server.checkout.codes.rules import CodeKind
from sync_server.checkout.models import CodeBatchRow, CodeUseRow, OrderLineRow, OrderRow
from sync_server.checkout.money import amounts as money
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sealing import Sealer

Use = CodeUseRow


@dataclass(frozen=True, slots=True)
class Redeemed:
    """The codes of an order: which batch, and which serial number of it."""

    found: Sequence[tuple[CodeBatchRow, int]] = ()

    @property
    def opened(self) -> frozenset[int]:
        """The ticket types that are sold although they are hidden, or before their sale starts."""
        presales = [batch for batch, _ in self.found if batch.kind == CodeKind.PRESALE]
        return frozenset(number for batch in presales for number in batch.ticket_types)

    @property
    def opened_early(self) -> frozenset[int]:
        """Those that are sold even before the event's own sale begins."""
        return frozenset(number for batch, _ in self.found if batch.opens_sale for number in batch.ticket_types)

    @property
    def discount(self) -> CodeBatchRow | None:
        """The terms of the discount."""
        return next((batch for batch, _ in self.found if batch.kind == CodeKind.DISCOUNT), None)


def redeem(session: Session, sealer: Sealer, event: EventKey, texts: Sequence[str], now: Millis) -> Redeemed:
    """What these codes give; the refusals of a code that is unknown, revoked or not valid now."""
    found = []
    for text in dict.fromkeys(texts):
        signed = signing.read(sealer, event, text)
        if signed is None:
            raise rules.unknown()
        row = batches.batch(session, event, signed.batch)
        if signed.serial >= row.codes:
            raise rules.unknown()
        rules.require_valid(row, now)
        if (row, signed.serial) not in found:
            found.append((row, signed.serial))
    if sum(row.kind == CodeKind.DISCOUNT for row, _ in found) > 1:
        raise rules.one_discount()
    return Redeemed(found)


def take_off(redeemed: Redeemed, lines: Sequence[OrderLineRow]) -> None:
    """Write the discount into the lines, and compute their tax anew from what is left."""
    if redeemed.discount is None:
        return
    given = rules.discounts(redeemed.discount, [(line.ticket_type, line.unit_cents) for line in lines])
    rules.require_applies(given)
    for line, off in zip(lines, given, strict=True):
        line.discount_cents = off
        line.tax_cents = money.tax_included(line.unit_cents - off + line.fee_cents, line.tax_rate)


def spend(session: Session, order: OrderRow, redeemed: Redeemed, now: Millis) -> None:
    """Note the uses of these codes; Conflict `code_spent` where one has none left. The event is locked."""
    for batch, serial in redeemed.found:
        use = _free_use(session, order.event, batch, serial)
        here = {"organisation_id": order.organisation_id, "event_id": order.event_id, "order_id": order.id}
        session.add(Use(**here, batch=batch.number, serial=serial, use=use, spent_at=now))
    session.flush()


def require_unspent(session: Session, event: EventKey, redeemed: Redeemed) -> None:
    """Conflict `code_spent` for a code that an order could not use any more."""
    for batch, serial in redeemed.found:
        _free_use(session, event, batch, serial)


def _free_use(session: Session, event: EventKey, batch: CodeBatchRow, serial: int) -> int:
    standing = Use.batch == batch.number, Use.serial == serial, Use.given_back_at.is_(None)
    taken = set(session.execute(select(Use.use).where(event.of(Use), *standing)).scalars())
    if len(taken) >= batch.max_uses:
        raise rules.spent()
    return next(use for use in range(1, len(taken) + 2) if use not in taken)


def give_back(session: Session, order: OrderRow, now: Millis) -> None:
    """The order has ended unpaid: others may use its codes."""
    mine = Use.organisation_id == order.organisation_id, Use.order_id == order.id, Use.given_back_at.is_(None)
    given = update(Use).where(*mine).values(given_back_at=now).execution_options(synchronize_session=False)
    session.execute(given)


def spend_again(session: Session, order: OrderRow, now: Millis) -> None:
    """An order that had run out is sold after all, at its price: Conflict `code_spent` where its code is gone."""
    mine = Use.organisation_id == order.organisation_id, Use.order_id == order.id, Use.given_back_at.is_not(None)
    for row in session.execute(select(Use).where(*mine)).scalars().all():
        row.use = _free_use(session, order.event, batches.batch(session, order.event, row.batch), row.serial)
        row.given_back_at, row.spent_at = None, now
        session.flush()
