"""The kinds of cells: amounts are whole cents, and times are shown by the clocks of the venue."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from shared.clock import Millis


@dataclass(frozen=True, slots=True)
class Amount:
    """Cents of a currency, which has a column of its own."""

    cents: int

    @property
    def decimal(self) -> Decimal:
        """In whole units, exactly."""
        return Decimal(self.cents).scaleb(-2)


@dataclass(frozen=True, slots=True)
class Moment:
    """A time at the venue."""

    at: Millis
    zone: ZoneInfo

    @property
    def local(self) -> datetime:
        """On the clocks there, with its offset."""
        return datetime.fromtimestamp(self.at // 1000, self.zone)


Cell = str | int | Amount | Moment | None
