"""The listener hears every way by which the server sends statements, and nothing that tests send."""

from __future__ import annotations

from collections.abc import Callable
from pkgutil import resolve_name
from typing import Any

import pytest
from sqlalchemy import text

from sync_server.plumbing.database import Database
from tests.app_server import AppServer
from tests.statements.exceptions import EXCEPTIONS
from tests.statements.listener import HEARD

PLACE = "shop.stock"
SERVER_CODE = """
from sqlalchemy import select
from sync_server.plumbing.sql.autocommit import numbered
from sync_server.plumbing.sql.prepared import Prepared
from sync_server.venues.models import VenueRecord

EVERY = "SELECT slug FROM venues WHERE name = :name"

def by_orm(database):
    with database.reading() as session:
        session.scalars(select(VenueRecord)).all()

def by_prepared(database):
    with database.autocommit_reading() as session:
        Prepared(select(VenueRecord.id)).rows(session)

def by_change(database):
    with database.writing() as session:
        session.connection().exec_driver_sql("DELETE FROM venues")

def by_hot_path(database):
    if database.autocommit is not None:
        database.autocommit.row(numbered(EVERY), {"name": "Town Hall"})
    else:
        database.group_commit.write(lambda cursor: cursor.execute(EVERY, {"name": "Town Hall"}))

def by_name(database):
    with database.reading() as session:
        session.scalars(select(VenueRecord).where(VenueRecord.organisation_id == "0" * 32)).all()
"""


def server_function(name: str) -> Callable[[Database], None]:
    """A function as a module of the server would have it."""
    module: dict[str, Any] = {"__name__": f"sync_server.{PLACE}"}
    exec(SERVER_CODE, module)  # noqa: S102 - our own text, under the name of another module
    function: Callable[[Database], None] = module[name]
    return function


def heard() -> set[tuple[str, tuple[str, ...]]]:
    """Where organisations were left out since the last time, and of which tables."""
    found = {(offence.place, offence.tables) for offence in HEARD.offences}
    HEARD.offences.clear()
    return found


@pytest.mark.parametrize("way", ["by_orm", "by_prepared", "by_change", "by_hot_path"])
def test_a_statement_that_leaves_the_organisation_out_is_heard(app_server: AppServer, way: str) -> None:
    server_function(way)(app_server.database)
    assert heard() == {(f"{PLACE}.{way}", ("venues",))}


def test_a_statement_that_names_it_is_in_order(app_server: AppServer) -> None:
    server_function("by_name")(app_server.database)
    assert heard() == set()


def test_statements_of_tests_are_not_judged(app_server: AppServer) -> None:
    with app_server.database.reading() as session:
        session.execute(text("SELECT slug FROM venues"))
    assert heard() == set()


@pytest.mark.parametrize("place", EXCEPTIONS)
def test_an_exception_names_a_function_of_the_server_and_gives_a_reason(place: str) -> None:
    assert callable(resolve_name(f"sync_server.{place}"))
    assert EXCEPTIONS[place]
