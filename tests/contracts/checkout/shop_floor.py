"""An event on sale with seats and places, its buyers, and whether money, seats and quotas agree."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from tests.app_server import ApiClient, AppServer
from tests.builders import DAY, EVENING, HOUR, a_ticket_type
from tests.contracts.checkout.row_by_row import assert_figures_agree
from tests.contracts.holds import seated_event
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event

STALLS = {"name": "Stalls", "price_cents": 4990, "fee_cents": 150, "tax_rate": 700, "quantity": 16}
FLOOR = {"name": "Floor", "price_cents": 2500, "tax_rate": 1900, "quantity": 100}
ACCOUNT = {"account_holder": "Marquee e.V.", "iban": "DE75 5121 0800 1245 1261 99", "invoices": True}


@dataclass
class Shop:
    """A seated event with a ticket type for its stalls and one for its floor."""

    sale: SeatedEvent
    stalls: int
    floor: int

    @property
    def app_server(self) -> AppServer:
        return self.sale.app_server

    @property
    def api(self) -> ApiClient:
        return self.sale.api

    @property
    def orders_path(self) -> str:
        return f"/api/o/{self.sale.slug}/events/{self.sale.id}/orders"

    @property
    def checkout_path(self) -> str:
        return f"/api/o/{self.sale.slug}/events/{self.sale.id}/checkout"

    def path(self, order: dict[str, Any]) -> str:
        """The address of an order in the shop."""
        return f"/api/o/{self.sale.slug}/orders/{order['id']}"

    def guest(self) -> ApiClient:
        return self.sale.guest()

    def hold(self, who: ApiClient, *seats: str) -> list[dict[str, Any]]:
        """Hold seats, as an order takes them."""
        return [{"hold_id": self.sale.reserve(who, seat)["hold_id"]} for seat in seats]

    def hold_places(self, who: ApiClient, count: int) -> str:
        """Hold places on the floor; the id of the hold."""
        body = {"count": count, "zone_id": self.sale.zones["Floor"]}
        made = who.post(f"{self.sale.path}/holds", body)["data"]["holds"]
        return str(made[0]["hold_id"])

    def order(self, who: ApiClient, *seats: str, status: int = 201, **body: Any) -> Any:
        """Hold these seats and order them."""
        return who.post(self.orders_path, {"holds": self.hold(who, *seats), **body}, status)

    def pay(self, who: ApiClient, order: dict[str, Any], method: str, status: int = 200) -> Any:
        """Choose how to pay."""
        return who.post(f"{self.path(order)}/pay", {"method": method}, status)

    def note(self, order: dict[str, Any], method: str = "cash", status: int = 200, **body: Any) -> Any:
        """Staff note a payment that has arrived."""
        return self.api.post(f"/api/orders/{order['id']}/payments", {"method": method, **body}, status)

    def refund(self, order: dict[str, Any], status: int = 200, **body: Any) -> Any:
        return self.api.post(f"/api/orders/{order['id']}/refunds", {"method": "cash", **body}, status)

    def shown(self, order: dict[str, Any]) -> Any:
        return self.api.get(f"/api/orders/{order['id']}")

    def types(self) -> dict[str, dict[str, Any]]:
        found = self.api.get(f"{self.sale.path}/ticket-types")["items"]
        return {row["name"]: row for row in found}

    def run_jobs(self) -> None:
        self.app_server.run_worker()


def a_shop(app_server: AppServer, *, slug: str = "marquee", sessions: int = 20, **event: Any) -> Shop:
    """A shop whose event is a month away, so that invoices can be paid; many may be in its checkout at once."""
    times = {"start_at": EVENING + 30 * DAY, "end_at": EVENING + 30 * DAY + 6 * HOUR}
    sale = a_seated_event(app_server, slug=slug, **times | event)
    zones = {zone["name"]: zone["number"] for zone in sale.api.get(f"{sale.path}/zones")["items"]}
    stalls = sale.api.post(f"{sale.path}/ticket-types", a_ticket_type(**STALLS, zone=zones["Stalls"]))["number"]
    floor = sale.api.post(f"{sale.path}/ticket-types", a_ticket_type(**FLOOR, zone=zones["Floor"]))["number"]
    sale.api.put(f"{sale.path}/checkout", {"sessions": sessions})
    return Shop(sale, stalls, floor)


def moved(shop: Shop, app_server: AppServer) -> Shop:
    """The same shop at another server, whose database is a copy."""
    return replace(shop, sale=seated_event.moved(shop.sale, app_server))


def assert_everything_agrees(shop: Shop) -> None:
    """Money, seats, places, quotas, holds and orders say the same of what was sold."""
    sale = shop.sale
    assert_ledger_balances(sale)
    assert_figures_agree(sale)
    assert_codes_agree(sale)
    taken = dict(
        sale.rows("SELECT seat, ticket_id FROM event_seats WHERE event_id = :event AND state = 2", event=sale.id)
    )
    valid = sale.rows("SELECT seat, id FROM tickets WHERE event_id = :event AND state <> 1", event=sale.id)
    assert taken == {seat: ticket for seat, ticket in valid if seat}
    places = sale.rows("SELECT SUM(held), SUM(sold) FROM event_places WHERE event_id = :event", event=sale.id)[0]
    held = sale.rows(
        "SELECT SUM(quantity) FROM holds WHERE event_id = :event AND status = 'active' AND seat IS NULL", event=sale.id
    )[0][0]
    assert (places[0] or 0, places[1] or 0) == (held or 0, len([seat for seat, _ in valid if not seat]))
    ordered = Counter(
        number
        for (number,) in sale.rows(
            "SELECT ticket_type FROM order_lines l JOIN orders o ON o.id = l.order_id "
            "WHERE o.event_id = :event AND l.state = 'ordered'",
            event=sale.id,
        )
    )
    issued = Counter(
        number
        for (number,) in sale.rows(
            "SELECT ticket_type FROM tickets WHERE event_id = :event AND state <> 1", event=sale.id
        )
    )
    for row in shop.types().values():
        assert (row["reserved"], row["issued"]) == (ordered[row["number"]], issued[row["number"]]), row["name"]
    assert shop.api.get(sale.path)["tickets_issued"] == issued.total()


def assert_codes_agree(sale: SeatedEvent) -> None:
    """No code stands more often than it may, none with an order that ended unpaid, and lines add up to their orders."""
    uses = sale.rows(
        "SELECT u.batch, u.serial, b.max_uses, o.state FROM code_uses u JOIN orders o ON o.id = u.order_id "
        "JOIN code_batches b ON b.event_id = u.event_id AND b.number = u.batch "
        "WHERE u.event_id = :event AND u.given_back_at IS NULL",
        event=sale.id,
    )
    assert not {state for *_, state in uses} & {"cancelled", "expired"}
    standing = Counter((batch, serial) for batch, serial, *_ in uses)
    assert all(standing[batch, serial] <= most for batch, serial, most, _ in uses)
    sums = sale.rows(
        "SELECT o.discount_cents, o.subtotal_cents, SUM(l.discount_cents), SUM(l.unit_cents) FROM orders o "
        "JOIN order_lines l ON l.order_id = o.id WHERE o.event_id = :event "
        "GROUP BY o.id, o.discount_cents, o.subtotal_cents",
        event=sale.id,
    )
    assert all((discount, subtotal) == (of_lines, units) for discount, subtotal, of_lines, units in sums)


def assert_ledger_balances(sale: SeatedEvent) -> None:
    """Of each order: debits are credits, and what stands in it follows from its lines and state."""
    orders = sale.rows("SELECT id, state, total_cents FROM orders WHERE event_id = :event", event=sale.id)
    for order, state, total in orders:
        moved = sale.rows("SELECT kind, debit, credit, cents FROM money_movements WHERE order_id = :id", id=order)
        accounts: Counter[str] = Counter()
        sums: Counter[str] = Counter()
        for kind, debit, credit, cents in moved:
            accounts[debit] += cents
            accounts[credit] -= cents
            sums[kind] += cents
        assert sum(accounts.values()) == 0
        charged = sums["charge"] - sums["reversal"]
        assert charged == (0 if state in {"cancelled", "expired"} else total), (state, moved)
        paid_out = sums["payout"] - sums["return"] + sums["chargeback"] - sums["recovered"]
        assert accounts["buyer"] == charged - sums["credit"] - sums["payment"] + paid_out
        assert accounts["disputed"] == sums["withdrawal"] - sums["reinstated"] - sums["chargeback"] + sums["recovered"]
        assert accounts["disputed"] >= 0
        assert sums["payout"] - sums["return"] <= sums["payment"] and sums["credit"] <= charged
        if state in {"paid", "partially_refunded", "refunded"}:
            assert accounts["buyer"] <= sums["chargeback"] - sums["recovered"], "paid once nothing is due"
