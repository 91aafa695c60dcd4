"""Prints JSON lines for machines on standard output, and messages for people on standard error."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from shared.admission import Mode, Verdict

_encode = msgspec.json.Encoder().encode


def print_json(result: dict[str, Any]) -> None:
    """Prints one JSON line and flushes it."""
    sys.stdout.buffer.write(_encode(result) + b"\n")
    sys.stdout.buffer.flush()


def print_message(message: str) -> None:
    """Prints a message for people; nothing if it is empty."""
    if message:
        print(message, file=sys.stderr, flush=True)


class PrintedLamp:
    """A lamp that prints: the line appears after the commit, when a real lamp would light."""

    def __init__(self, micros: Any) -> None:
        """`micros` returns how long the scan has taken so far."""
        self._micros = micros

    def show(self, result: dict[str, Any], verdict: Verdict, mode: Mode) -> None:
        """A new verdict."""
        del verdict, mode
        print_json(result | {"micros": self._micros()})

    def repeat(self, result: dict[str, Any]) -> None:
        """The result again, marked as a repeat."""
        print_json(result | {"micros": self._micros()})
