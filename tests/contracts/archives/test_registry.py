"""Every table says which of its rows are an event's: none is kept or lost because nobody has thought of it."""

from __future__ import annotations

from sync_server.archives.event_rows import event_tables, leaving
from sync_server.archives.registry import EVENT_ROWS, LEFT_OUT, NOT_PUT_AWAY, PACKED
from sync_server.migrations.tables import metadata
from sync_server.privacy.registry import PERSONAL, Fate


def test_every_table_with_rows_of_events_is_declared() -> None:
    naming = {table.name for table in metadata().sorted_tables if "event_id" in table.c}
    below = {name for name, rule in EVENT_ROWS.items() if rule.parent}
    assert naming | below | {"events"} == EVENT_ROWS.keys() | NOT_PUT_AWAY.keys()
    assert EVENT_ROWS.keys() & NOT_PUT_AWAY.keys() == set()


def test_what_refers_to_a_row_leaves_before_it() -> None:
    gone: set[str] = set()
    for each in leaving():
        gone.add(each.name)
        referring = {
            table.name
            for table in metadata().sorted_tables
            for key in table.foreign_keys
            if key.column.table.name == each.name and table.name != each.name
        }
        assert referring <= gone, f"{each.name} leaves before {referring - gone}"


def test_rows_below_another_table_belong_to_its_event() -> None:
    for each in event_tables():
        assert each.parent is None or "event_id" in each.parent.c
        assert each.rule.by in each.table.c


def test_no_file_has_a_value_that_an_erasure_reaches() -> None:
    """It is erased in the database, and there is no other place."""
    erased: dict[str, set[str]] = {}
    packed: dict[str, str] = {}
    hashed = {"zone_guests.key"}  # nobody can tell from a keyed hash who it was
    for place, personal in PERSONAL.items():
        table, _, column = place.partition(".")
        if table not in EVENT_ROWS or place in hashed:
            continue
        if personal.fate in {Fate.EMPTIED, Fate.ROW_REMOVED}:
            erased.setdefault(table, set()).add(column)
        elif personal.fate is Fate.REWRITTEN:
            packed[table] = column
    assert erased == {table: set(columns) for table, columns in LEFT_OUT.items()}
    assert packed == PACKED
