"""One JSON object a line for machines on standard output, words for people on standard error."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from shared.admission import Mode, Verdict

_encode = msgspec.json.Encoder().encode


def tell(told: dict[str, Any]) -> None:
    """One line, out of this process before it returns."""
    sys.stdout.buffer.write(_encode(told) + b"\n")
    sys.stdout.buffer.flush()


def say(words: str) -> None:
    """For whoever stands in front of the terminal."""
    if words:
        print(words, file=sys.stderr, flush=True)


class PrintedLamp:
    """A gate whose lamp is its standard output: the line is printed between commit and mark, as a lamp would light."""

    def __init__(self, micros: Any) -> None:
        """`micros` answers how long the scan took so far."""
        self._micros = micros

    def give(self, told: dict[str, Any], verdict: Verdict, mode: Mode) -> None:
        """A new verdict."""
        del verdict, mode
        tell(told | {"micros": self._micros()})

    def again(self, told: dict[str, Any]) -> None:
        """The same line, marked as a repeat."""
        tell(told | {"micros": self._micros()})
