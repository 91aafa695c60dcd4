"""Revisions rise in commit order, also when one PostgreSQL transaction is held just before its commit."""

from __future__ import annotations

import threading
from pathlib import Path

from sqlalchemy import text

from tests.app_server import AppServer
from tests.contracts.server.revision_follower import Follower, open_event, put, zone


def test_the_first_to_raise_the_revision_commits_first(postgres_url: str, tmp_path: Path) -> None:
    """The second transaction waits for the first, and readers see neither meanwhile."""
    app_server = AppServer(postgres_url, tmp_path)
    open_event(app_server)
    raised, go_on = threading.Event(), threading.Event()

    def hold_before_commit(_session: object, _now: int) -> None:
        if threading.current_thread().name == "slow":
            raised.set()
            assert go_on.wait(30)

    app_server.database.before_commit.append(hold_before_commit)
    slow = threading.Thread(target=put, args=(app_server, zone(1, "slow")), name="slow")
    quick = threading.Thread(target=put, args=(app_server, zone(2, "quick")), name="quick")
    slow.start()
    assert raised.wait(30)
    quick.start()
    _wait_for_a_blocked_transaction(app_server)
    follower = Follower(app_server)
    follower.catch_up()
    assert follower.revision == 0 and quick.is_alive()
    go_on.set()
    slow.join(30)
    quick.join(30)
    names = []
    while follower.follow(limit=1):
        names.append(max(row.key for row in follower.rows.values()))
    assert names == [1, 2] and follower.revision == 2
    app_server.close()


def _wait_for_a_blocked_transaction(app_server: AppServer) -> None:
    """Wait until a transaction is waiting for a lock."""
    waiting = text(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )
    pause = threading.Event()
    for _ in range(600):
        with app_server.database.reading() as session:
            if session.execute(waiting).scalar_one():
                return
        pause.wait(0.05)
    raise AssertionError("no transaction waits for the head of the event")
