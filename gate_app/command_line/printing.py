"""Prints JSON lines for machines on standard output, and messages for people on standard error."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from shared.admission import Mode, Verdict

# A message that can be said in other languages is printed in English.
_encode = msgspec.json.Encoder(enc_hook=str).encode


def print_json(result: dict[str, Any]) -> None:
    """Prints one JSON line and flushes it."""
    sys.stdout.buffer.write(_encode(result) + b"\n")
    sys.stdout.buffer.flush()


def print_message(message: str) -> None:
    """Prints a message for people; nothing if it is empty. Line and end in one, since several threads print."""
    if message:
        sys.stderr.write(f"{message}\n")
        sys.stderr.flush()


def print_status(result: dict[str, Any]) -> None:
    """Prints the status for people."""
    for name in ("organisation", "event", "gate", "mode", "online", "unsent", "snapshot_age_s", "revision", "inside"):
        print(f"{name.replace('_', ' '):>16}: {'-' if result.get(name) is None else result[name]}")
    clock = result["clock"]
    print(f"{'clock':>16}: {clock['now']} ± {clock['uncertainty_ms'] / 1000:.1f} s by {clock['source']}")
    for message in result["warnings"]:
        print(f"{'!':>16}  {message}")


def entry_text(line: dict[str, Any]) -> str:
    """A journal entry as one line for people."""
    verdict = ("admit" if line["admitted"] else "deny ") if line["reason"] else "     "
    result = line["reason"] or " ".join(f"{name}={value}" for name, value in line["details"].items() if value != "")
    return f"{line['branch']:>10}/{line['seq']:<6} {line['at']} {line['kind']:<12} {verdict} {result}".rstrip()


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
