"""When to try a mail again, and when to give it up: pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from shared.backoff import delays
from shared.clock import Millis

FIRST_PAUSE_MS: Final = 30_000
LONGEST_PAUSE_MS: Final = 2 * 3_600_000
GIVEN_UP_AFTER: Final = 24
"""Failed attempts, a good day."""
LEASE_MS: Final = 15 * 60_000
"""How long the worker that claimed a mail has it to itself; if it dies, another one sends the mail again."""
KEEP_MS: Final = 60 * 24 * 3_600_000

_STATUS: Final = re.compile(r"^([245]\.\d{1,3}\.\d{1,3})\b")


class State(StrEnum):
    """Where a mail is on its way."""

    WAITING = "waiting"
    SENT = "sent"  # taken by the mail server; it may still come back
    FAILED = "failed"
    BOUNCED = "bounced"
    VOID = "void"  # never meant to be sent: see `service.post`


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an attempt."""

    state: State
    problem: str = ""


def outcome(code: int, words: str) -> Outcome:
    """Of a mail server's answer: 5xx is final, all else may pass. Its words are not kept: they quote addresses."""
    status = _STATUS.match(words)
    problem = f"{code} {status[1]}" if status else str(code)
    return Outcome(State.FAILED if 500 <= code < 600 else State.WAITING, problem)


def pause(attempts: int, jitter: float) -> Millis:
    """How long to wait after so many failed attempts."""
    return delays(attempts - 1, base_ms=FIRST_PAUSE_MS, cap_ms=LONGEST_PAUSE_MS, jitter=jitter)
