"""Writes an imported guest list: whoever is stored may book at once, and an import that ends early takes them back.

The parts have what a list stores, keyed hashes instead of addresses: the file itself is never stored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import islice
from typing import Final

import orjson
from msgspec import structs
from sqlalchemy.orm import Session

from shared.wire.compression import Allowance
from sync_server.seating.imports import queue
from sync_server.seating.imports.claimed import ClaimedImport
from sync_server.seating.models import ImportRecord
from sync_server.seating.zone_access import guest_lists
from sync_server.seating.zone_access.entitlements import GuestIdKind, GuestKey
from sync_server.seating.zone_access.guest_lists import ZoneList

GUESTS: Final = 500
"""In one transaction."""
PART_GUESTS: Final = 20_000
"""In one part of the file."""
MOST_BYTES: Final = 64 * 1024 * 1024
"""Of all parts together: several times what the longest list takes."""


def parts_of(guests: Collection[GuestKey]) -> Iterator[bytes]:
    """These guests as the parts of an import, each guest once."""
    in_order = sorted({(str(kind), key) for kind, key in guests})
    for start in range(0, len(in_order), PART_GUESTS):
        yield orjson.dumps(in_order[start : start + PART_GUESTS])


class GuestImport(ClaimedImport):
    """The import of a guest list."""

    def _write(self) -> None:
        row = self._row
        with self._database.reading() as session:
            guest_lists.require_room(session, _list(row), self._guests)
        for piece in _pieces(self._guests[row.written :]):
            with self._resting():
                self._step(partial(self._store, piece))
        self._step(self._end)

    def _store(self, guests: Sequence[GuestKey], session: Session, row: ImportRecord) -> None:
        row.added += guest_lists.add_piece(session, _list(row), guests, row.id, self._database.clock())
        row.written += len(guests)

    def _end(self, session: Session, row: ImportRecord) -> None:
        now = self._database.clock()
        guest_lists.finish_import(session, _list(row), row.added, structs.replace(self._context, now=now))
        queue.finish(session, row, "done", now)

    def _clean(self) -> None:
        self._guests  # noqa: B018 - read before there is a transaction that others wait for
        super()._clean()

    def _erase_some(self, session: Session, row: ImportRecord) -> bool:
        """In the order in which they were written, backwards: `written` says how many are left."""
        if not row.written:
            return False
        first = max(0, row.written - GUESTS)
        guest_lists.take_back(session, _list(row), self._guests[first : row.written], row.id)
        row.written = first
        return True

    @cached_property
    def _guests(self) -> list[GuestKey]:
        room = Allowance(MOST_BYTES, "a part of a guest list")
        parts = queue.parts(self._database, self._organisation_id, self._id)
        return [(GuestIdKind(kind), key) for part in parts for kind, key in orjson.loads(room.expanded(part))]


def _pieces(guests: Iterable[GuestKey]) -> Iterator[list[GuestKey]]:
    walk = iter(guests)
    while piece := list(islice(walk, GUESTS)):
        yield piece


def _list(row: ImportRecord) -> ZoneList:
    return ZoneList(row.organisation_id, str(row.event_id), str(row.zone_id))
