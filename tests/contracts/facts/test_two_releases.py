"""Workers of two releases beside each other: neither takes the other's place among the facts."""

from __future__ import annotations

from sqlalchemy import text

from sync_server.outbox.cursors import FORGOTTEN_AFTER_MS
from tests.app_server import ApiClient, AppServer
from tests.builders import a_venue

HERE = "SELECT count(*) FROM outbox_cursors WHERE reader = 'newcomer'"
BEGIN = (
    "INSERT INTO outbox_cursors (organisation_id, reader, position, leased_until) "
    "SELECT organisation_id, 'newcomer', 0, 0 FROM outbox_cursors WHERE reader = 'relay'"
)


def cursors(app_server: AppServer) -> int:
    with app_server.database.reading() as session:
        return int(session.execute(text(HERE)).scalar_one())


def test_the_place_of_a_subscriber_of_the_next_release_is_kept_until_it_has_gone(
    app_server: AppServer, api: ApiClient
) -> None:
    api.post("/api/venues", a_venue())
    app_server.run_worker()
    with app_server.database.writing() as session:
        session.execute(text(BEGIN))
    assert (cursors(app_server), app_server.run_worker(), cursors(app_server)) == (1, None, 1)
    app_server.advance(FORGOTTEN_AFTER_MS + 1)
    app_server.run_worker()
    assert cursors(app_server) == 0
