"""A shop that takes cards by Stripe: buyers who pay, and webhooks that come when the test likes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.app_server import ApiClient, AppServer
from tests.contracts.checkout.shop_floor import Shop, a_shop
from tests.services.stripe_server import PUBLISHABLE_KEY, SECRET_KEY, StripeFront, signed

WEBHOOK_SECRET = "whsec_marquee0000"
KEYS = {
    "stripe_secret_key": SECRET_KEY,
    "stripe_publishable_key": PUBLISHABLE_KEY,
    "stripe_webhook_secret": WEBHOOK_SECRET,
}


@dataclass
class CardShop:
    """A shop with keys of Stripe."""

    shop: Shop
    stripe: StripeFront
    secret: str = WEBHOOK_SECRET

    @property
    def app_server(self) -> AppServer:
        return self.shop.app_server

    @property
    def webhook_path(self) -> str:
        url: str = self.shop.api.get("/api/organisation/checkout")["stripe_webhook_url"]
        return url.removeprefix("http://localhost:8000")

    def begin(self, guest: ApiClient, order: dict[str, Any]) -> str:
        """The buyer chooses to pay by card; Stripe's name of the payment."""
        payment = self.shop.pay(guest, order, "stripe")["payment"]
        assert payment["publishable_key"] == PUBLISHABLE_KEY
        return str(payment["client_secret"]).partition("_secret_")[0]

    def paid(self, *seats: str) -> tuple[ApiClient, dict[str, Any], str]:
        """A guest who has ordered these seats and paid them at Stripe; nobody has told the server yet."""
        guest = self.shop.guest()
        order = self.shop.order(guest, *seats)
        intent = self.begin(guest, order)
        self.stripe.pay(intent)
        return guest, order, intent

    def tell(self, told: Any, *, secret: str = "", path: str = "", at: int | None = None) -> tuple[int, Any]:
        """Bring a webhook: the status and the body of the answer."""
        body, signature = signed(told, secret or self.secret, self.app_server.now if at is None else at)
        headers = {"Stripe-Signature": signature, "Content-Type": "application/json"}
        client = self.app_server.app.test_client()
        response = client.post(path or self.webhook_path, data=body, headers=headers)
        return response.status_code, response.json

    def succeeded(self, intent: str) -> Any:
        """What Stripe tells of a payment that was made."""
        told = self.stripe.told("payment_intent.succeeded")
        return next(each for each in told if each["data"]["object"]["id"] == intent)

    def sold(self, *seats: str) -> tuple[dict[str, Any], str]:
        """An order of these seats that is paid, and the server knows; with the payment."""
        _, order, intent = self.paid(*seats)
        assert self.tell(self.succeeded(intent))[0] == 200
        return order, intent

    def tell_dispute(self, dispute: Any, kind: str) -> None:
        """Bring a webhook about a dispute, as Stripe builds it."""
        told = {"id": "evt_1", "object": "event", "type": f"charge.dispute.{kind}", "data": {"object": dict(dispute)}}
        assert self.tell(told) == (200, {"handled": True})

    def kinds(self, order: dict[str, Any]) -> list[tuple[str, int]]:
        """The movements of money of an order."""
        items = self.shop.api.get(f"/api/orders/{order['id']}/ledger")["items"]
        return [(each["kind"], each["cents"]) for each in items if each["credit"] != "fees"]

    def facts(self, *names: str) -> list[str]:
        rows = self.shop.sale.rows("SELECT name FROM outbox ORDER BY name")
        return [name for (name,) in rows if name in names]


def a_card_shop(app_server: AppServer, stripe: StripeFront, slug: str = "marquee") -> CardShop:
    """Keys are stored, and the event is on sale."""
    shop = a_shop(app_server, slug=slug)
    shop.api.patch("/api/organisation/checkout", KEYS)
    return CardShop(shop, stripe)
