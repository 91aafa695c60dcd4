"""Keeps an open map up to date: waits for news, as a long poll or as server-sent events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import orjson
from sqlalchemy.exc import SQLAlchemyError

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.house_plan import changes
from sync_server.house_plan.changes import Changes
from sync_server.house_plan.following import topic
from sync_server.house_plan.pictures import Pictures
from sync_server.house_plan.viewers import Viewer, require_shown
from sync_server.plumbing.bus import Listener
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.parts import Parts

LOOK_EVERY_S: Final = 0.5
"""Where other processes cannot be heard, their news is found so late at most."""
LOOK_ANYWAY: Final = 20
"""Every so many turns it is looked without a reason, and the silence is broken."""
TURNS: Final = 1_200
"""After as many a reader comes again."""
TURNS_OF_ORGANISERS: Final = 100
"""The same for whoever had to sign in: a session that has ended keeps no stream for longer than a minute."""
RECONNECT_MS: Final = 2_000


@dataclass(slots=True)
class Reader:
    """One open map, and the version that it shows."""

    parts: Parts
    pictures: Pictures
    viewer: Viewer
    since: str
    _told: int = -1  # how far the log had come at the last look

    def look(self) -> Changes:
        """What is new; NotFound once the event is not to be seen any more."""
        who, now = self.viewer, self.parts.clock()
        with self.parts.database.reading() as session:
            require_shown(session, who)
            with self.pictures.look(session, who.organisation_id, who.event_id, now) as look:
                self._told = look.head.version
                return changes.changes(session, who.event_id, look, self.since, now, organiser=who.organiser)

    def wait(self, seconds: float) -> Changes:
        """News, as soon as there is any; none after so many seconds."""
        with self._listening() as listener:
            news = self.look()
            for _ in range(int(seconds / LOOK_EVERY_S)):
                if news.anything or self.parts.stop.is_set():
                    break
                if self._stirred(listener, news.next_end):
                    news = self.look()
            return news

    def frames(self) -> Iterator[str]:
        """The same as server-sent events, one after the other, until the reader or the server goes."""
        yield f"retry: {RECONNECT_MS}\n\n"
        try:
            with self._listening() as listener:
                yield from self._frames(listener)
        except NotFound:
            yield _frame("gone", self.since, {})
        except SQLAlchemyError as problem:  # whoever comes again is told in words
            LOG.warning("stream_ended", problem=type(problem).__name__)

    def _frames(self, listener: Listener) -> Iterator[str]:
        stirred, next_end = True, None
        for turn in range(TURNS_OF_ORGANISERS if self.viewer.organiser else TURNS):
            if self.parts.stop.is_set():
                return
            if stirred or turn % LOOK_ANYWAY == 0:
                news = self.look()
                next_end = news.next_end
                yield from self._frames_of(news)
            stirred = self._stirred(listener, next_end)

    def _frames_of(self, news: Changes) -> Iterator[str]:
        if news.anything:
            self.since = news.version
            yield _frame("changes", self.since, news.told())
        else:
            yield ": heartbeat\n\n"

    def _listening(self) -> Listener:
        return self.parts.bus.listen([topic(self.viewer.event_id)])

    def _stirred(self, listener: Listener, next_end: Millis | None) -> bool:
        """Rest until something may have happened, or a moment; whether it is worth a look."""
        left = None if next_end is None else (next_end - self.parts.clock()) / 1000
        told = listener.wait(LOOK_EVERY_S if left is None else min(LOOK_EVERY_S, max(0.0, left)))
        missed = listener.missed()
        over = next_end is not None and next_end <= self.parts.clock()
        return bool(told) or missed or over or self._moved()

    def _moved(self) -> bool:
        return self.pictures.told(self.parts, self.viewer.event_id) != self._told


def _frame(name: str, id: str, told: object) -> str:
    return f"event: {name}\nid: {id}\ndata: {orjson.dumps(told).decode()}\n\n"
