"""A cursor brings a reader back to where he was, and nobody anywhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import InvalidRequest
from sync_server.programme.cursors import BEHIND, Step, read, write

MILLIS = st.integers(0, 1 << 62)
STEPS = st.builds(
    Step,
    began=MILLIS,
    generation=st.integers(0, (1 << 31) - 1),
    place=st.integers(BEHIND, 1_000),
    starts_at=MILLIS,
    number=st.integers(0, (1 << 31) - 1),
)


@given(STEPS, st.text())
def test_what_was_written_is_read(step: Step, question: str) -> None:
    cursor = write(step, question)
    assert read(cursor, question) == step
    assert len(cursor) < 100 and cursor.replace("-", "").replace("_", "").isalnum()


@given(STEPS, st.data())
def test_one_changed_letter_is_noticed(step: Step, data: st.DataObject) -> None:
    cursor = write(step, "q")
    place = data.draw(st.integers(0, len(cursor) - 1))
    letter = data.draw(st.sampled_from("ABCXYZabcxyz0189-_"))
    changed = cursor[:place] + letter + cursor[place + 1 :]
    if changed != cursor:
        with pytest.raises(InvalidRequest) as refused:
            read(changed, "q")
        assert refused.value.error_code == "bad_cursor"


@given(st.text(), STEPS)
def test_whatever_else_is_sent_is_refused(text: str, step: Step) -> None:
    for wrong in (text, write(step, "another question")):
        with pytest.raises(InvalidRequest):
            read(wrong, "q")
