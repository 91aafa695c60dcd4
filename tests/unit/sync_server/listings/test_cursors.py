"""A cursor round-trips, and any damage is noticed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import InvalidRequest
from sync_server.listings.cursors import UNRANKED, Position, decode, encode

MILLIS = st.integers(0, 1 << 62)
POSITIONS = st.builds(
    Position,
    began=MILLIS,
    generation=st.integers(0, (1 << 31) - 1),
    place=st.integers(UNRANKED, 1_000),
    starts_at=MILLIS,
    number=st.integers(0, (1 << 31) - 1),
)


@given(POSITIONS, st.text())
def test_round_trip(position: Position, criteria: str) -> None:
    cursor = encode(position, criteria)
    assert decode(cursor, criteria) == position
    assert len(cursor) < 100 and cursor.replace("-", "").replace("_", "").isalnum()


@given(POSITIONS, st.data())
def test_one_changed_letter_is_noticed(position: Position, data: st.DataObject) -> None:
    cursor = encode(position, "q")
    index = data.draw(st.integers(0, len(cursor) - 1))
    letter = data.draw(st.sampled_from("ABCXYZabcxyz0189-_"))
    changed = cursor[:index] + letter + cursor[index + 1 :]
    if changed != cursor:
        with pytest.raises(InvalidRequest) as refused:
            decode(changed, "q")
        assert refused.value.error_code == "bad_cursor"


@given(st.text(), POSITIONS)
def test_anything_else_is_refused(text: str, position: Position) -> None:
    for wrong in (text, encode(position, "other criteria")):
        with pytest.raises(InvalidRequest):
            decode(wrong, "q")
