"""A write that fails for want of room is remembered until one succeeds: meanwhile nobody is let in."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from gate_app.storage.database import Database, open_database


def let_grow(database: Database, pages: int) -> None:
    """How many pages the file may have; a full disk looks the same to SQLite."""
    database.connection.execute(f"PRAGMA max_page_count = {pages}")


@pytest.mark.parametrize("write", [Database.put, Database.put_unsynced])
def test_a_failed_write_is_remembered_until_one_succeeds(
    tmp_path: Path, write: Callable[[Database, str, bytes | int], None]
) -> None:
    database = open_database(tmp_path / "gate.db")
    (pages,) = database.connection.execute("PRAGMA page_count").fetchone()
    let_grow(database, pages)
    with pytest.raises(sqlite3.OperationalError, match="full"):
        write(database, "much", bytes(100_000))
    assert "cannot be written" in database.failing
    let_grow(database, 100_000)
    write(database, "little", 1)
    assert database.failing == "" and database.get("little") == 1
    database.close()


def test_another_error_says_nothing_about_the_disk(tmp_path: Path) -> None:
    database = open_database(tmp_path / "gate.db")
    with pytest.raises(KeyError), database.writing():
        raise KeyError("a mistake of ours")
    with pytest.raises(sqlite3.OperationalError), database.writing() as connection:
        connection.execute("SELECT nothing FROM nowhere")
    assert database.failing == ""
    database.close()
