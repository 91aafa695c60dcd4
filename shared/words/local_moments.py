"""Moments in the words of staff: the time of day, with the date only if it is not today."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

from shared.words.messages import say
from shared.words.wording import Said

LATEST = 253_402_214_399_000
"""A day before the last date Python can represent: its last hours overflow in zones east of Greenwich."""


def at(moment: int, zone: tzinfo) -> datetime:
    """The moment in this zone; clocks of other gates may be wildly wrong, and still their times must be printable."""
    return datetime.fromtimestamp(min(max(moment, 0), LATEST) / 1000, zone)


def local_moment(moment: int, now: int, zone: tzinfo = UTC, suffix: str = " UTC") -> Said:
    """Such as "at 19:30", or "on Fri 3 July at 19:30" on another date."""
    then = at(moment, zone)
    clock = f"{then:%H:%M}{suffix}"
    if then.date() == at(now, zone).date():
        return say("time.today", clock=clock)
    return say("time.other_day", clock=clock, date=_date(then))


def _date(then: datetime) -> Said:
    weekday, month = say(f"weekday.{then.weekday()}"), say(f"month.{then.month}")
    return say("time.date", weekday=weekday, day=then.day, month=month)


def without_preposition(moment: str) -> str:
    """The same moment after words such as "valid from"."""
    bare = {"time.today": "time.clock_of_today", "time.other_day": "time.clock_of_other_day"}
    if isinstance(moment, Said) and moment.key in bare:
        return say(bare[moment.key], **moment.values)
    return moment
