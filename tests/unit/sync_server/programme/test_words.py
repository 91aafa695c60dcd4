"""Texts come apart into the same words however they were typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync_server.programme.words import LONGEST, for_postgresql, for_sqlite, words


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        ("", []),
        ("  \t\n ", []),
        ("Night Music", ["night", "music"]),
        ("ÉMILIE e\u0301milie", ["emilie"]),
        ("AC/DC: 100% (live)", ["ac", "dc", "100", "live"]),
        ("rock'n'roll rock", ["rock", "n", "roll"]),
        ("Straße Łódź Æther", ["strasse", "lodz", "aether"]),
        ("Rock🎸🎸Night ❤\ufe0f", ["rock", "🎸", "night", "❤"]),
        ("'; DROP -- & | ! ( ) * \" : \\ ^", ["drop"]),
        ("x" * 500, ["x" * LONGEST]),
    ],
)
def test_words_of_a_text(text: str, apart: list[str]) -> None:
    assert words(text) == apart


@given(st.text())
def test_words_hold_nothing_that_a_search_could_take_for_an_operator(text: str) -> None:
    found = words(text)
    assert len(found) == len(set(found))
    for word in found:
        assert 0 < len(word) <= LONGEST
        assert not set(word) & set(" \0'\"\\&|!():*^-+<>{}")


@given(st.text(), st.text())
def test_a_word_is_the_same_wherever_it_stands(first: str, second: str) -> None:
    assert set(words(f"{first} {second}")) == {*words(first), *words(second)}


def test_each_database_is_asked_in_its_own_words() -> None:
    assert for_sqlite(["night"], "mus") == '"night" "mus"*'
    assert for_postgresql(["night"], "mus") == "'night' & 'mus':*"
    assert (for_sqlite(["night"], ""), for_postgresql([], "mus")) == ('"night"', "'mus':*")
