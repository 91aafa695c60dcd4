"""How long ago something was."""

from __future__ import annotations

import pytest

from shared.words.ago import DAY, HOUR, MINUTE, SECOND, ago


@pytest.mark.parametrize(
    ("span", "said"),
    [
        (-5 * MINUTE, "0 seconds ago"),  # another gate's clock is fast
        (999, "0 seconds ago"),
        (SECOND, "1 second ago"),
        (59 * SECOND, "59 seconds ago"),
        (MINUTE, "1 minute ago"),
        (2 * HOUR - 1, "119 minutes ago"),
        (2 * HOUR, "2 hours ago"),
        (2 * DAY - 1, "47 hours ago"),
        (2 * DAY, "2 days ago"),
    ],
)
def test_the_unit_fits_the_span(span: int, said: str) -> None:
    assert ago(span) == said
