"""The header by which a request is followed: what is read, and what counts as none."""

from __future__ import annotations

import pytest

from shared.trace import Trace, begin, heard

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.mark.parametrize(
    ("header", "trace"),
    [
        (f"00-{TRACE}-{SPAN}-01", Trace(TRACE, SPAN, True)),
        (f"00-{TRACE}-{SPAN}-00", Trace(TRACE, SPAN, False)),
        (f"00-{TRACE}-{SPAN}-03", Trace(TRACE, SPAN, True)),
        (f"cc-{TRACE}-{SPAN}-01-what-comes-later", Trace(TRACE, SPAN, True)),
    ],
)
def test_a_trace_is_heard_and_passed_on(header: str, trace: Trace) -> None:
    assert heard(header) == trace
    assert heard(trace.header()) == trace


@pytest.mark.parametrize(
    "header",
    [
        "",
        "nonsense",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01-more",
        f"cc-{TRACE}-{SPAN}-01more",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{TRACE[1:]}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE}-{SPAN}-01\nrequest_id=1",
        "é" * 55,
        "0" * 10_000,
    ],
)
def test_anything_else_is_none(header: str) -> None:
    assert heard(header) is None


def test_a_new_trace_is_named_by_what_nothing_else_has() -> None:
    one, other = begin(bytes(range(24))), begin(bytes(24))
    assert heard(one.header()) == one != other
    assert heard(other.header()) == other, "zeros would mean no trace"
