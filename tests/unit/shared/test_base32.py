"""One text for given bytes, one set of bytes for a given text."""

from __future__ import annotations

from base64 import b32decode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared import base32

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


@given(st.binary(max_size=200))
def test_what_is_written_is_read_back(raw: bytes) -> None:
    text = base32.encode(raw)
    assert base32.decode(text) == raw
    assert b32decode(text + "=" * (-len(text) % 8)) == raw


@given(st.text(ALPHABET, max_size=60) | st.text(max_size=20))
def test_whatever_is_read_would_be_written_just_so(text: str) -> None:
    raw = base32.decode(text)
    assert raw is None or base32.encode(raw) == text


@pytest.mark.parametrize(
    "text", ["a", "A", "AAA", "AAAAAA", "AB", "aa", "A A", " AA", "A_A", "+AA", "-AA", "AA==", "\uff21A"]
)
def test_anything_else_is_not_read(text: str) -> None:
    assert base32.decode(text) is None
