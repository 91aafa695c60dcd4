"""Fixtures that hand out fresh databases: `postgres_url`, `sqlite_url`, and `database_url` for each in turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from scripts.throwaway.postgres import PostgresServer, create_database, drop_database
from tests.services.parts import named_server, opened, skip_if_left_out

__all__ = ["database_url", "postgres_server", "postgres_url", "sqlite_url"]

NAMED = "GATEHOUSE_TEST_DATABASE_URL"


def _started() -> PostgresServer:
    server = PostgresServer()
    server.create()
    server.start()
    return server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A private PostgreSQL that a test may stop, start and kill, never one of yours; leave it running."""
    server = opened("postgresql", _started)
    yield server
    server.remove()


@pytest.fixture
def postgres_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """A fresh, empty PostgreSQL database: `postgresql://…`."""
    skip_if_left_out("postgresql")
    server = named_server(NAMED) or request.getfixturevalue("postgres_server").url()
    name = f"gatehouse_test_{uuid4().hex}"
    create_database(server, name)
    yield urlsplit(server)._replace(path=f"/{name}").geturl()
    drop_database(server, name)


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The address of an SQLite file that does not exist yet: `sqlite:///…`."""
    return f"sqlite:///{tmp_path / 'gatehouse.db'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A fresh database of each kind in turn: what holds must hold on both."""
    wanted = "sqlite_url" if request.param == "sqlite" else "postgres_url"
    return str(request.getfixturevalue(wanted))
