"""Revisions rise in commit order: two real PostgreSQL connections, one of which is held just before its commit."""

from __future__ import annotations

import threading
from pathlib import Path

from sqlalchemy import text

from sync_server.revisions import service
from tests.contracts.server.following import EVENT, Follower, put, zone
from tests.office import Office


def test_whoever_raised_the_revision_first_commits_first(postgres_url: str, tmp_path: Path) -> None:
    """Two real connections: the second waits for the first, and a reader meanwhile sees neither."""
    office = Office(postgres_url, tmp_path)
    with office.database.writing() as session:
        service.open_head(session, EVENT)
    raised, go_on = threading.Event(), threading.Event()

    def hold_before_commit(_session: object, _now: int) -> None:
        if threading.current_thread().name == "slow":
            raised.set()
            assert go_on.wait(30)

    office.database.last_acts.append(hold_before_commit)
    slow = threading.Thread(target=put, args=(office, zone(1, "slow")), name="slow")
    quick = threading.Thread(target=put, args=(office, zone(2, "quick")), name="quick")
    slow.start()
    assert raised.wait(30)
    quick.start()
    _wait_for_a_blocked_transaction(office)
    follower = Follower(office)
    follower.catch_up()
    assert follower.revision == 0 and quick.is_alive()
    go_on.set()
    slow.join(30)
    quick.join(30)
    names = []
    while follower.follow(limit=1):
        names.append(max(row.key for row in follower.rows.values()))
    assert names == [1, 2] and follower.revision == 2
    office.close()


def _wait_for_a_blocked_transaction(office: Office) -> None:
    """Until the database itself says that somebody waits for a lock."""
    waiting = text(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )
    pause = threading.Event()
    for _ in range(600):
        with office.database.reading() as session:
            if session.execute(waiting).scalar_one():
                return
        pause.wait(0.05)
    raise AssertionError("nobody waits for the head of the event")
