"""How far off the count of people inside may be, by what is known of each device."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sync_server.devices.queries import DeviceWord
from sync_server.live.gate_words import FASTEST_LANE, Bounds, bounds, gate_words

NOW = 1_783_180_800_000
MINUTE = 60_000
HEARD = DeviceWord(NOW, 0, 1, "entry", True)
SILENT = replace(HEARD, heard_at=NOW - 2 * MINUTE)


@pytest.mark.parametrize(
    ("word", "inside"),
    [
        (HEARD, Bounds(100, 100)),
        (replace(HEARD, unsent=7), Bounds(100, 107)),
        (replace(HEARD, unsent=7, direction="exit"), Bounds(93, 100)),
        (replace(HEARD, unsent=7, direction="both"), Bounds(93, 107)),
        (SILENT, Bounds(100, 100 + 2 * FASTEST_LANE)),
        (replace(SILENT, direction="exit"), Bounds(100 - 2 * FASTEST_LANE, 100)),
        (replace(SILENT, counts=False), Bounds(100, 100)),  # it only tries tickets out
        (replace(SILENT, heard_at=None), Bounds(100, 100)),  # never heard: it has no tickets to admit anybody with
    ],
)
def test_what_a_device_has_not_told_may_have_happened(word: DeviceWord, inside: Bounds) -> None:
    assert bounds(100, 1_000, gate_words([word], NOW).values()) == inside


def test_nobody_enters_without_a_ticket_and_nobody_leaves_who_is_not_inside() -> None:
    long_gone = replace(SILENT, heard_at=NOW - 600 * MINUTE, direction="both")
    assert bounds(100, 130, gate_words([long_gone], NOW).values()) == Bounds(0, 130)


def test_after_the_end_nobody_comes_any_more() -> None:
    ended = NOW - 10 * MINUTE
    words = gate_words([replace(HEARD, heard_at=ended - MINUTE)], NOW, ended)
    assert bounds(100, 1_000, words.values()) == Bounds(100, 100 + FASTEST_LANE)


def test_a_gate_is_as_old_as_its_oldest_silent_device() -> None:
    (word,) = gate_words([HEARD, SILENT, replace(SILENT, heard_at=NOW - 9 * MINUTE)], NOW).values()
    assert (word.devices, word.silent, word.heard_at, word.oldest_at) == (3, 2, NOW, NOW - 9 * MINUTE)
