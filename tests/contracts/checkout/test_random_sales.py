"""Whatever is ordered, paid, told twice, refunded or forgotten, in any order: money and inventory agree to the cent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.app_server import ApiClient, AppServer
from tests.builders import MINUTE
from tests.contracts.checkout.shop_floor import Shop, a_shop, assert_everything_agrees

SEATS = [f"{row}-{number}" for row in "AB" for number in (1, 8)]
STEPS = st.one_of(
    st.tuples(st.just("order"), st.sampled_from(SEATS), st.integers(0, 3)),
    st.tuples(st.just("order with code"), st.sampled_from(SEATS), st.tuples(st.integers(0, 3), st.integers(0, 3))),
    st.tuples(st.just("pay"), st.integers(0, 5), st.sampled_from([None, 100, 5140, 7640])),
    st.tuples(st.just("pay again"), st.integers(0, 5), st.none()),
    st.tuples(st.just("refund"), st.integers(0, 5), st.sampled_from([None, [1], [2], []])),
    st.tuples(st.just("cancel"), st.integers(0, 5), st.none()),
    st.tuples(st.just("wait"), st.sampled_from([1, 6, 11]), st.booleans()),
    st.tuples(st.just("sell"), st.sampled_from(SEATS), st.none()),
)


@dataclass
class Evening:
    """One run: what was ordered, and the payments that were sent."""

    shop: Shop
    orders: list[str] = field(default_factory=list)
    sent: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """A code of each sort, which two orders may use."""
        for worth in (
            {"percent": 33},
            {"cents": 1001, "per": "order"},
            {"percent": 7, "per": "order"},
            {"cents": 4999},
        ):
            body = {"kind": "discount", "name": "Any", "max_uses": 2} | worth
            batch = self.shop.api.post(f"{self.shop.sale.path}/code-batches", body)["number"]
            texts = self.shop.api.ask("GET", f"{self.shop.sale.path}/code-batches/{batch}/codes")
            self.codes.append(texts.get_data(as_text=True).split()[1])

    def do(self, what: str, which: Any, how: Any) -> None:
        """One step; a refusal is as good as a success, as long as everything agrees."""
        if what in {"order", "order with code", "wait", "sell"}:
            getattr(self, what.replace(" ", "_"))(which, how)
        elif self.orders:
            getattr(self, what.replace(" ", "_"))(self.orders[which % len(self.orders)], how)

    def order_with_code(self, seat: str, how: tuple[int, int]) -> None:
        places, code = how
        self.order(seat, places, codes=[self.codes[code]])

    def order(self, seat: str, places: int, **body: Any) -> None:
        guest, holds = self.shop.guest(), []
        held = guest.ask("POST", self.shop.sale.reserve_path(seat), {})
        if held.status_code == 201:
            holds.append({"hold_id": held.json["data"]["hold_id"]})  # type: ignore[index]
        if places:
            holds.append({"hold_id": self.shop.hold_places(guest, places)})
        made = self._ask(guest, self.shop.orders_path, {"holds": holds, **body})
        if made.status_code == 201:
            self.orders.append(made.json["id"])

    def sell(self, seat: str, _how: None) -> None:
        body = {"seats": [{"seat_id": seat}], "method": "card", "reference": f"sale {len(self.orders)} {seat}"}
        made = self._ask(self.shop.api, f"{self.shop.sale.path}/sales", body)
        if made.status_code == 201:
            self.orders.append(made.json["id"])

    def pay(self, order: str, cents: int | None) -> None:
        body = {"method": "card", "reference": f"payment {len(self.sent)}"} | ({"cents": cents} if cents else {})
        self.sent.append((order, body))
        self._ask(self.shop.api, f"/api/orders/{order}/payments", body)

    def pay_again(self, order: str, _how: None) -> None:
        for whose, body in self.sent:
            if whose == order:
                self._ask(self.shop.api, f"/api/orders/{order}/payments", body)

    def refund(self, order: str, lines: list[int] | None) -> None:
        body = {"method": "card"} | ({} if lines is None else {"lines": lines})
        self._ask(self.shop.api, f"/api/orders/{order}/refunds", body)

    def cancel(self, order: str, _how: None) -> None:
        self._ask(self.shop.api, f"/api/orders/{order}/cancel", {})

    def wait(self, minutes: int, sweeps: bool) -> None:
        self.shop.app_server.advance(minutes * MINUTE)
        if sweeps:
            self.shop.run_jobs()

    @staticmethod
    def _ask(who: ApiClient, path: str, body: dict[str, Any]) -> Any:
        response = who.ask("POST", path, body)
        assert response.status_code in {200, 201, 400, 409}, response.get_data(as_text=True)[:500]
        return response


def test_money_and_inventory_agree_whatever_happens(app_server: AppServer) -> None:
    count = 0

    @settings(
        max_examples=12 if app_server.database.embedded else 6,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(STEPS, min_size=6, max_size=18))
    def run(steps: list[tuple[str, Any, Any]]) -> None:
        nonlocal count
        count += 1
        evening = Evening(a_shop(app_server, slug=f"shop-{count}"))
        for step in steps:
            evening.do(*step)
        assert_everything_agrees(evening.shop)

    run()
