"""How a view hands a request that has to wait over to the streams listener."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol
from urllib.parse import urlsplit

from flask import Response, request

from shared.errors import Unavailable
from sync_server.plumbing.messaging.bus import Notification
from sync_server.plumbing.parts import parts
from sync_server.plumbing.web import client_address

ENVIRON: Final = "gatehouse.handed_over"
"""The key in the WSGI environment of a list for what the view hands over; only the streams listener sets it."""
STREAM_HEADERS: Final = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
}


class ReaderKind(StrEnum):
    """The kind of client that waits."""

    GATE = "gate"
    BROWSER = "browser"  # signed in
    VISITOR = "visitor"  # not signed in


@dataclass(frozen=True, slots=True)
class StreamText:
    """Encoded server-sent events; the id tells a fact that a reader has already got when it reconnected."""

    text: bytes
    message_id: str = ""


class StreamEnded(Exception):
    """Raised by a source that has nothing more to send; readers get `last` and are disconnected."""

    def __init__(self, last: bytes = b"") -> None:
        super().__init__()
        self.last = last


class StreamSource(Protocol):
    """What all readers of a stream share. Called on a pool thread, one call at a time."""

    pace_s: float
    """The least time from one update to the next."""

    def start(self) -> None:
        """Note where the stream stands, before the first update."""
        ...

    def update(self, notes: Sequence[Notification], *, look: bool) -> Iterable[StreamText]:
        """What these notifications mean; with `look`, also what the bus may not have announced."""
        ...

    def due_s(self) -> float:
        """In how many seconds an update is due even without a notification."""
        ...


@dataclass(frozen=True, slots=True)
class Access:
    """A check whether readers may go on reading; one with the same key serves all of them."""

    key: Hashable
    allowed: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream to open: readers with the same key share one source."""

    key: Hashable
    topics: Sequence[str]
    make_source: Callable[[], StreamSource]
    opening: Callable[[], Iterable[StreamText]]
    """The first texts for this reader alone; called when the source already listens."""
    kind: ReaderKind
    access: Access | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The response to a long poll; its headers replace those of the view."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes


@dataclass(frozen=True, slots=True)
class LongPoll:
    """A request that is answered once there is something new, or when its time is up."""

    topics: Sequence[str]
    wait_s: float
    answer: Callable[[bool], Answer | float]
    """The answer; while there is nothing new and the time is not up (False), in how many seconds to look again."""
    kind: ReaderKind


@dataclass(frozen=True, slots=True)
class HandedOver:
    """What waits, and from which address."""

    waiting: Stream | LongPoll
    address: str


def may_wait() -> bool:
    """Whether this request came through the streams listener, where waiting costs no thread."""
    return ENVIRON in request.environ


def hand_over(waiting: Stream | LongPoll, response: Response | None = None) -> Response:
    """The head of the response, for a stream by default; other addresses redirect to the streams listener (307)."""
    if may_wait():
        request.environ[ENVIRON].append(HandedOver(waiting, client_address()))
        return response or Response(headers=STREAM_HEADERS)
    url = listener_url()
    if not url:
        raise Unavailable("This address holds no streams open.", code="no_streams_here", retry_after=30)
    return Response(status=307, headers={"Location": url + request.full_path.rstrip("?")})


def listener_url() -> str:
    """The streams listener's public address: as configured, or its port on the host that the client named.

    Empty behind a proxy, where it is that of the server: the proxy tells by the path who is asked.
    """
    config = parts().config
    if config.streams_url is not None:
        return config.streams_url.rstrip("/")
    if config.streams_endpoint is None or config.trusted_proxies:
        return ""
    host = urlsplit(f"//{request.host}").hostname or ""
    return f"{request.scheme}://{f'[{host}]' if ':' in host else host}:{config.streams_endpoint[1]}"
