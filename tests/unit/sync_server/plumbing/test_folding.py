"""Folded text is the same however it was written."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync_server.plumbing.language.folding import fold


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("Zürich", "zurich"),
        ("ZU\u0308RICH", "zurich"),
        ("Große  Straße", "grosse strasse"),
        ("Łódź", "lodz"),
        ("København ", "kobenhavn"),
        ("İstanbul", "istanbul"),
        ("Ærø", "aero"),
        ("São\u00a0Paulo", "sao paulo"),
        ("ﬁn", "fin"),
        ("한국", "한국"),
        ("東京", "東京"),
        ("", ""),
        (" \t\n", ""),
        ("L\u2019Aquila", "l'aquila"),
    ],
)
def test_case_accents_and_spaces_make_no_difference(written: str, folded: str) -> None:
    assert fold(written) == folded


@given(st.text())
def test_folding_twice_changes_nothing_and_forms_of_a_letter_are_one(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert fold(unicodedata.normalize("NFD", text)) == fold(unicodedata.normalize("NFC", text))
