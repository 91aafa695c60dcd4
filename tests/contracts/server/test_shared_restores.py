"""Restores of a PostgreSQL database that others may use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from shared.errors import Conflict
from sync_server.commands import backups
from sync_server.revisions import queries as revisions
from tests.app_server import AppServer


@pytest.fixture
def server(postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppServer]:
    """A server on PostgreSQL, with a backup."""
    (tmp_path / "server").mkdir()
    server = AppServer(postgres_url, tmp_path / "server")
    monkeypatch.setenv("GATEHOUSE_DATABASE_URL", postgres_url)
    monkeypatch.setenv("GATEHOUSE_MASTER_KEY_FILE", str(server.folder / "master.key"))
    backups.backup(tmp_path / "copy")
    yield server
    server.close()


def test_a_restore_is_refused_while_a_server_is_running(server: AppServer, tmp_path: Path) -> None:
    with server.database.reading() as session:
        revisions.lineage(session)
        with pytest.raises(Conflict, match="Stop every server and worker"):
            backups.restore(tmp_path / "copy")


def test_the_database_of_another_application_is_not_cleared(server: AppServer, tmp_path: Path) -> None:
    server.close()
    engine = create_engine(server.url)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE alembic_version RENAME TO recipes"))
    engine.dispose()
    with pytest.raises(Conflict, match="not this server's"):
        backups.restore(tmp_path / "copy")
