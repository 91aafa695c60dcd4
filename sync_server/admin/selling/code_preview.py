"""What codes that are still being made would do to the prices of an event: beside the form that makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shared.clock import Millis
from sync_server.checkout.codes import rules
from sync_server.tickets.queries import TicketType


@dataclass(slots=True)
class Typed:
    """What was typed so far, in the terms of the rules."""

    kind: str
    name: str
    percent: int
    cents: int
    per: str
    ticket_types: list[int]
    valid_from: Millis | None
    valid_until: Millis | None
    codes: int
    max_uses: int
    revoked_at: Millis | None = None

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Typed:
        """What is no number counts as none yet."""
        return cls(
            written["kind"],
            written["name"],
            min(written.get("percent") or 0, 100),
            written.get("cents") or 0,
            written.get("per", rules.Per.TICKET),
            written["ticket_types"],
            written["valid_from"],
            written["valid_until"],
            written["codes"] or 0,
            written["max_uses"] or 0,
        )

    @property
    def off_order(self) -> int:
        """An amount that is taken off the order as a whole: the prices of tickets stay."""
        return self.cents if self.per == rules.Per.ORDER and not self.percent else 0


@dataclass(frozen=True, slots=True)
class Price:
    """What a ticket costs without a code, and with one."""

    ticket_type: TicketType
    cents: int


def prices(typed: Typed, types: Sequence[TicketType]) -> list[Price]:
    """Of every type, as the shop would work it out."""
    lines = [(row.number, row.price_cents) for row in types]
    off = [0] * len(lines) if typed.off_order else rules.discounts(typed, lines)
    return [Price(row, row.price_cents - less) for row, less in zip(types, off, strict=True)]
