"""Dates, times and amounts as people of a language write them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from babel.dates import format_date, format_time
from babel.numbers import format_currency, format_percent

from shared.clock import Millis


@dataclass(frozen=True, slots=True)
class Style:
    """How a language writes times of one time zone."""

    locale: str
    timezone: str

    def local(self, at: Millis) -> datetime:
        """The time on the clocks of that zone."""
        return datetime.fromtimestamp(at / 1000, ZoneInfo(self.timezone))

    def time(self, at: Millis) -> str:
        """Such as 20:00."""
        return str(format_time(self.local(at), "short", locale=self.locale))

    def zone(self, at: Millis) -> str:
        """The name of the zone at that time: CET, or UTC+05:30 where it has none."""
        local = self.local(at)
        name = local.strftime("%Z")
        offset = local.strftime("%z")
        return name if name.isalpha() else f"UTC{offset[:3]}:{offset[3:5]}"

    def day(self, at: Millis) -> str:
        """Such as Saturday, 21 November 2026."""
        return str(format_date(self.local(at).date(), "full", locale=self.locale))

    def days(self, dates: Sequence[str]) -> str:
        """Event days, by their dates: one in full, several by their ends if they follow each other, else each."""
        days = sorted(date.fromisoformat(each) for each in dates)
        if len(days) == 1:
            return str(format_date(days[0], "full", locale=self.locale))
        written = [str(format_date(day, "medium", locale=self.locale)) for day in days]
        consecutive = (days[-1] - days[0]).days == len(days) - 1
        return f"{written[0]} – {written[-1]}" if consecutive else " · ".join(written)

    def amount(self, cents: int, currency: str) -> str:
        """Such as €51.40."""
        return str(format_currency(Decimal(cents) / 100, currency, locale=self.locale))

    def rate(self, basis_points: int) -> str:
        """Such as 7 %."""
        return str(format_percent(Decimal(basis_points) / 10_000, locale=self.locale, decimal_quantization=False))
