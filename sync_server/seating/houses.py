"""Keeps the houses of a few events ready, corrected by what was taken or returned since they were last asked."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, cast

from flask import current_app
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.seating import queries
from sync_server.seating.house import House, empty_house, policy_at
from sync_server.seating.taken import taken

EXTENSION: Final = "gatehouse.houses"
MOST: Final = 8
"""A stadium takes some thirty megabytes."""


@dataclass(slots=True)
class _Kept:
    """A house, what it was built from, and the turn of those who ask for it."""

    turn: threading.Lock = field(default_factory=threading.Lock)
    built_from: tuple[Any, ...] = ()
    house: House | None = None


class Houses:
    """Houses by event; building one of sixty thousand seats takes a second, correcting it a moment."""

    def __init__(self) -> None:
        """None yet."""
        self._turn = threading.Lock()
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    @contextmanager
    def house(self, session: Session, organisation_id: str, event_id: str, now: Millis) -> Iterator[House]:
        """The house of an event as it stands now, for one at a time; NotFound where it has no layout."""
        row = queries.event_layout(session, organisation_id, event_id)
        source = (row.layout_id, row.revision, policy_at(session, row))
        kept = self._entry(event_id)
        with kept.turn:
            if kept.house is None or kept.built_from != source:
                kept.house, kept.built_from = empty_house(session, row), source
            kept.house.correct(taken(session, event_id, now))
            yield kept.house

    def _entry(self, event_id: str) -> _Kept:
        with self._turn:
            kept = self._kept.setdefault(event_id, _Kept())
            self._kept.move_to_end(event_id)
            if len(self._kept) > MOST:
                self._kept.popitem(last=False)
            return kept


def houses() -> Houses:
    """The houses that the server answering this request keeps ready."""
    return cast(Houses, current_app.extensions.setdefault(EXTENSION, Houses()))
