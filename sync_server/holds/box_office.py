"""What a process keeps at hand to hold seats: what it knows of events, its memories of holds, and the way to ask."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields
from functools import partial
from sqlite3 import Cursor
from typing import Any, Final, cast

from shared.clock import Millis
from shared.errors import Forbidden
from sync_server.holds import queries, statement
from sync_server.holds.asking import Asking
from sync_server.holds.failures import Failures
from sync_server.holds.known import Knowing, Known
from sync_server.holds.measures import Measures
from sync_server.holds.rules import Evidence
from sync_server.holds.tiers import Far, Key, Tiers
from sync_server.plumbing.database import Database
from sync_server.plumbing.parts import Parts
from sync_server.seating.access import grounds, settled
from sync_server.seating.house import given
from sync_server.seating.houses import Houses
from sync_server.seating.offers import Offer, Refused, Wish
from sync_server.seating.overlay import EventZone
from sync_server.seating.rules import Ground

MEMORY: Final = "holds"
_NAMES: Final = tuple(field.name for field in fields(Evidence))


class BoxOffice:
    """Wired once in every process that serves or works."""

    def __init__(self, parts: Parts) -> None:
        """Opens nothing and starts nothing yet."""
        self.database: Database = parts.database
        self.knowing = Knowing(parts.database)
        self.failures = Failures(parts.database, parts.stop)
        self.measures = Measures(parts)
        line = parts.nearby.line
        far = Far(line, parts.config.redis_prefix) if line is not None else None
        self.tiers = Tiers(parts.bus, far, alone=parts.config.embedded)
        self._stop = parts.stop
        if line is not None:
            # What other processes ended while Redis was away, nobody told us.
            line.on_return.append(lambda _redis: self.tiers.near.forget_all())

    def wait(self, millis: int) -> None:
        """A moment, or until the server stops, before a try that others won is begun anew."""
        self.measures.retries.inc()
        self._stop.wait(millis / 1000)

    def holder(self, key: Key, now: Millis) -> tuple[str, Millis] | None:
        """Who surely holds that seat, and until when; None: try the statement, which knows everything.

        Where many want one seat, nearly all come too late: a short look then spares PostgreSQL the long question.
        """
        kept, straight = self.tiers.holder(key, now), self.database.straight
        if kept is not None:
            return kept.bearer_id, kept.until
        if straight is None or not self.tiers.near.expects(key, now):
            return None
        row: Any = straight.row(statement.HELD_BY, {"event": key[1], "seat": key[2], "now": now})
        if row is None:
            self.tiers.near.forget([key])
            return None
        return row[0], row[1]

    def ask(self, values: Mapping[str, Any]) -> Evidence:
        """Try the statement: one round trip on PostgreSQL, on SQLite one turn at writing with all who wait for it."""
        straight, together = self.database.straight, self.database.together
        if straight is not None:
            row: Any = straight.row(statement.IN_ONE, values)
            return Evidence(*row)
        assert together is not None  # noqa: S101 - a database is one of the two
        return together.write(partial(_ask_embedded, values=values))

    def require_access(self, known: Known, asking: Asking, zones: Collection[int]) -> None:
        """Forbidden where a zone does not let this bearer in."""
        closed = [
            known.plan.zones[zone] for zone in sorted(set(zones)) if known.plan.zones[zone].access_mode != "public"
        ]
        for answer in self._answers(known, asking, closed).values() if closed else ():
            if isinstance(answer, Refused):
                raise Forbidden(answer.words, code=answer.reason)

    def open_zones(self, known: Known, asking: Asking) -> frozenset[int]:
        """The zones in which this bearer may sit."""
        found = self._answers(known, asking, known.plan.zones.values())
        return frozenset(zone for zone, answer in found.items() if not isinstance(answer, Refused))

    def _answers(self, known: Known, asking: Asking, zones: Collection[EventZone]) -> Mapping[int, Ground | Refused]:
        with self.database.reading() as session:
            found = grounds(session, asking.organisation_id, known.id, asking.bearer, zones)
        return settled(found, zones, override=asking.override)

    def consider(
        self, houses: Houses, known: Known, asking: Asking, seats: Collection[int], wish: Wish
    ) -> Offer | None:
        """Judge a choice by the whole house; Conflict in its words, with what could be had instead.

        What this bearer holds already is no part of the choice, but belongs to the party. None where nothing else is
        chosen, or a seat is gone: whoever tries to hold it is told.
        """
        with self.database.reading() as session:
            mine = queries.mine(session, asking.organisation_id, asking.id, asking.now, known.id)
            owned = {row.seat for row in mine if row.seat is not None}
            chosen = [seat for seat in seats if seat not in owned]
            with houses.house(session, asking.organisation_id, known.id, asking.now) as house:
                if not chosen or not all(house.free(seat) for seat in chosen):
                    return None
                return given(house.judged(chosen, wish, owned))


def _ask_embedded(cursor: Cursor, values: Mapping[str, Any]) -> Evidence:
    seen = _evidence(cursor.execute(statement.LOOK, values).fetchone())
    if seen.done:
        for words in statement.WRITE:
            if words is not statement.FILE or values["filed_line_id"] is not None:
                cursor.execute(words, values)
    return seen


def _evidence(row: Any) -> Evidence:
    """From SQLite, which has numbers where others have truth."""
    seen: dict[str, Any] = dict(zip(_NAMES, row, strict=True))
    return Evidence(**seen | {name: bool(seen[name]) for name in ("fresh", "known", "tidy", "done")})


def box_office(parts: Parts) -> BoxOffice:
    """The one of this process."""
    return cast(BoxOffice, parts.memories[MEMORY])
