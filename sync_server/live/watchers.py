"""One look at an event serves everybody who watches it: a hundred open pages cost as much as one."""

from __future__ import annotations

import threading

from cachetools import TTLCache
from flask import Flask

from sync_server.events import queries as events
from sync_server.live.board import Board, board
from sync_server.plumbing.parts import Parts

LOOK_AGAIN_AFTER_S = 0.8
_EXTENSION = "gatehouse.watchers"


class Watchers:
    """Boards that were looked up a moment ago."""

    def __init__(self, parts: Parts) -> None:
        """Looks at nothing yet."""
        self._parts = parts
        # Ages by time that never runs backwards: a wall clock that is put back must not freeze everybody's numbers.
        self._recent: TTLCache[tuple[str, str], Board] = TTLCache(1_000, LOOK_AGAIN_AFTER_S)
        self._turn = threading.Lock()

    def look(self, organisation_id: str, event_id: str) -> Board:
        """The board of an event of this organisation, or NotFound."""
        name = organisation_id, event_id
        with self._turn:
            known = self._recent.get(name)
        if known is not None:
            return known
        seen = self.look_anew(organisation_id, event_id)
        with self._turn:
            self._recent[name] = seen
        return seen

    def look_anew(self, organisation_id: str, event_id: str) -> Board:
        """The same, of this very moment."""
        with self._parts.database.reading() as session:
            return board(session, events.facts(session, organisation_id, event_id), self._parts.clock())


def watchers(app: Flask, parts: Parts) -> Watchers:
    """The watchers of this app."""
    known: Watchers | None = app.extensions.get(_EXTENSION)
    return known or app.extensions.setdefault(_EXTENSION, Watchers(parts))
