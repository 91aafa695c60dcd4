"""A pooled connection whose server has ended is replaced before it is used, and the others are not tested."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy import Engine, text

from sync_server.plumbing.database import open_engine

OTHERS = """SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()"""


@pytest.fixture
def engine(postgres_url: str) -> Iterator[Engine]:
    opened = open_engine(postgres_url, connections=4)
    yield opened
    opened.dispose()


def backend(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.execute(text("SELECT pg_backend_pid()")).scalar_one())


def test_a_connection_that_the_server_has_ended_is_replaced(engine: Engine) -> None:
    with engine.connect() as one, engine.connect() as other:
        both = {int(each.execute(text("SELECT pg_backend_pid()")).scalar_one()) for each in (one, other)}
    with psycopg.connect(engine.url.set(drivername="postgresql").render_as_string(False), autocommit=True) as killer:
        assert killer.execute(OTHERS).fetchone() == (2,)
        gone = "SELECT count(*) FROM pg_stat_activity WHERE pid = ANY(%s)"
        while killer.execute(gone, [list(both)]).fetchone() != (0,):
            pass
    with engine.connect() as one, engine.connect() as other:
        again = {int(each.execute(text("SELECT pg_backend_pid()")).scalar_one()) for each in (one, other)}
    assert not again & both


def test_a_living_connection_is_used_without_a_test(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test costs a round trip, a tenth of a short transaction."""
    first, tested = backend(engine), list[object]()
    monkeypatch.setattr(engine.dialect, "do_ping", tested.append)
    assert backend(engine) == first and tested == []
