"""Keeps the houses of a few events ready, corrected by what was taken or returned since they were last asked."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final, cast

from flask import current_app
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.plumbing.metrics import Metrics
from sync_server.plumbing.parts import parts
from sync_server.seating import queries
from sync_server.seating.house import House, empty_house, policy_at
from sync_server.seating.models import EventLayoutRecord
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

    def __init__(self, metrics: Metrics | None = None) -> None:
        """None yet; how long those who ask wait, and how often the house was kept, is told to the measures."""
        self._metrics = metrics
        self._turn = threading.Lock()
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    @contextmanager
    def house(self, session: Session, organisation_id: str, event_id: str, now: Millis) -> Iterator[House]:
        """The house of an event as it stands now, for one at a time; NotFound where it has no layout."""
        row = queries.event_layout(session, organisation_id, event_id)
        with ExitStack() as turn:
            with self._measured():
                kept = self._entry(event_id)
                turn.enter_context(kept.turn)
                house = self._up_to_date(kept, session, row)
                house.correct(taken(session, event_id, now))
            yield house

    def _up_to_date(self, kept: _Kept, session: Session, row: EventLayoutRecord) -> House:
        source = (row.layout_id, row.revision, policy_at(session, row))
        known = kept.house if kept.built_from == source else None
        if self._metrics is not None:
            self._metrics.count_lookup("houses", known is not None)
        if known is None:
            known = kept.house = empty_house(session, row)
            kept.built_from = source
        return known

    def _measured(self) -> AbstractContextManager[object]:
        return nullcontext() if self._metrics is None else self._metrics.layout_seconds.time()

    def _entry(self, event_id: str) -> _Kept:
        with self._turn:
            kept = self._kept.setdefault(event_id, _Kept())
            self._kept.move_to_end(event_id)
            if len(self._kept) > MOST:
                self._kept.popitem(last=False)
            return kept


def houses() -> Houses:
    """The houses that the server answering this request keeps ready."""
    return cast(Houses, current_app.extensions.setdefault(EXTENSION, Houses(parts().metrics)))
