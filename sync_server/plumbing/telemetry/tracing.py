"""The trace that this thread works for: log lines name it, and facts carry it on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from shared import trace
from shared.trace import Trace

_CURRENT: ContextVar[Trace | None] = ContextVar("trace", default=None)


def of_request(header: str, request_id: str) -> Trace:
    """The trace that a request belongs to: the one that its sender names, or else one named like the request."""
    own = trace.begin(_unique(request_id))
    caller = trace.heard(header) if header else None
    return own if caller is None else Trace(caller.trace_id, own.span_id, caller.sampled)


def enter(work: Trace | None) -> None:
    """From now on this thread works for a trace, or for none."""
    _CURRENT.set(work)


@contextmanager
def working_for(header: str) -> Iterator[None]:
    """Work for the trace of this header within the block; for none if it is empty."""
    token = _CURRENT.set(trace.heard(header) if header else None)
    try:
        yield
    finally:
        _CURRENT.reset(token)


@contextmanager
def new_trace(unique_id: str) -> Iterator[None]:
    """Work for a trace of its own within the block, named by an id that nothing else has."""
    token = _CURRENT.set(trace.begin(_unique(unique_id)))
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current() -> Trace | None:
    """The trace that this thread works for."""
    return _CURRENT.get()


def trace_id() -> str:
    """The id of the current trace; empty where there is none."""
    current = _CURRENT.get()
    return "" if current is None else current.trace_id


def header() -> str | None:
    """What to pass on as `traceparent`; None where there is no trace."""
    current = _CURRENT.get()
    return None if current is None else current.header()


def _unique(request_id: str) -> bytes:
    """A UUID as the id of a trace; its second half, which is random, as that of its first step."""
    number = bytes.fromhex(request_id.replace("-", ""))
    return number + number[8:]
