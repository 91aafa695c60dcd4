"""W3C Trace Context: one id that follows a request through proxy, server, worker, broker and gate."""

from __future__ import annotations

import re
from dataclasses import dataclass

HEADER = "traceparent"

_FORM = re.compile(r"(?P<version>[0-9a-f]{2})-(?P<trace>[0-9a-f]{32})-(?P<span>[0-9a-f]{16})-(?P<flags>[0-9a-f]{2})")
_VERSION, _FORBIDDEN = "00", "ff"
_SAMPLED = 1


@dataclass(frozen=True, slots=True)
class Trace:
    """A place in a trace: the id of the whole, and that of the step which is under way."""

    trace_id: str  # 32 hexadecimal digits
    span_id: str  # 16
    sampled: bool = True

    def header(self) -> str:
        """The value of `traceparent` for whoever is asked next."""
        return f"{_VERSION}-{self.trace_id}-{self.span_id}-{self.sampled:02x}"


def begin(unique: bytes) -> Trace:
    """A new trace, named by the first 24 of these bytes, which nothing else has."""
    return Trace(_digits(unique[:16]), _digits(unique[16:24]))


def heard(header: str) -> Trace | None:
    """The trace that a header names; None for anything else, which counts as none at all."""
    found = _FORM.match(header)
    if found is None or found["version"] == _FORBIDDEN or not int(found["trace"], 16) or not int(found["span"], 16):
        return None
    # Later versions may append fields; behind those of this one nothing may follow.
    rest = header[found.end() :]
    if rest and (found["version"] == _VERSION or not rest.startswith("-")):
        return None
    return Trace(found["trace"], found["span"], bool(int(found["flags"], 16) & _SAMPLED))


def _digits(number: bytes) -> str:
    """Hexadecimal digits that are not all zeros, which would mean none."""
    return number.hex() if any(number) else number[:-1].hex() + "01"
