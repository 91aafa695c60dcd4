"""Nothing about a person is stored without a word on what becomes of it."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import JSON, Column, LargeBinary, String

from sync_server.migrations.tables import metadata
from sync_server.privacy.plain_columns import NOT_PERSONAL
from sync_server.privacy.registry import FOUND_BY, NOT_ONE_PERSON_S, PERSONAL, Fate

UUID_CHARACTERS = 36


def _can_hold_text(column: Column[object]) -> bool:
    kind = column.type
    return isinstance(kind, JSON | LargeBinary) or (isinstance(kind, String) and kind.length != UUID_CHARACTERS)


def test_every_column_that_can_hold_text_is_declared_once() -> None:
    """A column that fails here needs a line in privacy/registry.py: whose is it, and what does an erasure do to it?"""
    stored = {f"{table.name}.{c.name}" for table in metadata().sorted_tables for c in table.c if _can_hold_text(c)}
    plain = {f"{table}.{column}" for table, columns in NOT_PERSONAL.items() for column in columns.split()}
    assert plain | PERSONAL.keys() == stored
    assert plain & PERSONAL.keys() == set()


def test_whatever_is_personal_can_be_found() -> None:
    with_people = {place.partition(".")[0] for place in PERSONAL}
    assert with_people <= FOUND_BY.keys() | NOT_ONE_PERSON_S.keys()
    tables = metadata().tables
    assert all(column in tables[table].c for table, columns in FOUND_BY.items() for column in columns.values())


def test_what_is_erased_is_looked_for() -> None:
    gone = {place.partition(".")[0] for place, one in PERSONAL.items() if one.fate not in {Fate.KEPT, Fate.SHORT_LIVED}}
    assert gone <= FOUND_BY.keys()


def test_the_page_about_privacy_lists_every_personal_value() -> None:
    page = (Path(__file__).parents[3] / "docs" / "privacy.md").read_text(encoding="utf-8")
    missing = [f"| `{place}` | {one.fate} | {one.about} |" for place, one in PERSONAL.items()]
    assert [line for line in missing if line not in page] == []
