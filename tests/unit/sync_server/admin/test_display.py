"""Formats and texts of the admin pages."""

from __future__ import annotations

import pytest

from sync_server.admin import display
from sync_server.monitoring.rules import AlertKind
from sync_server.scans.conflicts import SEVERITY
from sync_server.scans.reconcile import ConflictKind

NOON = 1_783_180_800_000  # 2026-07-04T16:00:00Z


@pytest.mark.parametrize(
    ("millis", "text"),
    [(None, "never"), (0, "now"), (5_000, "5 s ago"), (60_000, "1 minute ago"), (7_300_000, "2 hours ago")],
)
def test_how_long_ago(millis: int | None, text: str) -> None:
    assert display.ago(None if millis is None else NOON - millis, NOON) == text


def test_times_are_shown_in_the_time_zone_of_the_venue() -> None:
    assert display.date_time(NOON, "Europe/Berlin") == "Sat, 4 Jul 2026, 18:00"
    assert display.clock(NOON, "America/New_York") == "12:00:00"
    assert display.date_time(NOON, "UTC") == "Sat, 4 Jul 2026, 16:00"
    assert display.date_time(NOON, "Asia/Tokyo") == "Sun, 5 Jul 2026, 01:00", "what is remembered is of one zone"


@pytest.mark.parametrize(
    ("cents", "text"), [(0, "€0"), (81_249, "€812"), (99_940, "€999"), (123_000, "€1.2K"), (4_000_000_00, "€4M")]
)
def test_amounts_in_short(cents: int, text: str) -> None:
    assert display.about(cents, "EUR") == text


@pytest.mark.parametrize(
    ("millis", "text"),
    [(40, "+40 ms"), (-1_500, "-1.5 s"), (180_000, "+3 min"), (2**42, "unknown"), (None, display.DASH)],
)
def test_spans(millis: int | None, text: str) -> None:
    assert display.span(millis) == text


def test_every_conflict_has_a_text() -> None:
    assert set(display.CONFLICTS) == set(ConflictKind)
    assert max(SEVERITY.values()) < len(display.SEVERITIES)


def test_every_kind_of_alert_has_a_title() -> None:
    assert set(display.ALERTS) == {kind.value for kind in AlertKind}
