"""How loud the gate is: as its settings say, until its staff change it on the spot; that is kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from gate_app.storage.database import Database
from gate_app.supervision.fields import Answer, Fields
from gate_app.words import say
from shared.errors import InvalidRequest, StorageError

_PERCENT, _QUIET = "loudness", "quiet"


@dataclass(frozen=True, slots=True)
class Loudness:
    """A loudness in percent, and whether nothing sounds at all for now: lamps, screens and shaking say it all."""

    percent: int
    quiet: bool = False

    @property
    def heard(self) -> int:
        """In percent, what loudspeakers and buzzers keep to."""
        return 0 if self.quiet else self.percent


class Volume:
    """The loudness of one gate. `sound` is told what is heard, now and at every change."""

    def __init__(self, database: Database, configured: int, sound: Callable[[int], None]) -> None:
        self._database = database
        self._sound = sound
        percent, quiet = database.get(_PERCENT), database.get(_QUIET)
        self.now = Loudness(percent if isinstance(percent, int) else configured, bool(quiet))
        sound(self.now.heard)

    def change(self, fields: Fields) -> Answer:
        """Makes it louder or quieter, and what sounds keeps to it at once. Raises InvalidRequest."""
        percent, quiet = fields.get("percent"), fields.get("quiet")
        if percent is not None and (type(percent) is not int or not 0 <= percent <= 100):
            raise InvalidRequest(say("loudness.how_loud"), code="loudness_invalid")
        if percent is not None:
            self.now = replace(self.now, percent=percent)
        if isinstance(quiet, bool):
            self.now = replace(self.now, quiet=quiet)
        # On a full disk it lasts until the next start.
        with suppress(sqlite3.Error, StorageError):
            self._database.put(_PERCENT, self.now.percent)
            self._database.put(_QUIET, int(self.now.quiet))
        self._sound(self.now.heard)
        return self.state()

    def state(self) -> Answer:
        """For pages and commands."""
        return {"loudness": self.now.percent, "quiet": self.now.quiet}
