"""The pages of organisers ask the database a fixed number of questions, however much an organisation has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import event

from tests.app_server import AppServer
from tests.desk import a_desk

MOST = 15


@pytest.fixture
def app_server(database_url: str, tmp_path: Path) -> Iterator[AppServer]:
    made = AppServer(database_url, tmp_path)
    yield made
    made.close()


@contextmanager
def counted(app_server: AppServer) -> Iterator[list[str]]:
    """The statements that are sent meanwhile."""
    sent: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if not statement.startswith(("BEGIN", "PRAGMA", "SAVEPOINT", "RELEASE")):
            sent.append(statement)

    event.listen(app_server.database.engine, "before_cursor_execute", note)
    yield sent
    event.remove(app_server.database.engine, "before_cursor_execute", note)


def test_no_page_asks_more_than_fifteen_questions(app_server: AppServer) -> None:
    desk = a_desk(app_server)
    asked = {}
    for _rule, path in desk.pages(app_server):
        with counted(app_server) as sent:
            assert desk.owner.client.get(path).status_code == 200, path
        asked[path] = len(sent)
    assert {path: count for path, count in asked.items() if count > MOST} == {}
