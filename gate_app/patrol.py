"""Walks through the whole journal little by little while nobody scans, and keeps what it finds for whoever asks."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress

from gate_app.chain_survey import Survey
from gate_app.journal_reading import Branch, branches_in, stored, stretch_words

AT_ONCE = 50
"""Entries a step: a millisecond or so, which no guest notices."""
REST_MS = 3_600_000
"""After a whole round."""
DAMAGE = "journal_damage"

Keep = Callable[[str, str], None]


class Patrol:
    """One step whenever it is asked and the journal has not grown since; never under the lock of those who write."""

    def __init__(self, connection: sqlite3.Connection, keep: Keep, monotonic_ms: Callable[[], int]) -> None:
        """Reads through a connection of its own; `keep` puts a mark into the home."""
        self._connection = connection
        self._keep = keep
        self._monotonic_ms = monotonic_ms
        self._round: Iterator[None] | None = None
        self._rest_until = 0
        self._seen = -1
        self.rounds = 0

    def step(self, head: int) -> None:
        """`head` is the number of the last entry: while it grows, somebody is scanning, and this waits."""
        idle, self._seen = head == self._seen, head
        if not idle or self._monotonic_ms() < self._rest_until:
            return
        if self._round is None:
            self._round = self._walk()
        # A closing or failing disk is told by those who need it; the round begins anew.
        with suppress(sqlite3.Error):
            if next(self._round, self) is not self:
                return
            self.rounds += 1
            self._rest_until = self._monotonic_ms() + REST_MS
        self._round = None

    def _walk(self) -> Iterator[None]:
        found = list[str]()
        for branch in branches_in(self._connection):
            survey = Survey(branch.device, branch.number, 0, branch.begun_from)
            while some := stored(self._connection, branch.local, survey.seq, AT_ONCE):
                sound = survey.broken_at is None
                for seq, body in some:
                    survey.meet(seq, body)
                if sound and survey.broken_at is not None:
                    self._keep(DAMAGE, _words([*found, *_places(branch, survey)]))
                yield
            found += _places(branch, survey)
        self._keep(DAMAGE, _words(found) if found else "")


def _places(branch: Branch, survey: Survey) -> list[str]:
    if survey.broken_at is None:
        return []
    return stretch_words(branch, survey.lost) or [f"{branch.number}/{survey.broken_at}"]


def _words(places: list[str]) -> str:
    return (
        f"The journal is damaged at {', '.join(places[:5])}{' and further on' if len(places) > 5 else ''}. Everything"
        " else is kept, and what the server lacks of it is told to the server. Change the card after this event."
    )
