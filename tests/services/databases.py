"""Fixtures that hand out fresh databases: `postgres_url`, `sqlite_url`, and `database_url` for each in turn.

They are copies of one migrated template: running the migrations anew costs more than most tests. A test about the
schema itself asks for `empty_postgres_url`, `empty_sqlite_url` or `empty_database_url`. Where a test begins with a
scenario that many begin with (`starting_point`), its database is a copy of one in which that has happened.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from scripts.private_services.postgres import PostgresServer, create_database, drop_database
from sync_server.migrations import schema
from sync_server.plumbing.database import open_engine
from tests.services.optional_services import configured_url, skip_if_excluded, start_or_fail
from tests.starting_points import StartingPoint

__all__ = [
    "database_url",
    "empty_database_url",
    "empty_postgres_url",
    "empty_sqlite_url",
    "migrated_postgres",
    "migrated_sqlite",
    "postgres_address",
    "postgres_server",
    "postgres_template",
    "postgres_url",
    "sqlite_template",
    "sqlite_url",
    "starting_point",
]

ADDRESS_SETTING = "GATEHOUSE_TEST_DATABASE_URL"
EMPTY = "template0"


def _started() -> PostgresServer:
    server = PostgresServer()
    server.create()
    server.start()
    return server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A private PostgreSQL that a test may stop, start and kill, never one of yours; leave it running."""
    server = start_or_fail("postgresql", _started)
    yield server
    server.remove()


@pytest.fixture(scope="session")
def postgres_address(request: pytest.FixtureRequest) -> str:
    """The PostgreSQL server on which tests make their databases."""
    skip_if_excluded("postgresql")
    return configured_url(ADDRESS_SETTING) or request.getfixturevalue("postgres_server").url()


@pytest.fixture(scope="session")
def migrated_postgres(postgres_address: str) -> Iterator[str]:
    """The name of a migrated PostgreSQL database that is only ever copied."""
    with _postgres_database(postgres_address, EMPTY) as url:
        _migrate(url)
        yield urlsplit(url).path.removeprefix("/")


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file that is only ever copied."""
    file = tmp_path_factory.mktemp("template") / "gatehouse.db"
    _migrate(f"sqlite:///{file}")
    return file


@pytest.fixture(scope="session")
def postgres_template(postgres_address: str, migrated_postgres: str) -> Iterator[Callable[[Any], str]]:
    """The name of the PostgreSQL database to copy for a starting point, or for None."""
    filled: dict[Any, str] = {None: migrated_postgres}
    with ExitStack() as kept:

        def template(point: StartingPoint[Any] | None) -> str:
            key = None if point is None else point.make
            if point is not None and key not in filled:
                url = kept.enter_context(_postgres_database(postgres_address, migrated_postgres))
                point.prepare(url)
                filled[key] = urlsplit(url).path.removeprefix("/")
            return filled[key]

        yield template


@pytest.fixture(scope="session")
def sqlite_template(migrated_sqlite: Path) -> Callable[[Any], Path]:
    """The SQLite file to copy for a starting point, or for None."""
    filled: dict[Any, Path] = {None: migrated_sqlite}

    def template(point: StartingPoint[Any] | None) -> Path:
        key = None if point is None else point.make
        if point is not None and key not in filled:
            file = point.folder / "gatehouse.db"
            shutil.copyfile(migrated_sqlite, file)
            point.prepare(f"sqlite:///{file}")
            _leave_one_file(f"sqlite:///{file}")
            filled[key] = file
        return filled[key]

    return template


@pytest.fixture
def starting_point(request: pytest.FixtureRequest) -> StartingPoint[Any] | None:
    """What the database of this test begins with: what the test's fixtures call `begun_…`, or only the tables."""
    begun = [name for name in request.fixturenames if name.startswith("begun_")]
    return request.getfixturevalue(begun[0]) if begun else None


@pytest.fixture
def postgres_url(
    postgres_address: str, postgres_template: Callable[[Any], str], starting_point: StartingPoint[Any] | None
) -> Iterator[str]:
    """A fresh PostgreSQL database with the newest schema: `postgresql://…`."""
    with _postgres_database(postgres_address, postgres_template(starting_point)) as url:
        yield url


@pytest.fixture
def sqlite_url(
    tmp_path: Path, sqlite_template: Callable[[Any], Path], starting_point: StartingPoint[Any] | None
) -> str:
    """A fresh SQLite file with the newest schema: `sqlite:///…`."""
    file = tmp_path / "gatehouse.db"
    shutil.copyfile(sqlite_template(starting_point), file)
    return f"sqlite:///{file}"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A fresh database of each kind in turn: what holds must hold on both."""
    wanted = "sqlite_url" if request.param == "sqlite" else "postgres_url"
    return str(request.getfixturevalue(wanted))


@pytest.fixture
def empty_postgres_url(postgres_address: str) -> Iterator[str]:
    """A PostgreSQL database without any table."""
    with _postgres_database(postgres_address, EMPTY) as url:
        yield url


@pytest.fixture
def empty_sqlite_url(tmp_path: Path) -> str:
    """The address of an SQLite file that does not exist yet."""
    return f"sqlite:///{tmp_path / 'gatehouse.db'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_database_url(request: pytest.FixtureRequest) -> str:
    """A database of each kind in turn, without any table."""
    wanted = "empty_sqlite_url" if request.param == "sqlite" else "empty_postgres_url"
    return str(request.getfixturevalue(wanted))


@contextmanager
def _postgres_database(server: str, template: str) -> Iterator[str]:
    name = f"gatehouse_test_{uuid4().hex}"
    create_database(server, name, template)
    yield urlsplit(server)._replace(path=f"/{name}").geturl()
    drop_database(server, name)


def _migrate(url: str) -> None:
    engine = open_engine(url)
    schema.upgrade(engine)
    engine.dispose()
    if engine.dialect.name == "sqlite":
        _leave_one_file(url)


def _leave_one_file(url: str) -> None:
    """Move what stands in the write-ahead log into the file itself, so that a copy of the file is whole."""
    engine = open_engine(url)
    with engine.connect() as connection:
        connection.exec_driver_sql("ROLLBACK")
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    engine.dispose()
