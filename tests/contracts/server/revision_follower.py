"""A gate that follows an event's revisions, and rows to put there."""

from __future__ import annotations

from sqlalchemy import select

from shared.wire.snapshot import EMPTY_DIGEST, Row, ZoneRow, digest_add
from sync_server.events.models import EventRecord
from sync_server.plumbing.event_key import EventKey
from sync_server.revisions import queries, service
from tests.app_server import AppServer, a_concert


def open_event(app_server: AppServer) -> EventKey:
    """An event without any rows yet."""
    event = app_server.event_key(a_concert(app_server.api(app_server.organisation("marquee"))).number)
    with app_server.database.writing() as session:
        service.forget_event(session, event)
        service.open_head(session, event)
    return event


def the_event(app_server: AppServer) -> EventKey:
    """The only event there is."""
    with app_server.database.reading() as session:
        return session.execute(select(EventRecord)).scalar_one().key


def put(app_server: AppServer, *rows: ZoneRow | Row) -> None:
    event = the_event(app_server)
    with app_server.database.writing() as session:
        service.put(session, event, rows)


def zone(number: int, name: str) -> ZoneRow:
    return ZoneRow(number, name)


class Follower:
    """A gate that asks again and again for what changed, and checks the digest each time."""

    def __init__(self, app_server: AppServer) -> None:
        self.app_server, self.event, self.revision = app_server, the_event(app_server), 0
        self.rows: dict[tuple[int, int], Row] = {}

    def follow(self, limit: int = 3) -> int:
        with self.app_server.database.reading() as session:
            changes = queries.rows_after(session, self.event, self.revision, limit)
        assert changes is not None
        for row in changes.rows:
            if row.body is None:
                self.rows.pop((row.kind, row.key), None)
            else:
                self.rows[row.kind, row.key] = row
        assert digest_add(EMPTY_DIGEST, *self.rows.values()) == changes.digest
        self.revision = changes.to_revision
        return len(changes.rows)

    def catch_up(self) -> None:
        while self.follow():
            pass
