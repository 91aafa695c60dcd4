"""Numbers that somebody sent."""

from __future__ import annotations

import pytest

from shared.words.numerals import whole


@pytest.mark.parametrize("text", ["", "-1", "+1", " 1", "1.0", "²", "٣", "256", "0" * 4 + "1", "9" * 5_000])
def test_what_is_no_number_up_to_255(text: str) -> None:
    assert whole(text, 255) is None


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("007", 7), ("255", 255)])
def test_numbers(text: str, number: int) -> None:
    assert whole(text, 255) == number
