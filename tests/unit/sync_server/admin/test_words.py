"""Times and ages as people read them."""

from __future__ import annotations

import pytest

from sync_server.admin import words
from sync_server.scans.conflicts import SEVERITY
from sync_server.scans.reconcile import ConflictKind
from sync_server.scans.rules import Why
from sync_server.watch.rules import Kind

NOON = 1_783_180_800_000  # 2026-07-04T16:00:00Z


@pytest.mark.parametrize(
    ("millis", "said"),
    [(None, "never"), (0, "now"), (5_000, "5 s ago"), (60_000, "1 minute ago"), (7_300_000, "2 hours ago")],
)
def test_how_long_ago(millis: int | None, said: str) -> None:
    assert words.ago(None if millis is None else NOON - millis, NOON) == said


def test_moments_are_told_in_the_venues_time() -> None:
    assert words.at(NOON, "Europe/Berlin") == "Sat 04 Jul 2026, 18:00"
    assert words.clock(NOON, "America/New_York") == "12:00:00"


@pytest.mark.parametrize(
    ("millis", "said"),
    [(40, "+40 ms"), (-1_500, "-1.5 s"), (180_000, "+3 min"), (2**42, "unknown"), (None, words.NOTHING)],
)
def test_spans(millis: int | None, said: str) -> None:
    assert words.span(millis) == said


def test_every_conflict_and_quarantine_has_words() -> None:
    assert set(words.CONFLICTS) == set(ConflictKind)
    assert max(SEVERITY.values()) < len(words.SEVERITIES)
    assert set(words.WHY_APART) == set(Why)


def test_every_kind_of_alert_has_a_title() -> None:
    assert set(words.ALERTS) == {kind.value for kind in Kind}
