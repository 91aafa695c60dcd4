"""Sends notifications to other processes on a thread of its own, so that no request waits for it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

import orjson

from sync_server.plumbing.messaging.bus import Notification

WAITING_LIMIT = 10_000
"""Notifications that may wait to be sent; beyond that all are dropped, and the receivers are told so."""
RETRY_S = 0.5
PACE_S = 0.02
"""Between two batches: each wakes every process of the installation, whatever it carries."""
WAKE_UPS_S = 0.1
"""Between two batches that only say that there is something to look at: whoever looks gathers as long, too."""
LAST_WORDS_S = 2.0


class Sender:
    """Combines what waits into few messages: the first goes at once, and in a rush they gather.

    After a loss the next message tells everybody to look for themselves.
    """

    def __init__(self, send: Callable[[Sequence[bytes]], bool], max_bytes: int, mark: str) -> None:
        """The thread starts with the first notification."""
        self._send, self._max_bytes, self._mark = send, max_bytes, mark
        self._waiting: deque[Notification] = deque()
        self._lost = self._urgent = self._dozing = False
        self._closing = threading.Event()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def put(self, notifications: Iterable[Notification]) -> None:
        """Send these soon."""
        with self._changed:
            new = list(notifications)
            self._waiting.extend(new)
            if len(self._waiting) > WAITING_LIMIT:
                self._waiting.clear()
                self._lost = True
            if self._thread is None and not self._closing.is_set():
                self._thread = threading.Thread(target=self._run, name="bus sender", daemon=True)
                self._thread.start()
            self._urgent = self._urgent or any(each.body for each in new)
            if self._urgent or not self._dozing:
                self._changed.notify()

    def close(self) -> None:
        """Send what is waiting, once, and end the thread."""
        self._closing.set()
        with self._changed:
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(LAST_WORDS_S)

    def _run(self) -> None:
        while (batch := self._next_batch()) is not None:
            sent = self._send(batch)
            if not sent:
                with self._changed:
                    self._lost = True
            self._closing.wait(PACE_S if sent else RETRY_S)
            self._doze()

    def _doze(self) -> None:
        """Wait until something says more than that there is something."""
        with self._changed:
            self._dozing = True
            self._changed.wait_for(lambda: self._urgent or self._lost or self._closing.is_set(), WAKE_UPS_S - PACE_S)
            self._dozing = False

    def _next_batch(self) -> list[bytes] | None:
        """The messages to send next, as soon as there are any; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._lost or self._closing.is_set())
            if not self._waiting and self._closing.is_set():
                return None
            waiting, lost = list(self._waiting), self._lost
            self._waiting.clear()
            self._lost = self._urgent = False
        return list(messages(self._mark, waiting, self._max_bytes, lost=lost))


def messages(mark: str, notifications: Iterable[Notification], max_bytes: int, *, lost: bool) -> Iterator[bytes]:
    """As few messages as these notifications fit into, in order."""
    notes: list[bytes] = []
    head = orjson.dumps({"from": mark, "missed": lost})[:-1] + b',"notes":['
    size = empty = len(head) + len(b"]}")
    for note in map(_packed, _without_repetition(notifications)):
        fitting = note if empty + len(note) <= max_bytes else _packed_reference(note)
        if size + len(fitting) > max_bytes:
            yield head + b",".join(notes) + b"]}"
            notes, size = [], empty
        notes.append(fitting)
        size += len(fitting) + 1
    if notes or lost:
        yield head + b",".join(notes) + b"]}"


def _without_repetition(notifications: Iterable[Notification]) -> Iterator[Notification]:
    """Notifications without content only wake somebody: once is enough."""
    seen: set[str] = set()
    for notification in notifications:
        if notification.body or notification.topic not in seen:
            yield notification
        if not notification.body:
            seen.add(notification.topic)


def _packed(notification: Notification) -> bytes:
    return orjson.dumps([notification.topic, notification.body])


def _packed_reference(note: bytes) -> bytes:
    """The topic alone, for a notification that fits into no message: its subscribers look for themselves."""
    return orjson.dumps([orjson.loads(note)[0], None])
