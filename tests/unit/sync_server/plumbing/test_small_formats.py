"""Cursors, slugs and times."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import InvalidRequest
from sync_server.plumbing.api.pagination import decode_cursor, encode_cursor, paginate
from sync_server.plumbing.api.schemas import MILLIS_OF_YEAR_9999, iso, parse_time
from sync_server.plumbing.language.slugs import code_of, slug_of
from sync_server.plumbing.storable_json import visible


@given(st.integers(-(2**63), 2**63 - 1), st.text(max_size=40).map(visible))
def test_a_cursor_round_trips(number: int, text: str) -> None:
    assert decode_cursor(encode_cursor((number, text)), int, str) == (number, text)


@given(st.text(max_size=60))
def test_any_text_is_a_cursor_or_refused(text: str) -> None:
    try:
        assert isinstance(decode_cursor(text, int), tuple)
    except InvalidRequest as refusal:
        assert refusal.error_code == "bad_cursor"


def test_a_page_says_whether_more_follows() -> None:
    assert paginate([1, 2, 3], 2, lambda n: (n,)).next == encode_cursor((2,))
    assert paginate([1, 2], 2, lambda n: (n,)).next is None
    assert paginate([], 2, lambda n: (n,)).items == []


@given(st.integers(0, MILLIS_OF_YEAR_9999 - 1))
def test_times_round_trip(millis: int) -> None:
    assert parse_time(iso(millis)) == millis == parse_time(millis)


@pytest.mark.parametrize(
    ("text", "millis"), [("2026-07-04T18:00:00Z", 1_783_188_000_000), ("2026-07-04T20:00:00+02:00", 1_783_188_000_000)]
)
def test_offsets_are_understood(text: str, millis: int) -> None:
    assert parse_time(text) == millis


@pytest.mark.parametrize(
    "value", ["", "18:00", "2026-07-04", "2026-07-04T18:00:00", 1.5, None, True, -1, "9999-12-31T23:00:00Z"]
)
def test_invalid_times(value: object) -> None:
    with pytest.raises(ValueError, match=r"time|offset|years"):
        parse_time(value)


@pytest.mark.parametrize(
    ("name", "slug"),
    [("Große Halle", "grosse-halle"), ("  Rock & Roll! ", "rock-roll"), ("夏祭り", "event"), ("Ça va?", "ca-va")],
)
def test_slugs_of_names(name: str, slug: str) -> None:
    assert slug_of(name, lambda _: False) == slug


@given(st.text(max_size=100))
def test_every_name_has_a_slug_and_every_slug_a_code(name: str) -> None:
    slug = slug_of(name, {"event"}.__contains__)
    assert 1 <= len(slug) <= 60 and slug != "event"
    code = code_of(slug, {"EVENT"}.__contains__)
    assert 2 <= len(code) <= 12 and code.isalnum() and code.isupper() | code.isdigit() and code != "EVENT"
