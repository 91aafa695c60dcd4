"""Compares what is remembered of a house with a fresh count now and then, and tells open maps where they differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.house_plan import queries, service
from sync_server.house_plan.counters import Counter, counted, name
from sync_server.house_plan.pictures import Pictures
from sync_server.plumbing.cache import Cache
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.metrics import Metrics
from sync_server.plumbing.principals import Deed

LATELY_MS: Final = 2 * 3_600_000
EVERY_MS: Final = 60_000
ON_ITS_WAY_MS: Final = 10_000


@dataclass(slots=True)
class Checker:
    """What differs twice in a row was missed; what differs once may only be on its way."""

    pictures: Pictures  # followed through the log, as those of every process are
    cache: Cache
    metrics: Metrics
    _suspected: dict[str, dict[int, int]] = field(default_factory=dict)  # by event: seat, and how it really is

    def check(self, session: Session, deed: Deed) -> int:
        """Check every house that changed lately; how many seats were told anew."""
        return sum(
            self._check(session, organisation_id, event_id, deed.now)
            for organisation_id, event_id in queries.lately(session, deed.now - LATELY_MS)
        )

    def _check(self, session: Session, organisation_id: str, event_id: str, now: Millis) -> int:
        try:
            differing = self._differing(session, organisation_id, event_id, now)
        except NotFound:  # it has no layout any more
            return 0
        self._check_counters(session, organisation_id, event_id, now)
        before = self._suspected.get(event_id, {})
        missed = {seat for seat, really in differing.items() if before.get(seat) == really}
        self._suspected[event_id] = differing
        if missed:
            self._tell(session, organisation_id, event_id, missed, now)
        return len(missed)

    def _check_counters(self, session: Session, organisation_id: str, event_id: str, now: Millis) -> None:
        """What is sold changes by deeds only: a count of some seconds ago that says otherwise missed one."""
        kept = Counter(self.cache, self.pictures).counts(session, organisation_id, event_id, now)
        really = counted(session, Pictures(self.cache), organisation_id, event_id, now)
        wrong = sum(abs(one.sold - other.sold) for one, other in zip(kept.zones, really.zones, strict=False))
        if wrong and kept.as_of < now - ON_ITS_WAY_MS:
            LOG.warning("occupancy_corrected", event_id=event_id, organisation_id=organisation_id, places=wrong)
            self.metrics.seatmap_corrections.inc(wrong)
            self.cache.forget(name(organisation_id, event_id))

    def _differing(self, session: Session, organisation_id: str, event_id: str, now: Millis) -> dict[int, int]:
        with self.pictures.look(session, organisation_id, event_id, now) as look:
            followed, first = bytes(look.picture.seats), look.picture.ground.first
        with Pictures(self.cache).look(session, organisation_id, event_id, now) as look:
            really = bytes(look.picture.seats)
        if followed == really:
            return {}
        pairs = enumerate(zip(followed, really, strict=True), start=first)
        return {seat: after for seat, (before, after) in pairs if before != after}

    def _tell(self, session: Session, organisation_id: str, event_id: str, missed: set[int], now: Millis) -> None:
        LOG.warning("seat_map_corrected", event_id=event_id, organisation_id=organisation_id, seats=len(missed))
        self.metrics.seatmap_corrections.inc(len(missed))
        service.note(session, organisation_id, event_id, missed, now)
        self.cache.forget(name(organisation_id, event_id))
