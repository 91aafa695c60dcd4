"""Checks the whole journal in small steps while nobody scans, and stores what it finds for the status."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress

from gate_app.journal.chain_survey import ChainSurvey
from gate_app.journal.reading import Branch, branches_in, format_ranges, stored

AT_ONCE = 50
"""Entries per step: about a millisecond."""
REST_MS = 3_600_000
"""The pause after a complete round."""
DAMAGE = "journal_damage"

Store = Callable[[str, str], None]


class JournalScrubber:
    """Takes one step per call if the journal has not grown since the last; never holds the writers' lock."""

    def __init__(self, connection: sqlite3.Connection, store_value: Store, monotonic_ms: Callable[[], int]) -> None:
        """`connection` must not be the writing one; `store_value` stores a finding."""
        self._connection = connection
        self._store = store_value
        self._monotonic_ms = monotonic_ms
        self._round: Iterator[None] | None = None
        self._rest_until = 0
        self._seen = -1
        self.rounds = 0

    def step(self, head: int) -> None:
        """Takes one step unless `head`, the number of the last entry, has grown: then somebody is scanning."""
        idle, self._seen = head == self._seen, head
        if not idle or self._monotonic_ms() < self._rest_until:
            return
        if self._round is None:
            self._round = self._walk()
        # A failing disk is reported by those who write to it; here the round just starts again.
        with suppress(sqlite3.Error):
            if next(self._round, self) is not self:
                return
            self.rounds += 1
            self._rest_until = self._monotonic_ms() + REST_MS
        self._round = None

    def _walk(self) -> Iterator[None]:
        found = list[str]()
        for branch in branches_in(self._connection):
            survey = ChainSurvey(branch.device, branch.number, 0, branch.begun_from)
            while batch := stored(self._connection, branch.local, survey.seq, AT_ONCE):
                sound = survey.broken_at is None
                for seq, body in batch:
                    survey.meet(seq, body)
                if sound and survey.broken_at is not None:
                    self._store(DAMAGE, _message([*found, *_damaged_ranges(branch, survey)]))
                yield
            found += _damaged_ranges(branch, survey)
        self._store(DAMAGE, _message(found) if found else "")


def _damaged_ranges(branch: Branch, survey: ChainSurvey) -> list[str]:
    if survey.broken_at is None:
        return []
    return format_ranges(branch, survey.lost) or [f"{branch.number}/{survey.broken_at}"]


def _message(places: list[str]) -> str:
    return (
        f"The journal is damaged at {', '.join(places[:5])}{' and other places' if len(places) > 5 else ''}. Everything"
        " else is intact, and the server will be informed of lost entries. Replace the card after this event."
    )
