"""What can happen to a restore where the database is not a file of this server alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from shared.errors import Conflict
from sync_server.commands import safety
from sync_server.revisions import queries as revisions
from tests.office import Office


@pytest.fixture
def hall(postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Office]:
    """An office on PostgreSQL alone: what cannot happen to a file."""
    (tmp_path / "hall").mkdir()
    hall = Office(postgres_url, tmp_path / "hall")
    monkeypatch.setenv("GATEHOUSE_DATABASE_URL", postgres_url)
    monkeypatch.setenv("GATEHOUSE_MASTER_KEY_FILE", str(hall.folder / "master.key"))
    safety.backup(tmp_path / "copy")
    yield hall
    hall.close()


def test_a_running_server_on_postgresql_is_not_restored_under_its_feet(hall: Office, tmp_path: Path) -> None:
    with hall.database.reading() as session:
        revisions.lineage(session)
        with pytest.raises(Conflict, match="Stop every server and worker"):
            safety.restore(tmp_path / "copy")


def test_a_database_of_somebody_else_is_not_cleared(hall: Office, tmp_path: Path) -> None:
    hall.close()
    engine = create_engine(hall.url)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE alembic_version RENAME TO recipes"))
    engine.dispose()
    with pytest.raises(Conflict, match="not this server's"):
        safety.restore(tmp_path / "copy")
