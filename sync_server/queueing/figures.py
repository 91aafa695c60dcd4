"""What everybody in a queue asks for every few seconds: read once for all who ask a process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final, cast

from shared.clock import Millis
from sync_server.events import queries as events
from sync_server.plumbing.caching.shared_loads import SharedLoads
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.ports import ports_of
from sync_server.queueing import draw, queries, rules
from sync_server.queueing.ports import QueuePorts
from sync_server.queueing.rules import Opening

STATE_KEY: Final = "queueing"
MAX_QUEUES: Final = 256
MAX_TREES: Final = 2
OLD_MS: Final = 1_000
"""Figures are as old as this at most."""


@dataclass(frozen=True, slots=True)
class Figures:
    """A queue at one moment."""

    opening: Opening
    commitment: bytes
    closed_at: Millis | None
    drawn_at: Millis | None
    awaits_beacon: bool
    paused: bool
    free: int  # slots of the checkout
    waiting: list[int]
    admitted_lately: int

    def due(self, now: Millis, seq: int | None) -> bool:
        """Whether the queue should move on because of somebody with this number."""
        if self.drawn_at is None:
            return now >= self.opening.draw_at and not self.awaits_beacon
        return not self.paused and seq is not None and rules.position(self.waiting, seq) <= self.free


class QueueFigures:
    """The figures of the queues that this process was asked for."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._figures: SharedLoads[tuple[str, str], Figures] = SharedLoads(MAX_QUEUES, parts.clock)
        self._trees: SharedLoads[tuple[str, str, Millis], draw.Tree] = SharedLoads(MAX_TREES)

    def of(self, organisation_id: str, event_id: str, *, fresh: bool = False) -> Figures:
        """The figures of a queue, or NotFound."""
        key = organisation_id, event_id
        if fresh:
            self._figures.forget(key)
        return self._figures.get(key, partial(self._load, *key), since=self._parts.clock() - OLD_MS)

    def _load(self, organisation_id: str, event_id: str) -> Figures:
        now = self._parts.clock()
        with self._parts.database.reading() as session:
            queue = queries.queue(session, organisation_id, event_id)
            opening = queries.opening(events.event(session, organisation_id, event_id), queue)
            return Figures(
                opening,
                queue.commitment,
                queue.closed_at,
                queue.drawn_at,
                bool(queue.beacon_source) and queue.beacon_value is None and queue.closed_at is not None,
                queue.paused_at is not None,
                ports_of(session, QueuePorts).free_slots(session, organisation_id, event_id, now),
                queries.waiting_numbers(session, organisation_id, event_id, now),
                queries.count_admitted_since(session, organisation_id, event_id, now - rules.RATE_MS),
            )

    def tree(self, organisation_id: str, event_id: str, closed_at: Millis) -> draw.Tree:
        """The Merkle tree of a waiting room that has closed."""

        def load() -> draw.Tree:
            with self._parts.database.reading() as session:
                return draw.Tree(queries.entries_of_the_room(session, organisation_id, event_id))

        return self._trees.get((organisation_id, event_id, closed_at), load)


def queue_figures(parts: Parts) -> QueueFigures:
    """The figures of this process."""
    return cast(QueueFigures, parts.local_state[STATE_KEY])
