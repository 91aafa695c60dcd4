"""Which event a sale is compared with, and how its curve grows."""

from __future__ import annotations

from dataclasses import dataclass

from sync_server.reports.sales import HOUR_MS, comparable, grown, known


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
