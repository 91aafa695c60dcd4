"""Dates, times and amounts as people of a language write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from babel.dates import format_date, format_skeleton, format_time
from babel.numbers import format_compact_currency, format_currency, format_percent

from shared.clock import Millis

LOCALES: Final[Mapping[str, str]] = {"en": "en_GB", "de": "de_DE", "fr": "fr_FR", "af": "af_ZA", "es": "es_ES"}
"""How the languages of pages, tickets and mails write dates and amounts."""
_REMEMBERED: Final = 4_096
"""Formats are looked up again and again for the same few dates and prices: each costs more than a template."""


@lru_cache(_REMEMBERED)
def _date(day: date, form: str, locale: str) -> str:
    return str(format_date(day, form, locale=locale))


@lru_cache(_REMEMBERED)
def _time(local: datetime, locale: str) -> str:
    return str(format_time(local, "short", locale=locale))


@lru_cache(_REMEMBERED)
def _skeleton(skeleton: str, local: datetime, locale: str) -> str:
    return str(format_skeleton(skeleton, local, locale=locale))


@lru_cache(_REMEMBERED)
def _amount(cents: int, currency: str, locale: str) -> str:
    return str(format_currency(Decimal(cents) / 100, currency, locale=locale))


@lru_cache(_REMEMBERED)
def _zone(timezone: str) -> ZoneInfo:
    return ZoneInfo(timezone)


@dataclass(frozen=True, slots=True)
class Style:
    """How a language writes times of one time zone."""

    locale: str
    timezone: str

    @classmethod
    def of(cls, language: str, timezone: str = "UTC") -> Style:
        """How a language writes the times of a venue."""
        return cls(LOCALES[language], timezone)

    def local(self, at: Millis) -> datetime:
        """The time on the clocks of that zone, without the zone.

        Moments with zones are equal where they are one instant: what is remembered of one would be shown for others.
        """
        return self._with_zone(at).replace(tzinfo=None)

    def _with_zone(self, at: Millis) -> datetime:
        return datetime.fromtimestamp(at / 1000, _zone(self.timezone))

    def time(self, at: Millis) -> str:
        """Such as 20:00."""
        return _time(self.local(at), self.locale)

    def zone(self, at: Millis) -> str:
        """The name of the zone at that time: CET, or UTC+05:30 where it has none."""
        local = self._with_zone(at)
        name = local.strftime("%Z")
        offset = local.strftime("%z")
        return name if name.isalpha() else f"UTC{offset[:3]}:{offset[3:5]}"

    def day(self, at: Millis) -> str:
        """Such as Saturday, 21 November 2026."""
        return _date(self.local(at).date(), "full", self.locale)

    def short_day(self, at: Millis) -> str:
        """Such as Sat, 21 Nov 2026."""
        return _skeleton("yMMMEd", self.local(at), self.locale)

    def moment(self, at: Millis) -> str:
        """Such as Sat, 21 Nov 2026, 20:00."""
        return f"{self.short_day(at)}, {self.time(at)}"

    def iso(self, at: Millis) -> str:
        """For machines, with the offset of the zone."""
        return self._with_zone(at).isoformat(timespec="minutes")

    def days(self, dates: Sequence[str]) -> str:
        """Event days, by their dates: one in full, several by their ends if they follow each other, else each."""
        days = sorted(date.fromisoformat(each) for each in dates)
        if len(days) == 1:
            return _date(days[0], "full", self.locale)
        written = [_date(day, "medium", self.locale) for day in days]
        consecutive = (days[-1] - days[0]).days == len(days) - 1
        return f"{written[0]} – {written[-1]}" if consecutive else " · ".join(written)

    def weekday(self, day: str) -> str:
        """Such as Sat, 21 Nov: one event day among others, by its date."""
        return _skeleton("MMMEd", datetime.combine(date.fromisoformat(day), datetime.min.time()), self.locale)

    def amount(self, cents: int, currency: str) -> str:
        """Such as €51.40."""
        return _amount(cents, currency, self.locale)

    def about(self, cents: int, currency: str) -> str:
        """Such as €51, or €1.2K: an amount where there is little room."""
        whole = round(Decimal(cents) / 100)
        return str(format_compact_currency(whole, currency, locale=self.locale, fraction_digits=1))

    def rate(self, basis_points: int) -> str:
        """Such as 7 %."""
        return str(format_percent(Decimal(basis_points) / 10_000, locale=self.locale, decimal_quantization=False))
