"""The sync protocol without I/O: which request comes next, and what a response means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, auto

from shared.errors import GatehouseError, Unreadable
from shared.wire.http_signatures import Channel
from shared.wire.protocol import (
    CHANGES,
    HELLO,
    JOURNAL,
    SNAPSHOT,
    ChangesAnswer,
    ChangesRequest,
    ErrorAnswer,
    EventAt,
    Health,
    HelloAnswer,
    HelloRequest,
    JournalAnswer,
    JournalRequest,
    SnapshotAnswer,
    decode,
    encode,
)

FRAME_ROWS = 5_000


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One request to make."""

    method: str
    path: str
    channel: Channel
    query: str = ""
    body: bytes = b""
    wait_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Greeted:
    """The answer to a hello."""

    answer: HelloAnswer


@dataclass(frozen=True, slots=True)
class Framed:
    """One frame of a whole snapshot."""

    answer: SnapshotAnswer
    first: bool
    last: bool


@dataclass(frozen=True, slots=True)
class Changed:
    """Changes; `completes` names the event whose new snapshot they bring up to date."""

    answer: ChangesAnswer
    completes: int | None


Step = Greeted | Framed | Changed


@dataclass(frozen=True, slots=True)
class SnapshotFetch:
    """A snapshot being received."""

    event: int
    after: str = ""
    then: str = ""  # where the frame after the next one begins, as far as the server could tell
    base: EventAt | None = None  # the position of the first frame
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """What a gate says of itself with each request for changes."""

    branch: int  # of its journal
    unsent: int | None = None
    health: Health | None = None


class PendingRequest(Enum):
    """Which request is waiting for its response."""

    HELLO = auto()
    FRAME = auto()
    REST = auto()
    CHANGES = auto()


