"""Backups are complete, restores start a new lineage, and neither destroys anything by mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import create_engine, func, select, text

from shared.errors import Conflict, GatehouseError
from sync_server.commands import backups
from sync_server.migrations import schema
from sync_server.migrations.tables import metadata
from sync_server.revisions import queries as revisions
from tests.app_server import AppServer, Concert


@pytest.fixture(autouse=True)
def _settings(app_server: AppServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEHOUSE_DATABASE_URL", app_server.url)
    monkeypatch.setenv("GATEHOUSE_MASTER_KEY_FILE", str(app_server.folder / "master.key"))
    monkeypatch.setenv("GATEHOUSE_LOG_LEVEL", "error")


def test_a_restored_backup_has_a_new_lineage(
    app_server: AppServer, concert: Concert, database_url: str, tmp_path: Path
) -> None:
    concert.issue(count=2)
    with app_server.database.reading() as session:
        before = revisions.lineage(session)
    backups.backup(tmp_path / "yesterday")
    concert.issue(count=3)
    app_server.close()
    backups.restore(tmp_path / "yesterday")
    restored = AppServer(database_url, tmp_path, fresh=False)
    with restored.database.reading() as session:
        assert revisions.lineage(session) != before
    assert len(restored.gate_rows(concert.number)) == len(app_server.gate_rows(concert.number))
    api = concert.api
    api.client = restored.app.test_client()
    assert len(api.get(f"{concert.path}/tickets")["items"]) == 2
    concert.issue()
    restored.close()


def test_a_backup_overwrites_nothing(tmp_path: Path) -> None:
    file = tmp_path / "precious"
    file.write_text("letters from home")
    with pytest.raises(Conflict):
        backups.backup(file)
    assert file.read_text() == "letters from home"


def test_a_file_that_is_not_a_backup_changes_nothing(concert: Concert, app_server: AppServer, tmp_path: Path) -> None:
    file = tmp_path / "holiday.jpg"
    file.write_bytes(b"\xff\xd8\xff")
    app_server.close()
    for wrong in (file, tmp_path / "nothing"):
        with pytest.raises(Exception, match=r"not a backup|no file|failed"):
            backups.restore(wrong)
    assert concert.api.get(concert.path)["status"] == "draft"


def test_a_restore_is_refused_while_a_server_on_sqlite_is_running(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEHOUSE_DATABASE_URL", sqlite_url.replace("gatehouse.db", "other.db"))
    running = AppServer(sqlite_url.replace("gatehouse.db", "other.db"), tmp_path)
    backups.backup(tmp_path / "copy")
    with running.database.reading() as session:
        revisions.lineage(session)
        with pytest.raises(Conflict, match="running"):
            backups.restore(tmp_path / "copy")
    running.close()


def revision(url: str, change_to: str | None = None) -> str:
    """The schema version recorded in a database; `change_to` overwrites it."""
    engine = create_engine(url)
    with engine.begin() as connection:
        if change_to is not None:
            connection.execute(text("UPDATE alembic_version SET version_num = :new"), {"new": change_to})
        found = str(connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one())
    engine.dispose()
    return found


def test_a_truncated_backup_changes_nothing(app_server: AppServer, concert: Concert, tmp_path: Path) -> None:
    file = tmp_path / "copy"
    backups.backup(file)
    concert.issue(count=2)
    before = len(concert.api.get(f"{concert.path}/tickets")["items"])
    app_server.close()
    whole = file.read_bytes()
    for share in (0.3, 0.6, 0.95):
        (tmp_path / "cut").write_bytes(whole[: int(len(whole) * share)])
        with pytest.raises(GatehouseError, match="Nothing was changed"):
            backups.restore(tmp_path / "cut")
    assert len(concert.api.get(f"{concert.path}/tickets")["items"]) == before == 2
    assert not list(tmp_path.glob("*restor*"))


def test_a_backup_of_a_newer_version_is_refused(app_server: AppServer, tmp_path: Path) -> None:
    newest = revision(app_server.url)
    revision(app_server.url, change_to="9999")
    backups.backup(tmp_path / "of tomorrow")
    revision(app_server.url, change_to=newest)
    app_server.close()
    with pytest.raises(Conflict, match="does not know"):
        backups.restore(tmp_path / "of tomorrow")
    assert revision(app_server.url) == newest


def test_every_table_is_in_the_backup(app_server: AppServer, concert: Concert, tmp_path: Path) -> None:
    def counted() -> dict[str, int]:
        engine = create_engine(app_server.url)
        with engine.connect() as connection:
            counts = {
                table.name: int(connection.execute(select(func.count()).select_from(table)).scalar_one())
                for table in metadata().sorted_tables
            }
        engine.dispose()
        return counts

    concert.issue(count=2)
    before = counted()
    backups.backup(tmp_path / "copy")
    concert.issue(count=3)
    app_server.close()
    backups.restore(tmp_path / "copy")
    assert counted() == before and sum(before.values()) > 20


def test_a_failed_backup_leaves_no_file(app_server: AppServer, concert: Concert, tmp_path: Path) -> None:
    assert concert.number and app_server.url
    with pytest.raises(GatehouseError, match="cannot be written"):
        backups.backup(tmp_path / "no such folder" / "copy")
    broken = tmp_path / "copy.unfinished"
    broken.touch()
    with pytest.raises(Conflict, match="another backup is being written"):
        backups.backup(tmp_path / "copy")
    broken.unlink()
    backups.backup(tmp_path / "copy")
    assert not broken.exists() and (tmp_path / "copy").stat().st_mode & 0o077 == 0


def test_a_restore_requires_the_master_key(
    app_server: AppServer, concert: Concert, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backups.backup(tmp_path / "copy")
    concert.issue(count=2)
    app_server.close()
    monkeypatch.setenv("GATEHOUSE_MASTER_KEY_FILE", str(tmp_path / "nowhere"))
    with pytest.raises(Conflict, match="no master key"):
        backups.restore(tmp_path / "copy")
    assert not (tmp_path / "nowhere").exists()
    assert len(concert.api.get(f"{concert.path}/tickets")["items"]) == 2


def test_a_damaged_database_is_kept_beside_the_restored_one(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = sqlite_url.replace("gatehouse.db", "ruined.db")
    monkeypatch.setenv("GATEHOUSE_DATABASE_URL", url)
    running = AppServer(url, tmp_path)
    backups.backup(tmp_path / "copy")
    running.close()
    (tmp_path / "ruined.db").write_bytes(b"\x00" * 50_000)
    backups.restore(tmp_path / "copy")
    assert revision(url) == schema.newest()
    assert (tmp_path / "ruined.db.before-restore-1").read_bytes() == b"\x00" * 50_000


def test_a_missing_database_cannot_be_backed_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEHOUSE_DATABASE_URL", f"sqlite:///{tmp_path}/nowhere/g.db")
    with pytest.raises(Conflict, match="no database at"):
        backups.backup(tmp_path / "copy")
    assert not (tmp_path / "copy").exists() and not (tmp_path / "nowhere").exists()
