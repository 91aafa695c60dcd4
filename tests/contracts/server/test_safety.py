"""A backup is whole, a restore begins a new lineage, and neither destroys anything by mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import create_engine, func, select, text

from shared.errors import Conflict, GatehouseError
from sync_server.commands import safety
from sync_server.migrations import schema
from sync_server.migrations.tables import metadata
from sync_server.plumbing.database import open_engine
from sync_server.revisions import queries as revisions
from tests.office import Evening, Office


@pytest.fixture(autouse=True)
def _settings(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEHOUSE_DATABASE_URL", office.url)
    monkeypatch.setenv("GATEHOUSE_MASTER_KEY_FILE", str(office.folder / "master.key"))
    monkeypatch.setenv("GATEHOUSE_LOG_LEVEL", "error")


def test_yesterdays_backup_comes_back_with_another_lineage(
    office: Office, evening: Evening, database_url: str, tmp_path: Path
) -> None:
    evening.issue(count=2)
    with office.database.reading() as session:
        before = revisions.lineage(session)
    safety.backup(tmp_path / "yesterday")
    evening.issue(count=3)
    office.close()
    safety.restore(tmp_path / "yesterday")
    restored = Office(database_url, tmp_path, fresh=False)
    with restored.database.reading() as session:
        assert revisions.lineage(session) != before
    assert len(restored.held(evening.number)) == len(office.held(evening.number))
    desk = evening.desk
    desk.client = restored.app.test_client()
    assert len(desk.get(f"{evening.path}/tickets")["items"]) == 2
    evening.issue()
    restored.close()


def test_a_backup_overwrites_nothing(tmp_path: Path) -> None:
    file = tmp_path / "precious"
    file.write_text("letters from home")
    with pytest.raises(Conflict):
        safety.backup(file)
    assert file.read_text() == "letters from home"


def test_a_file_that_is_no_backup_changes_nothing(evening: Evening, office: Office, tmp_path: Path) -> None:
    file = tmp_path / "holiday.jpg"
    file.write_bytes(b"\xff\xd8\xff")
    office.close()
    for wrong in (file, tmp_path / "nothing"):
        with pytest.raises(Exception, match=r"no backup|no file|failed"):
            safety.restore(wrong)
    assert evening.desk.get(evening.path)["status"] == "draft"


def test_a_running_server_on_sqlite_is_not_restored_under_its_feet(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEHOUSE_DATABASE_URL", sqlite_url.replace("gatehouse.db", "other.db"))
    running = Office(sqlite_url.replace("gatehouse.db", "other.db"), tmp_path)
    safety.backup(tmp_path / "copy")
    with running.database.reading() as session:
        revisions.lineage(session)
        with pytest.raises(Conflict, match="running"):
            safety.restore(tmp_path / "copy")
    running.close()


def revision(url: str, change_to: str | None = None) -> str:
    """The schema that a database says it has; and with `change_to`, a lie about it."""
    engine = create_engine(url)
    with engine.begin() as connection:
        if change_to is not None:
            connection.execute(text("UPDATE alembic_version SET version_num = :new"), {"new": change_to})
        found = str(connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one())
    engine.dispose()
    return found


def test_a_backup_that_was_cut_changes_nothing(office: Office, evening: Evening, tmp_path: Path) -> None:
    file = tmp_path / "copy"
    safety.backup(file)
    evening.issue(count=2)
    before = len(evening.desk.get(f"{evening.path}/tickets")["items"])
    office.close()
    whole = file.read_bytes()
    for share in (0.3, 0.6, 0.95):
        (tmp_path / "cut").write_bytes(whole[: int(len(whole) * share)])
        with pytest.raises(GatehouseError, match="Nothing was changed"):
            safety.restore(tmp_path / "cut")
    assert len(evening.desk.get(f"{evening.path}/tickets")["items"]) == before == 2
    assert not list(tmp_path.glob("*restor*"))


def test_a_backup_of_a_newer_program_is_refused_in_words(office: Office, tmp_path: Path) -> None:
    newest = revision(office.url)
    revision(office.url, change_to="9999")
    safety.backup(tmp_path / "of tomorrow")
    revision(office.url, change_to=newest)
    office.close()
    with pytest.raises(Conflict, match="does not know"):
        safety.restore(tmp_path / "of tomorrow")
    assert revision(office.url) == newest


def test_a_backup_of_an_older_schema_is_brought_up_to_date(
    office: Office, evening: Evening, database_url: str, tmp_path: Path
) -> None:
    evening.issue(count=2)
    office.close()
    engine = open_engine(office.url)
    with engine.execution_options(writes=True).begin() as connection:
        command.downgrade(schema._config(connection), "0007")
    engine.dispose()
    safety.backup(tmp_path / "old")
    engine = open_engine(office.url)
    schema.upgrade(engine)
    engine.dispose()
    safety.restore(tmp_path / "old")
    assert revision(office.url) == schema.newest()
    engine = open_engine(office.url)
    assert schema.differences(engine) == []
    engine.dispose()
    restored = Office(database_url, tmp_path, fresh=False)
    evening.desk.client = restored.app.test_client()
    assert len(evening.desk.get(f"{evening.path}/tickets")["items"]) == 2
    restored.close()


def test_every_table_is_in_the_backup(office: Office, evening: Evening, tmp_path: Path) -> None:
    def counted() -> dict[str, int]:
        engine = create_engine(office.url)
        with engine.connect() as connection:
            counts = {
                table.name: int(connection.execute(select(func.count()).select_from(table)).scalar_one())
                for table in metadata().sorted_tables
            }
        engine.dispose()
        return counts

    evening.issue(count=2)
    before = counted()
    safety.backup(tmp_path / "copy")
    evening.issue(count=3)
    office.close()
    safety.restore(tmp_path / "copy")
    assert counted() == before and sum(before.values()) > 20


def test_a_backup_that_cannot_be_finished_leaves_nothing_of_its_name(
    office: Office, evening: Evening, tmp_path: Path
) -> None:
    assert evening.number and office.url
    with pytest.raises(GatehouseError, match="cannot be written"):
        safety.backup(tmp_path / "no such folder" / "copy")
    broken = tmp_path / "copy.unfinished"
    broken.touch()
    with pytest.raises(Conflict, match="another backup is being written"):
        safety.backup(tmp_path / "copy")
    broken.unlink()
    safety.backup(tmp_path / "copy")
    assert not broken.exists() and (tmp_path / "copy").stat().st_mode & 0o077 == 0


def test_without_its_master_key_nothing_is_restored(
    office: Office, evening: Evening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    safety.backup(tmp_path / "copy")
    evening.issue(count=2)
    office.close()
    monkeypatch.setenv("GATEHOUSE_MASTER_KEY_FILE", str(tmp_path / "nowhere"))
    with pytest.raises(Conflict, match="no master key"):
        safety.restore(tmp_path / "copy")
    assert not (tmp_path / "nowhere").exists()
    assert len(evening.desk.get(f"{evening.path}/tickets")["items"]) == 2


def test_what_is_no_database_any_more_is_kept_beside_the_restored_one(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = sqlite_url.replace("gatehouse.db", "ruined.db")
    monkeypatch.setenv("GATEHOUSE_DATABASE_URL", url)
    running = Office(url, tmp_path)
    safety.backup(tmp_path / "copy")
    running.close()
    (tmp_path / "ruined.db").write_bytes(b"\x00" * 50_000)
    safety.restore(tmp_path / "copy")
    assert revision(url) == schema.newest()
    assert (tmp_path / "ruined.db.before-restore-1").read_bytes() == b"\x00" * 50_000


def test_there_is_no_backup_of_a_database_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEHOUSE_DATABASE_URL", f"sqlite:///{tmp_path}/nowhere/g.db")
    with pytest.raises(Conflict, match="no database at"):
        safety.backup(tmp_path / "copy")
    assert not (tmp_path / "copy").exists() and not (tmp_path / "nowhere").exists()
