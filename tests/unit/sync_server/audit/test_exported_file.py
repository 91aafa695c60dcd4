"""A file given as an exported log is intact, broken, or not an export at all; never a traceback."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from shared.errors import InvalidRequest
from sync_server.audit.chain_check import SealedLine
from sync_server.audit.exported_file import prove_file
from tests.unit.sync_server.audit.chains import a_chain

GOOD: dict[str, Any] = {"kind": "line", "seq": 1, "seal": "00" * 32, "line": {}, "personal": {}}
HEAD: dict[str, Any] = {"kind": "head", "chain": "org", "seq": 5, "seal": None, "at": 1, "signature": None}


def exported(sealed: list[SealedLine]) -> list[dict[str, Any]]:
    """These lines as an export has them."""
    lines = [GOOD | {"seq": line.seq, "seal": line.seal.hex(), "line": dict(line.line)} for line in sealed]
    return [*lines, HEAD | {"seq": sealed[-1].seq, "seal": sealed[-1].seal.hex()}]


def intact(lines: list[dict[str, Any]]) -> bool:
    return prove_file(map(json.dumps, lines)).broken is None


def test_a_whole_file() -> None:
    assert intact(exported(a_chain()))


def test_a_truncated_file() -> None:
    whole = exported(a_chain())
    assert not intact(whole[:-1]) and not intact(whole[:3]) and not intact(whole[:3] + whole[-1:])
    assert not intact([*whole, whole[-1]])


@pytest.mark.parametrize("text", ["", "not JSON", "[]", "{}", "\x00", "[" * 100_000, "7", "null"])
def test_text_that_is_not_a_line_of_an_export(text: str) -> None:
    with pytest.raises(InvalidRequest, match="Line 1 "):
        prove_file([text])


@pytest.mark.parametrize("good", [GOOD, HEAD], ids=["line", "head"])
@pytest.mark.parametrize("change", [{"seq": "x"}, {"seq": -1}, {"seq": 2**80}, {"seal": "zz"}, {"seal": "abc"}])
def test_fields_of_the_wrong_type(good: dict[str, Any], change: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match="Line 1 "):
        prove_file([json.dumps(good | change)])


JUNK = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text() | some.just("\ud800"),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JUNK, some.sampled_from([*GOOD, *HEAD]), some.sampled_from([GOOD, HEAD]))
def test_any_field_may_be_anything(junk: Any, field: str, good: dict[str, Any]) -> None:
    try:
        found = prove_file([json.dumps(good | {field: junk}), json.dumps(good)], public=bytes(32))
    except InvalidRequest:
        return
    assert found.broken is not None
