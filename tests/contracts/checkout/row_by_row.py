"""What an event's orders come to, counted one by one from their rows, to be compared with what pages say."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from sync_server.checkout import sales_figures
from sync_server.checkout.filing import figures, filed
from sync_server.checkout.filing.figures import Figure
from sync_server.checkout.filing.sold import DAY_MS, HOUR_MS
from sync_server.checkout.payments import owing
from sync_server.checkout.rules import ONLINE
from sync_server.plumbing.event_key import EventKey
from tests.app_server import AppServer
from tests.contracts.holds.seated_event import SeatedEvent

PAID = ("paid", "partially_refunded")
ORDERS = "SELECT id, state, buyer_email, due_at, created_at, currency FROM orders WHERE event_id = :event"
LINES = (
    "SELECT l.order_id, l.ticket_type, l.unit_cents - l.discount_cents, l.fee_cents, l.state, l.position "
    "FROM order_lines l JOIN orders o ON o.id = l.order_id WHERE o.event_id = :event"
)
PAYMENTS = (
    "SELECT m.order_id, m.method, m.cents FROM money_movements m JOIN orders o ON o.id = m.order_id "
    "WHERE o.event_id = :event AND m.kind = 'payment'"
)
PAYOUTS = (
    "SELECT p.order_id, p.cents FROM payouts p JOIN orders o ON o.id = p.order_id "
    "WHERE o.event_id = :event AND p.state <> 'failed'"
)


class OneByOne:
    """The orders of an event with their lines, and what came and went by payment services."""

    def __init__(self, sale: SeatedEvent) -> None:
        def rows(statement: str) -> list[Any]:
            return [tuple(map(_plain, row)) for row in sale.rows(statement, event=sale.id)]

        self.orders = rows(ORDERS)
        self.lines: dict[str, list[Any]] = defaultdict(list)
        for order, *line in rows(LINES):
            self.lines[order].append(line)
        self.online: Counter[str] = Counter()
        for order, method, cents in rows(PAYMENTS):
            self.online[order] += cents * (method in ONLINE)
        for order, cents in rows(PAYOUTS):
            self.online[order] -= cents
        ((self.timezone,),) = rows("SELECT timezone FROM events WHERE id = :event")

    def affected(self, *, keep_fees: bool) -> tuple[int, ...]:
        """The fields of `Affected`."""
        found = [0] * 5
        for id, state, *_ in self.orders:
            standing = [line for line in self.lines[id] if line[3] == "issued"]
            paid = sum(price + fee * (not keep_fees) for _, price, fee, *_ in standing)
            if state in PAID:
                for at, more in enumerate((1, len(standing), paid, min(paid, self.online[id]))):
                    found[at] += more
            found[4] += state == "pending"
        return tuple(found)

    def coming(self) -> tuple[int, int]:
        """The orders whose buyers mean to come, and how many of them have an address."""
        emails = [
            email
            for _, state, email, due, *_ in self.orders
            if state in PAID or (state == "pending" and due is not None)
        ]
        return len(emails), len(list(filter(None, emails)))

    def sold(self, span: int) -> Mapping[tuple[int, int, str], tuple[int, int, int]]:
        """Tickets, cents and orders by the beginning of the hour or local day, ticket type and currency."""
        found: dict[Any, list[int]] = defaultdict(lambda: [0, 0, 0])
        for id, state, _, _, made, currency in self.orders:
            for number, price, fee, _, position in self.lines[id] if state in {*PAID, "refunded"} else ():
                sums = found[self._begins(made, span), number, currency]
                for at, more in enumerate((1, price + fee, int(position == 1))):
                    sums[at] += more
        return {key: (sums[0], sums[1], sums[2]) for key, sums in found.items()}

    def _begins(self, moment: int, span: int) -> int:
        if span == HOUR_MS:
            return moment - moment % HOUR_MS
        day = datetime.fromtimestamp(moment / 1000, ZoneInfo(self.timezone)).date()
        return int(datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(self.timezone)).timestamp() * 1000)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, int) else str(value)


def assert_figures_agree(sale: SeatedEvent) -> None:
    """Whatever pages say of the orders of an event is what its rows say, one by one."""
    app_server, key, rows = sale.app_server, EventKey(sale.organisation_id, sale.id), OneByOne(sale)
    with app_server.database.reading() as session:
        for keep_fees in (False, True):
            found = owing.affected(session, key, keep_fees=keep_fees)
            shown = found.orders, found.tickets, found.cents, found.by_itself_cents, found.unpaid_orders
            assert shown == rows.affected(keep_fees=keep_fees), keep_fees
        summed = figures.of_event(session, key)
        assert (summed[Figure.BOUGHT], summed[Figure.ADDRESSED]) == rows.coming()
        for span in (HOUR_MS, DAY_MS):
            by_type = sales_figures.types_of_event(session, key, rows.timezone, 0, span)
            expected = {(round(at / span), *rest): sums for (at, *rest), sums in rows.sold(span).items()}
            assert {
                (one.at, one.ticket_type, one.currency): (one.tickets, one.cents, one.orders) for one in by_type
            } == expected, span
        assert filed.ORDERS.differences(session, key) == filed.SALES.differences(session, key) == {}


def filed_orders(app_server: AppServer) -> int:
    """How many orders are filed."""
    with app_server.database.reading() as session:
        return int(session.connection().exec_driver_sql("SELECT count(*) FROM orders WHERE filed").scalar_one())
