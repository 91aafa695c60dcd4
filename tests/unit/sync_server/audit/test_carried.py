"""A file that somebody hands us as an exported log: proved, broken, or no such file at all; never a traceback."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from shared.errors import InvalidRequest
from sync_server.audit.carried import prove_file
from sync_server.audit.following import Link
from tests.unit.sync_server.audit.chains import a_chain

GOOD: dict[str, Any] = {"kind": "line", "seq": 1, "seal": "00" * 32, "line": {}, "personal": {}}
HEAD: dict[str, Any] = {"kind": "head", "chain": "org", "seq": 5, "seal": None, "at": 1, "signature": None}


def written(links: list[Link]) -> list[dict[str, Any]]:
    """As an export has them."""
    lines = [GOOD | {"seq": link.seq, "seal": link.seal.hex(), "line": dict(link.line)} for link in links]
    return [*lines, HEAD | {"seq": links[-1].seq, "seal": links[-1].seal.hex()}]


def proved(lines: list[dict[str, Any]]) -> bool:
    return prove_file(map(json.dumps, lines)).broken is None


def test_a_whole_file() -> None:
    assert proved(written(a_chain()))


def test_a_file_whose_end_is_missing() -> None:
    whole = written(a_chain())
    assert not proved(whole[:-1]) and not proved(whole[:3]) and not proved(whole[:3] + whole[-1:])
    assert not proved([*whole, whole[-1]])


@pytest.mark.parametrize("text", ["", "not JSON", "[]", "{}", "\x00", "[" * 100_000, "7", "null"])
def test_what_is_no_line_of_an_export(text: str) -> None:
    with pytest.raises(InvalidRequest, match="Line 1 "):
        prove_file([text])


@pytest.mark.parametrize("good", [GOOD, HEAD], ids=["line", "head"])
@pytest.mark.parametrize("change", [{"seq": "x"}, {"seq": -1}, {"seq": 2**80}, {"seal": "zz"}, {"seal": "abc"}])
def test_words_that_lie_about_what_they_are(good: dict[str, Any], change: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match="Line 1 "):
        prove_file([json.dumps(good | change)])


JUNK = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text() | some.just("\ud800"),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JUNK, some.sampled_from([*GOOD, *HEAD]), some.sampled_from([GOOD, HEAD]))
def test_any_word_may_be_anything(junk: Any, word: str, good: dict[str, Any]) -> None:
    try:
        found = prove_file([json.dumps(good | {word: junk}), json.dumps(good)], public=bytes(32))
    except InvalidRequest:
        return
    assert found.broken is not None
