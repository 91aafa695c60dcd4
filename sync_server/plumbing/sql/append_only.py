"""Tables whose rows are only ever added: triggers refuse to change or delete them, whoever asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from sqlalchemy import MetaData, Table

from sync_server.plumbing.sql.tables import after_create

_GUARDS: Final = "append only"


def guard(table: Table, *, identity: Sequence[str]) -> None:
    """Create the triggers together with this table; `identity` are the columns that name a row of an organisation."""
    table.info[_GUARDS] = guards = {"sqlite": _sqlite(table.name, identity), "postgresql": _postgresql(table.name)}
    after_create(table, **guards)


def guarded(metadata: MetaData) -> Iterator[Mapping[str, Sequence[str]]]:
    """The statements that make the triggers of each such table, by dialect."""
    return (table.info[_GUARDS] for table in metadata.sorted_tables if _GUARDS in table.info)


def _message(name: str) -> str:
    return f"rows of {name} are only ever added"


def _sqlite(name: str, identity: Sequence[str]) -> Sequence[str]:
    same = " AND ".join(f"{column} = NEW.{column}" for column in ("organisation_id", *identity))
    present = f"SELECT 1 FROM {name} WHERE {same}"  # noqa: S608 - our own names
    refused = f"BEGIN SELECT RAISE(ABORT, '{_message(name)}'); END"
    return (
        f"CREATE TRIGGER {name}_no_update BEFORE UPDATE ON {name} {refused}",
        f"CREATE TRIGGER {name}_no_delete BEFORE DELETE ON {name} {refused}",
        # SQLite runs no DELETE trigger where INSERT OR REPLACE drops the conflicting row.
        f"CREATE TRIGGER {name}_no_replace BEFORE INSERT ON {name} WHEN EXISTS ({present}) {refused}",
    )


def _postgresql(name: str) -> Sequence[str]:
    function = f"{name}_guard()"
    return (
        f"CREATE OR REPLACE FUNCTION {function} RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{_message(name)}'; END $$",
        f"CREATE TRIGGER {name}_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON {name} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {function}",
    )
