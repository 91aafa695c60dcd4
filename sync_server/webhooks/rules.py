"""What a webhook wants, when a message is tried again, and when a webhook is paused: pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from shared.clock import Millis
from shared.errors import InvalidRequest
from sync_server.outbox.catalogue import FACTS

SECOND: Final = 1_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR

PAUSES: Final = (5 * SECOND, 5 * MINUTE, 30 * MINUTE, *(hours * HOUR for hours in (2, 5, 10, 14, 20, 24)))
"""After the first failure, the second, and so on; the example of the Standard Webhooks specification."""
MAX_ATTEMPTS: Final = len(PAUSES) + 1
"""After so many in a row a message has failed, a good three days after the first."""
OVERTAKEN_AFTER: Final = 2
"""Failures after which later messages about the same event no longer wait for this one: five minutes."""
PAUSED_AFTER_MS: Final = 5 * DAY
"""A webhook at which nothing has succeeded for so long is paused."""
LONGEST_WISH_MS: Final = HOUR
"""`Retry-After` counts up to here."""
SLOW_MS: Final = 2 * SECOND
"""A webhook that takes longer than this to answer shares the lanes of those that fail."""
TURN_MS: Final = 5 * SECOND
"""A worker begins no new message to a webhook after this time, and then looks at the others."""
KEEP_MS: Final = 14 * DAY
"""Messages and their attempts are deleted after this time, whatever became of them."""
OVERLAP_HOURS: Final = 24
"""For how long the old secret signs too, unless the organisation says otherwise."""
MAX_WEBHOOKS: Final = 20
ALL: Final = "*"

GONE: Final = 410
_OK: Final = range(200, 300)


class State(StrEnum):
    """Where a message is on its way."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"  # tried as often as is reasonable; a replay tries again


class PausedBecause(StrEnum):
    """Why a webhook is paused."""

    OWNER = "asked"
    GONE = "gone"
    FAILING = "failing"


class Problem(StrEnum):
    """Why an attempt got no answer; the values are part of the API."""

    INSIDE_ADDRESS = "inside_address"
    NO_SUCH_HOST = "no_such_host"
    NO_CONNECTION = "no_connection"
    NO_TRUST = "certificate_not_trusted"
    SLOW = "too_slow"
    BAD_ANSWER = "no_http_answer"
    REFUSED = "refused"  # an answer, but none between 200 and 299
    UNREADABLE = "secret_unreadable"


@dataclass(frozen=True, slots=True)
class Attempt:
    """What became of one attempt."""

    at: Millis
    ms: int
    status: int | None = None
    problem: Problem | None = None
    answer: bytes = b""
    retry_after_s: int | None = None

    @property
    def delivered(self) -> bool:
        """Whether the receiver has taken the message."""
        return self.problem is None


def problem_of(status: int) -> Problem | None:
    """A redirect is not followed, and so has not delivered anything."""
    return None if status in _OK else Problem.REFUSED


def wants(wanted: Iterable[str], fact: str) -> bool:
    """Whether a webhook with these names and groups gets a fact; one of another version of the server nobody gets."""
    kind = FACTS.get(fact)
    return kind is not None and not {ALL, fact, f"{kind.group}.*"}.isdisjoint(wanted)


def check_facts(wanted: Collection[str]) -> None:
    """InvalidRequest for what is neither a fact, nor a group, nor all."""
    known = {ALL, *FACTS, *groups()}
    unknown = sorted(set(wanted) - known)
    if unknown:
        raise InvalidRequest(
            f"There are no facts called {', '.join(unknown)}. Name facts (event_published), groups "
            f"({', '.join(sorted(groups()))}), or * for all.",
            field="facts",
        )


def groups() -> set[str]:
    """The groups of facts, as they are written: `event.*`."""
    return {f"{kind.group}.*" for kind in FACTS.values()}


def check_url(url: str, *, http_allowed: bool) -> str:
    """The address with its host in ASCII; InvalidRequest for one that nothing should be posted to."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("idna").decode()
        port = parts.port
    except (ValueError, UnicodeError):
        raise InvalidRequest(
            "`url` is not a web address, such as https://example.org/gatehouse.", field="url"
        ) from None
    schemes = {"https", "http"} if http_allowed else {"https"}
    if parts.scheme not in schemes or not host:
        raise InvalidRequest(f"`url` must start with {' or '.join(sorted(schemes))}:// and name a host.", field="url")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise InvalidRequest("`url` may contain neither a user name nor a password, and no part after #.", field="url")
    if not url.isprintable() or not (parts.path + parts.query).isascii() or " " in url:
        raise InvalidRequest("Percent-encode characters outside ASCII, and spaces, in `url`.", field="url")
    at = f"[{host}]" if ":" in host else host
    return parts._replace(netloc=at if port is None else f"{at}:{port}").geturl()


def lease_ms(receiver_s: int) -> Millis:
    """How long a worker has a webhook to itself, to post to it; if it dies, another goes on then."""
    return TURN_MS + receiver_s * SECOND + 4 * SECOND


def pause(failures: int, jitter: float) -> Millis:
    """How long to wait after so many failures in a row: up to a tenth longer, so that not all come back together."""
    return int(PAUSES[min(failures, len(PAUSES)) - 1] * (1 + jitter / 10))
