"""A backup is whole, a restore begins a new lineage, and neither destroys anything by mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.errors import Conflict
from sync_server.commands import safety
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
