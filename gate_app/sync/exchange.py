"""The conversation with the server without its wire: which request comes next, and what an answer means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, auto

from shared.errors import GatehouseError, Unreadable
from shared.http_signatures import Channel
from shared.protocol import (
    CHANGES,
    HELLO,
    JOURNAL,
    SNAPSHOT,
    ChangesAnswer,
    ChangesRequest,
    ErrorAnswer,
    EventAt,
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
class Call:
    """One request to make."""

    method: str
    path: str
    channel: Channel
    query: str = ""
    body: bytes = b""
    wait_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Greeted:
    """The server said who we are to it."""

    answer: HelloAnswer


@dataclass(frozen=True, slots=True)
class Framed:
    """One frame of a whole snapshot."""

    answer: SnapshotAnswer
    first: bool
    last: bool


@dataclass(frozen=True, slots=True)
class Changed:
    """What is new; `completes` names the event whose snapshot these changes bring up to date."""

    answer: ChangesAnswer
    completes: int | None


Step = Greeted | Framed | Changed


@dataclass(frozen=True, slots=True)
class Fetch:
    """A snapshot on its way in."""

    event: int
    after: str = ""
    base: EventAt | None = None  # what the first frame stood at
    whole: bool = False


class Asked(Enum):
    """Which question is open."""

    HELLO = auto()
    FRAME = auto()
    REST = auto()
    CHANGES = auto()


class PullExchange:
    """Hello, then whole snapshots of what is missing, then one long poll over everything."""

    def __init__(self, hello: Callable[[], HelloRequest], wait_s: float) -> None:
        """`hello` tells, when asked, what this gate holds by then."""
        self._hello = hello
        self._wait_s = wait_s
        self.in_a_hurry = False
        """Nothing is waited for: what the server knows already is wanted at once."""
        self._greeted = False
        self._held: dict[int, EventAt] = {}
        self._missing: list[int] = []
        self._fetch: Fetch | None = None
        self._asked = Asked.HELLO

    def next_request(self) -> Call:
        """What to ask now; the answer belongs to this question, whatever is told in between."""
        if not self._greeted:
            self._asked = Asked.HELLO
            return Call("POST", HELLO, "other", body=encode(self._hello()))
        if self._fetch is None and self._missing:
            self._fetch = Fetch(self._missing[0])
        if self._fetch is None:
            self._asked = Asked.CHANGES
            return _changes(list(self._held.values()), 0 if self.in_a_hurry else self._wait_s)
        return self._of_snapshot(self._fetch)

    def receive(self, status: int, body: bytes) -> Step:
        """What the answer means. Raises the server's refusal, and Unreadable for what is no answer to this question."""
        require_ok(status, body)
        if self._asked is Asked.HELLO:
            return Greeted(decode(HelloAnswer, body))
        if self._asked is Asked.CHANGES or self._fetch is None:
            return self._changed(decode(ChangesAnswer, body))
        if self._asked is Asked.REST:
            return Changed(decode(ChangesAnswer, body), self._fetch.event)
        return self._framed(self._fetch, decode(SnapshotAnswer, body))

    # -- what the gate tells after it did what a step said ------------------------------------------------------

    def serve(self, held: dict[int, EventAt], missing: list[int]) -> None:
        """After a greeting: the events this gate has rows of, and those it needs whole."""
        self._greeted = True
        self._held, self._missing = dict(held), list(missing)
        # A snapshot that takes the place of an older one goes on where the line broke, too.
        if self._fetch is not None and self._fetch.event not in {*held, *missing}:
            self._fetch = None

    def holds(self, at: EventAt) -> None:
        """The gate stands here now for this event."""
        self._held[at.event] = at
        if at.event in self._missing:
            self._missing.remove(at.event)
        if self._fetch is not None and self._fetch.event == at.event:
            self._fetch = None

    def continues(self, base: EventAt) -> None:
        """The snapshot on its way in has been brought up to here, and is not complete yet."""
        if self._fetch is not None:
            self._fetch = replace(self._fetch, base=base)

    def lost(self, event: int) -> None:
        """This event's rows cannot be continued: the whole snapshot, from the first frame."""
        self._held.pop(event, None)
        if event not in self._missing:
            self._missing.append(event)
        if self._fetch is not None and self._fetch.event == event:
            self._fetch = None

    def skip(self) -> None:
        """The server refused the snapshot that was asked for: the other events must not wait for it."""
        if self._fetch is not None and self._asked in (Asked.FRAME, Asked.REST):
            self._missing = [event for event in self._missing if event != self._fetch.event]
            self._fetch = None

    def greet_again(self) -> None:
        """After a silence, or when the server says that assignments changed."""
        self._greeted = False

    @property
    def idle(self) -> bool:
        """Whether everything is held and only news are waited for."""
        return self._greeted and self._fetch is None and not self._missing

    @property
    def serves_nothing(self) -> bool:
        """No event is assigned: there is nothing to ask but who we are."""
        return self.idle and not self._held

    def _of_snapshot(self, fetch: Fetch) -> Call:
        if fetch.whole and fetch.base is not None:
            self._asked = Asked.REST
            return _changes([fetch.base], 0)
        self._asked = Asked.FRAME
        query = f"event={fetch.event}&after={fetch.after}&limit={FRAME_ROWS}"
        return Call("GET", SNAPSHOT, "pull", query=query)

    def _changed(self, answer: ChangesAnswer) -> Changed:
        if answer.assignments_changed:
            self._greeted = False
        return Changed(answer, None)

    def _framed(self, fetch: Fetch, answer: SnapshotAnswer) -> Framed:
        if answer.event != fetch.event:
            raise Unreadable("The server answered with another event's rows. Nothing of them was used.")
        if fetch.base is not None and answer.lineage != fetch.base.lineage:
            self._fetch = None
            raise Unreadable(
                "The server was restored while its snapshot was read. It is read again from the beginning."
            )
        base = fetch.base or EventAt(event=answer.event, lineage=answer.lineage, revision=answer.base_revision)
        self._fetch = replace(fetch, after=answer.next or "", base=base, whole=answer.next is None)
        return Framed(answer, first=fetch.base is None, last=answer.next is None)


def _changes(events: list[EventAt], wait_s: float) -> Call:
    return Call("POST", CHANGES, "pull", body=encode(ChangesRequest(events=events, wait=wait_s)), wait_s=wait_s)


def journal_call(request: JournalRequest) -> Call:
    """The upload of a stretch of the journal."""
    return Call("POST", JOURNAL, "push", body=encode(request))


def journal_answer(status: int, body: bytes) -> JournalAnswer:
    """What became of it. Raises the server's refusal."""
    require_ok(status, body)
    return decode(JournalAnswer, body)


class Refused(GatehouseError):
    """The server said no, in its own words."""

    code, status = "refused_by_server", 502


def require_ok(status: int, body: bytes) -> None:
    """Raises what the server refused with."""
    if not 200 <= status < 300:
        raise refusal(body)


def refusal(body: bytes) -> Refused:
    """The server's error as ours, its code and details kept."""
    told = decode(ErrorAnswer, body).error
    return Refused(
        told.message,
        code=told.code,
        **{key: value for key, value in (told.details or {}).items() if key.isidentifier()},
    )
