"""The words of orders, by which searches find them: among the newest one by one, and of filed orders by an index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, delete, func, literal, select, union, union_all
from sqlalchemy.orm import Session, aliased

from sync_server.checkout.filing.figures import NOT_FILED
from sync_server.checkout.filing.models import OrderWordRow
from sync_server.checkout.models import OrderRow
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.language.words import split_words
from sync_server.plumbing.sql.bulk import insert_many

NEAR: Final = 500
"""So many of the newest orders are looked at first: what many orders have is found there."""
RARE: Final = 1_000
"""Of several words, the index is asked for one that fewer have, if there is any."""
_LAST: Final = b"\xff"
"""Comes after every byte of a word."""


def text_of(number: str, name: str, email: str) -> str:
    """The words by which an order is found; what its number ends with is one of its own."""
    return " ".join(split_words(f"{number} {number.rpartition('-R')[2]} {name} {email}"))


def add(session: Session, orders: Sequence[OrderRow]) -> None:
    """Note the words of these orders; those of older releases had another text."""
    for order in orders:
        order.search_text = text_of(order.number, order.buyer_name, order.buyer_email)
    session.flush()
    rows = [
        {"organisation_id": order.organisation_id, "word": word, "order_id": order.id}
        for order in orders
        for word in _words(order)
    ]
    insert_many(session, OrderWordRow, rows, "ON CONFLICT DO NOTHING")


def remove(session: Session, order: OrderRow) -> None:
    """Forget the words of an order, which has not changed since they were noted."""
    row = OrderWordRow
    here = row.organisation_id == order.organisation_id, row.order_id == order.id, row.word.in_(_words(order))
    session.execute(delete(row).where(*here))


def remove_all(session: Session, event: EventKey) -> None:
    """Forget those of all orders of an event."""
    row, orders = OrderWordRow, select(OrderRow.id).where(event.of(OrderRow))
    session.execute(delete(row).where(row.organisation_id == event.organisation_id, row.order_id.in_(orders)))


def _words(order: OrderRow) -> list[bytes]:
    return [word.encode() for word in order.search_text.split()]


def search(
    session: Session, organisation_id: str, searched: str, which: Sequence[ColumnElement[bool]], limit: int
) -> Sequence[OrderRow]:
    """The newest of the organisation's orders in which each searched word begins a word, among those of `which`."""
    words = split_words(searched)
    if not words:
        return ()
    mine, row = OrderRow.organisation_id == organisation_id, OrderRow
    newest = select(row).where(mine, *which).order_by(row.id.desc()).limit(NEAR)
    near = aliased(row, newest.subquery())
    found = (
        session.execute(select(near).where(*_has(near, words)).order_by(near.id.desc()).limit(limit)).scalars().all()
    )
    if len(found) == limit:
        return found
    has = _has(row, words)
    others = select(row.id).where(mine, NOT_FILED.these, *has).with_hint(row, NOT_FILED.hint, "sqlite")
    either = union(others, _filed(organisation_id, _rarest(session, organisation_id, words))).subquery()
    wanted = select(row).where(mine, row.id.in_(select(either.c[0])), *has, *which)
    return session.execute(wanted.order_by(row.id.desc()).limit(limit)).scalars().all()


def _has(row: type[OrderRow], words: Sequence[str]) -> list[ColumnElement[bool]]:
    return [(literal(" ") + row.search_text).contains(f" {word}", autoescape=True) for word in words]


def _filed(organisation_id: str, word: str) -> Select[Any]:
    row = OrderWordRow
    begins = row.word >= word.encode(), row.word < word.encode() + _LAST
    return select(row.order_id).where(row.organisation_id == organisation_id, *begins)


def _rarest(session: Session, organisation_id: str, words: Sequence[str]) -> str:
    if len(words) == 1:
        return words[0]
    counts = [
        select(literal(at).label("at"), func.count().label("n")).select_from(
            _filed(organisation_id, word).limit(RARE).subquery()
        )
        for at, word in enumerate(words)
    ]
    found = session.execute(union_all(*counts)).all()
    return words[int(min(found, key=lambda one: (one.n, one.at)).at)]
