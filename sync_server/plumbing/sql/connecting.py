"""Connections to PostgreSQL: how long they wait, and what they do while it accepts no more of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import psycopg

T = TypeVar("T")

#: Whoever is gone is noticed, also where packets vanish: by libpq itself, so that it holds behind a pooler too.
NETWORK_LIMITS: Final = {
    "connect_timeout": 5,
    "tcp_user_timeout": 15_000,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}
WAIT_FOR_A_PLACE_S: Final = 10.0
_PAUSES_S: Final = (0.05, 0.1, 0.2, 0.4)
#: libpq has no SQLSTATE of a refused connection, only the server's words.
_NOT_NOW: Final = ("too many clients", "remaining connection slots", "too many connections", "starting up")


@dataclass(frozen=True, slots=True)
class Limits:
    """How long PostgreSQL lets one statement run, a lock be waited for, and a transaction do nothing; 0 is for ever."""

    statement_s: int = 0
    lock_s: int = 0
    idle_s: int = 0

    def options(self) -> str:
        """As options of a connection, which a pooler does not accept."""
        named = {
            "statement_timeout": self.statement_s,
            "lock_timeout": self.lock_s,
            "idle_in_transaction_session_timeout": self.idle_s,
        }
        return " ".join(f"-c {name}={seconds}s" for name, seconds in named.items() if seconds)


NO_LIMITS: Final = Limits()
"""For the worker and for commands, whose work may be long."""


def says_not_now(refused: psycopg.OperationalError) -> bool:
    """Whether PostgreSQL is there, but takes no more connections for the moment."""
    return any(words in str(refused) for words in _NOT_NOW)


def connect_patiently(connect: Callable[[], T], wait_s: float = WAIT_FOR_A_PLACE_S) -> T:
    """Connect, and wait for a place while all connections that PostgreSQL allows are taken."""
    waited, attempt = 0.0, 0
    while True:
        try:
            return connect()
        except psycopg.OperationalError as refused:
            if waited >= wait_s or not says_not_now(refused):
                raise
        pause = _PAUSES_S[min(attempt, len(_PAUSES_S) - 1)]
        threading.Event().wait(pause)
        waited, attempt = waited + pause, attempt + 1


def arguments(limits: Limits, *, pooled: bool) -> dict[str, Any]:
    """The arguments of a connection; behind a pooler only those of the network."""
    options = "" if pooled else limits.options()
    return {**NETWORK_LIMITS, **({"options": options} if options else {})}