class PullExchange:
    """Decides the order of requests: hello, missing snapshots, then one long poll for all events."""

    def __init__(self, hello: Callable[[], HelloRequest], wait_s: float, said: Callable[[], Said]) -> None:
        """`hello` builds a hello request from what this gate holds; `said` is what it says in passing."""
        self._hello = hello
        self._said = said
        self._wait_s = wait_s
        self.no_waiting = False
        """Ask for changes without long polling: what the server already has is wanted at once."""
        self._greeted = False
        self._held: dict[int, EventAt] = {}
        self._missing: list[int] = []
        self._fetch: SnapshotFetch | None = None
        self._pending = PendingRequest.HELLO

    def next_request(self) -> ApiCall:
        """The next request; `receive` takes the response to it."""
        if not self._greeted:
            self._pending = PendingRequest.HELLO
            return ApiCall("POST", HELLO, "other", body=encode(self._hello()))
        if self._fetch is None and self._missing:
            self._fetch = SnapshotFetch(self._missing[0])
        if self._fetch is None:
            self._pending = PendingRequest.CHANGES
            return _changes(list(self._held.values()), 0 if self.no_waiting else self._wait_s, self._said())
        return self._of_snapshot(self._fetch)

    def guess(self) -> ApiCall | None:
        """The request after the next one, unless rows come or go before it; None if nobody can tell."""
        fetch = self._fetch
        return _frame(fetch.event, fetch.then) if fetch is not None and fetch.then and not fetch.whole else None

    def receive(self, status: int, body: bytes) -> Step:
        """Decodes the response. Raises Refused, and Unreadable for a response that does not fit the request."""
        require_ok(status, body)
        if self._pending is PendingRequest.HELLO:
            return Greeted(decode(HelloAnswer, body))
        if self._pending is PendingRequest.CHANGES or self._fetch is None:
            return self._changed(decode(ChangesAnswer, body))
        if self._pending is PendingRequest.REST:
            return Changed(decode(ChangesAnswer, body), self._fetch.event)
        return self._framed(self._fetch, decode(SnapshotAnswer, body))

    def serve(self, held: dict[int, EventAt], missing: list[int]) -> None:
        """After a hello: sets the events this gate has rows for, and those whose snapshots are missing."""
        self._greeted = True
        self._held, self._missing = dict(held), list(missing)
        # A snapshot that replaces an older one also resumes where the connection broke.
        if self._fetch is not None and self._fetch.event not in {*held, *missing}:
            self._fetch = None

    def holds(self, at: EventAt) -> None:
        """Records the position this gate now has for an event."""
        self._held[at.event] = at
        if at.event in self._missing:
            self._missing.remove(at.event)
        if self._fetch is not None and self._fetch.event == at.event:
            self._fetch = None

    def continues(self, base: EventAt) -> None:
        """Records that the snapshot being received has reached this position and is not complete yet."""
        if self._fetch is not None:
            self._fetch = replace(self._fetch, base=base)

    def lost(self, event: int) -> None:
        """Fetches the whole snapshot of an event again, because its rows cannot be continued."""
        self._held.pop(event, None)
        if event not in self._missing:
            self._missing.append(event)
        if self._fetch is not None and self._fetch.event == event:
            self._fetch = None

    def skip(self) -> None:
        """Gives up the snapshot that the server refused, so that other events do not wait for it."""
        if self._fetch is not None and self._pending in (PendingRequest.FRAME, PendingRequest.REST):
            self._missing = [event for event in self._missing if event != self._fetch.event]
            self._fetch = None

    def greet_again(self) -> None:
        """Makes the next request a hello: after lost contact, or when assignments have changed."""
        self._greeted = False

    @property
    def greets(self) -> bool:
        """Whether the next request is a hello."""
        return not self._greeted

    @property
    def idle(self) -> bool:
        """Whether all snapshots are complete and only changes are awaited."""
        return self._greeted and self._fetch is None and not self._missing

    @property
    def serves_nothing(self) -> bool:
        """Whether no event is assigned, so that only a hello makes sense."""
        return self.idle and not self._held

    def _of_snapshot(self, fetch: SnapshotFetch) -> ApiCall:
        if fetch.whole and fetch.base is not None:
            self._pending = PendingRequest.REST
            return _changes([fetch.base], 0, self._said())
        self._pending = PendingRequest.FRAME
        return _frame(fetch.event, fetch.after)

    def _changed(self, answer: ChangesAnswer) -> Changed:
        if answer.assignments_changed:
            self._greeted = False
        return Changed(answer, None)

    def _framed(self, fetch: SnapshotFetch, answer: SnapshotAnswer) -> Framed:
        if answer.event != fetch.event:
            raise Unreadable("The server answered with the rows of another event. They were discarded.")
        if fetch.base is not None and answer.lineage != fetch.base.lineage:
            self._fetch = None
            raise Unreadable(
                "The server was restored during the download. The snapshot will be fetched again from the beginning."
            )
        base = fetch.base or EventAt(event=answer.event, lineage=answer.lineage, revision=answer.base_revision)
        after, then = answer.next or "", answer.then or ""
        self._fetch = replace(fetch, after=after, then=then, base=base, whole=answer.next is None)
        return Framed(answer, first=fetch.base is None, last=answer.next is None)


def _frame(event: int, after: str) -> ApiCall:
    return ApiCall("GET", SNAPSHOT, "pull", query=f"event={event}&after={after}&limit={FRAME_ROWS}")


def _changes(events: list[EventAt], wait_s: float, said: Said) -> ApiCall:
    request = ChangesRequest(events=events, wait=wait_s, branch=said.branch, unsent=said.unsent, health=said.health)
    return ApiCall("POST", CHANGES, "pull", body=encode(request), wait_s=wait_s)


def journal_call(request: JournalRequest) -> ApiCall:
    """The request that uploads part of the journal."""
    return ApiCall("POST", JOURNAL, "push", body=encode(request))


def journal_answer(status: int, body: bytes) -> JournalAnswer:
    """Decodes the response to an upload. Raises Refused."""
    require_ok(status, body)
    return decode(JournalAnswer, body)


class Refused(GatehouseError):
    """The server refused a request; carries its message and code."""

    code, status = "refused_by_server", 502


def require_ok(status: int, body: bytes) -> None:
    """Raises Refused unless the status is 2xx."""
    if not 200 <= status < 300:
        raise refusal(body)


def refusal(body: bytes) -> Refused:
    """The server's error as an exception, with its code and details."""
    error = decode(ErrorAnswer, body).error
    return Refused(
        error.message,
        code=error.code,
        **{key: value for key, value in (error.details or {}).items() if key.isidentifier()},
    )
