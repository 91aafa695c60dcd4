"""One look at an event serves everybody who watches it: a hundred open pages cost as much as one."""

from __future__ import annotations

import threading

from cachetools import LRUCache
from flask import Flask

from sync_server.events import queries as events
from sync_server.live.board import Board, board
from sync_server.plumbing.parts import Parts

_EXTENSION = "gatehouse.watchers"


class _Seen:
    """The latest look at one event, and when it began."""

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.board: Board | None = None
        self.began = 0


class Watchers:
    """Boards that were looked up a moment ago."""

    def __init__(self, parts: Parts) -> None:
        """Looks at nothing yet."""
        self._parts = parts
        self._seen: LRUCache[tuple[str, str], _Seen] = LRUCache(1_000)
        self._turn = threading.Lock()

    def moment(self) -> int:
        """Now, for `not_before`."""
        return self._parts.monotonic()

    def look(self, organisation_id: str, event_id: str, *, not_before: int) -> Board:
        """The board of an event of this organisation as it was at that moment or later, or NotFound."""
        with self._turn:
            seen = self._seen.setdefault((organisation_id, event_id), _Seen())
        with seen.turn:
            if seen.board is None or seen.began < not_before:
                began = self.moment()
                seen.board = self.look_anew(organisation_id, event_id)
                seen.began = began
            return seen.board

    def look_anew(self, organisation_id: str, event_id: str) -> Board:
        """The same, of this very moment."""
        with self._parts.database.reading() as session:
            return board(session, events.facts(session, organisation_id, event_id), self._parts.clock())


def watchers(app: Flask, parts: Parts) -> Watchers:
    """The watchers of this app."""
    known: Watchers | None = app.extensions.get(_EXTENSION)
    return known or app.extensions.setdefault(_EXTENSION, Watchers(parts))
