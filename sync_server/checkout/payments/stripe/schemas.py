"""What Stripe is answered."""

from __future__ import annotations

from pydantic import BaseModel


class WebhookView(BaseModel):
    """Whether it was about a payment of this organisation's orders."""

    handled: bool
