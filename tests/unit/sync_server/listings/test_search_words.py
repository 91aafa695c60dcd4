"""Texts are split into the same words however they are typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync_server.listings.search_words import for_postgresql, for_sqlite
from sync_server.plumbing.language.words import MAX_WORD_LETTERS, split_words


@pytest.mark.parametrize(
    ("text", "words"),
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
        ("x" * 500, ["x" * MAX_WORD_LETTERS]),
    ],
)
def test_words_of_a_text(text: str, words: list[str]) -> None:
    assert split_words(text) == words


@given(st.text())
def test_words_contain_no_search_operators(text: str) -> None:
    found = split_words(text)
    assert len(found) == len(set(found))
    for word in found:
        assert 0 < len(word) <= MAX_WORD_LETTERS
        assert not set(word) & set(" \0'\"\\&|!():*^-+<>{}")


@given(st.text(), st.text())
def test_splitting_does_not_depend_on_the_context(first: str, second: str) -> None:
    assert set(split_words(f"{first} {second}")) == {*split_words(first), *split_words(second)}


def test_query_syntax_of_each_database() -> None:
    assert for_sqlite(["night"], "mus") == '"night" "mus"*'
    assert for_postgresql(["night"], "mus") == "'night' & 'mus':*"
    assert (for_sqlite(["night"], ""), for_postgresql([], "mus")) == ('"night"', "'mus':*")
