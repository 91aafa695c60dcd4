"""Keeps an open map up to date: waits for news, as a long poll or as server-sent events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from shared.clock import Millis
from shared.errors import GatehouseError, NotFound
from sync_server.house_plan.board import Board, News
from sync_server.house_plan.viewers import Viewer, require_shown
from sync_server.plumbing.bus import Listener
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.parts import Parts

SECOND: Final = 1_000_000_000
LOOK_EVERY_S: Final = 0.5
"""Where nothing is heard, news is found so late at most."""
PACE_S: Final = 0.2
"""In a rush all readers of a house look so often, together: nobody sees more than five pictures a second."""
LOOK_ANYWAY_S: Final = 10
"""So often it is looked without a reason, and the silence is broken."""
LASTS_S: Final = 600
"""After as long a reader comes again."""
LASTS_FOR_ORGANISERS_S: Final = 50
"""The same for whoever had to sign in: a session that has ended keeps no stream for longer than a minute."""
COME_BACK_MS: Final = 2_000
COME_AGAIN_MS: Final = 100
"""When the stream ends by plan: whoever waited for two seconds then would hear of a change too late."""


@dataclass(slots=True)
class Reader:
    """One open map, and the version that it shows."""

    parts: Parts
    board: Board
    viewer: Viewer
    since: str
    _told: int = -1  # how far the log had come at the last look

    def look(self, asked_at: int | None = None) -> News:
        """What is new; NotFound once the event is not to be seen any more."""
        who = self.viewer
        seen = self.board.glances.look(who.event_id, asked_at)
        require_shown(seen, who)
        self._told = seen.head.version
        return self.board.news(seen, self.since, organiser=who.organiser)

    def wait(self, seconds: float) -> News:
        """News, as soon as there is any; none after so many seconds."""
        with self.board.ear.listening(self.viewer.event_id) as listener:
            for news in self._looks(listener, seconds):
                if news.changes.anything:
                    break
            return news

    def frames(self) -> Iterator[bytes]:
        """The same as server-sent events, one after the other, until the reader or the server goes."""
        yield _retry(COME_BACK_MS)
        try:
            with self.board.ear.listening(self.viewer.event_id) as listener:
                for news in self._looks(listener, LASTS_FOR_ORGANISERS_S if self.viewer.organiser else LASTS_S):
                    yield self._frame_of(news)
            if not self.parts.stop.is_set():
                yield _retry(COME_AGAIN_MS)
        except NotFound:
            yield _frame(b"gone", self.since, b"{}")
        except (SQLAlchemyError, GatehouseError) as problem:  # whoever comes again is told in words
            LOG.warning("stream_ended", problem=type(problem).__name__)

    def _frame_of(self, news: News) -> bytes:
        if not news.changes.anything:
            return b": heartbeat\n\n"
        self.since = news.changes.version
        return _frame(b"changes", self.since, news.text)

    def _looks(self, listener: Listener, seconds: float) -> Iterator[News]:
        """One look now, and one whenever something may have happened, for so long or until the server stops."""
        looked_at = self.parts.monotonic()
        over = looked_at + seconds * SECOND
        # What another has seen a moment ago is good for a beginning; what came after that, the next look finds.
        news, stirred = self.look(looked_at - round(PACE_S * SECOND)), True
        yield news
        while self.parts.monotonic() < over and not self.parts.stop.is_set():
            if stirred or self.parts.monotonic() - looked_at > LOOK_ANYWAY_S * SECOND:
                looked_at = self._in_step()
                news = self.look(looked_at)
                yield news
            stirred = self._stirred(listener, news.changes.next_end)

    def _in_step(self) -> int:
        """Wait until all readers may look again; when it was wanted."""
        now = self.parts.monotonic()
        left = self.board.glances.begun(self.viewer.event_id) / SECOND + PACE_S - now / SECOND
        if left > 0:
            self.parts.stop.wait(left)
        return now

    def _stirred(self, listener: Listener, next_end: Millis | None) -> bool:
        """Rest until something may have happened, or a moment; whether it is worth a look."""
        left = None if next_end is None else (next_end - self.parts.clock()) / 1000
        told = listener.wait(LOOK_EVERY_S if left is None else min(LOOK_EVERY_S, max(0.0, left)))
        missed = listener.missed()
        over = next_end is not None and next_end <= self.parts.clock()
        return bool(told) or missed or over or self._moved()

    def _moved(self) -> bool:
        """Whether the log has come further: one look serves everybody who waits."""
        recently = self.parts.monotonic() - round(LOOK_EVERY_S / 2 * SECOND)
        return self.board.glances.look(self.viewer.event_id, recently).head.version != self._told


def _retry(millis: int) -> bytes:
    return b"retry: %d\n\n" % millis


def _frame(name: bytes, version: str, told: bytes) -> bytes:
    return b"event: %b\nid: %b\ndata: %b\n\n" % (name, version.encode(), told)
