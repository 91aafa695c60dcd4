"""Draws houses before anybody asks for them: when a server starts, when one is published or its layout is changed."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Final

from shared.errors import NotFound
from shared.lifecycle import ALLOWS
from sync_server.house_plan import queries
from sync_server.house_plan.answers import ENCODINGS
from sync_server.house_plan.board import Board, Sheet
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.parts import Parts

EVERY_S: Final = 2.0
MOST: Final = 16
LATELY_MS: Final = 24 * 3_600_000


@dataclass(frozen=True, slots=True)
class Warmer:
    """Whoever asks while one is being drawn waits for that drawing; nobody draws a second one."""

    parts: Parts
    board: Board

    def run(self, stop: threading.Event) -> None:
        """Look at once, and every two seconds until the stop."""
        while not stop.is_set():
            try:
                self.run_once()
            except Exception as problem:  # it is only ahead of its time: whoever asks draws it
                LOG.warning("house_not_drawn_ahead", problem=type(problem).__name__)
            stop.wait(EVERY_S)

    def run_once(self) -> int:
        """Draw what is new, of the houses that changed lately; how many those were."""
        now = self.parts.clock()
        with self.parts.database.reading() as session:
            lately = queries.lately(session, now - LATELY_MS, most=MOST)
        return sum(self._warm(event_id) for _, event_id in lately if not self.parts.stop.is_set())

    def _warm(self, event_id: str) -> bool:
        try:
            seen = self.board.glances.look(event_id)
            if not ALLOWS[seen.status].show or self.board.pictures.drawn_from(seen):
                return False
            sheet = self.board.sheet(seen, Sheet.WHOLE, organiser=False)
        except NotFound:  # deleted meanwhile, or without a layout
            return False
        for encoding in ENCODINGS:
            sheet.by(encoding)
        return True
