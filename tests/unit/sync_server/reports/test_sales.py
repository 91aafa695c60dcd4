"""Which event a sale is compared with, and how its curve grows."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from shared.clock import Millis
from sync_server.checkout.filing.sold import HOUR_MS
from sync_server.reports.sales import comparable, grown, known, moments_shown


@dataclass
class AnEvent:
    """What of an event decides with which other it is compared."""

    id: str
    category: str | None = "Choir"
    venue_id: str = "harbour"
    recurrence_group_id: str | None = None


TONIGHT = AnEvent("tonight", recurrence_group_id="summer")


def chosen(*earlier: AnEvent) -> str | None:
    found = comparable(TONIGHT, earlier)  # type: ignore[arg-type]  # only these fields are read
    return None if found is None else found.id


def test_the_same_series_comes_before_place_and_kind() -> None:
    elsewhere = AnEvent("series", category=None, venue_id="abroad", recurrence_group_id="summer")
    assert chosen(AnEvent("alike"), elsewhere) == "series"


def test_the_latest_of_equally_alike_ones_is_chosen() -> None:
    assert chosen(AnEvent("last month"), AnEvent("last year")) == "last month"


def test_the_same_kind_comes_before_the_same_place() -> None:
    assert chosen(AnEvent("place", category="Rock"), AnEvent("kind", venue_id="abroad")) == "kind"


def test_an_event_is_compared_neither_with_itself_nor_with_what_is_unlike() -> None:
    assert chosen(TONIGHT, AnEvent("other", category="Rock", venue_id="abroad")) is None
    assert chosen(AnEvent("unnamed kind", category=None, venue_id="abroad")) is None


def test_a_curve_counts_all_that_was_sold_until_each_moment() -> None:
    assert grown([(20, 3), (10, 2)], [0, 9, 10, 15, 20, 99]) == [0, 0, 2, 2, 5, 5]


def test_what_was_sold_a_minute_ago_is_on_the_curve_however_far_apart_its_moments_are() -> None:
    moments = [0, 6 * HOUR_MS, 12 * HOUR_MS]
    assert known([0, 4, 4], moments, now=HOUR_MS) == [0, 4, None]


@pytest.mark.parametrize(
    ("last", "start", "other_since", "until"),
    [
        pytest.param(0, 900 * HOUR_MS, None, 3 * HOUR_MS, id="a sale that has hardly begun"),
        pytest.param(99 * HOUR_MS, 120 * HOUR_MS, None, 120 * HOUR_MS, id="an event that is near"),
        pytest.param(0, 300 * HOUR_MS, 0, 300 * HOUR_MS, id="an earlier event to compare with"),
        pytest.param(150 * HOUR_MS, 120 * HOUR_MS, None, 151 * HOUR_MS, id="sold after it began"),
    ],
)
def test_the_chart_is_not_left_empty_until_next_year(
    last: Millis, start: Millis, other_since: Millis | None, until: Millis
) -> None:
    moments = moments_shown(0, HOUR_MS, last, start, other_since)
    assert (moments[0], moments[-1]) == (0, until)
