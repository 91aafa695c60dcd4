"""The yardstick of uploads inserts the rows that the server has stored: each of them once, with all their indexes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, inspect, make_url

from scripts.benchmarking.yardsticks import bare_insert
from scripts.benchmarking.yardsticks.bare_insert import BATCH, SAME_ROWS, Bare
from tests.contracts.sync.world import World

SCANS = BATCH + 40  # more than one batch


def test_every_row_of_an_upload_is_inserted_once_with_all_its_indexes(
    world: World, database_url: str, tmp_path: Path
) -> None:
    world.tickets(*range(1, SCANS + 1))
    gate = world.a_gate()
    gate.anchor()
    for ticket in range(1, SCANS + 1):
        gate.admit(ticket, details={"zone": 1})
    for start in range(0, len(gate.bodies), BATCH):
        gate.upload(gate.bodies[start : start + BATCH])
    file = tmp_path / "bare.db"
    rates = measured(database_url, file, gate.bodies)
    assert min(rates) > 0
    embedded = database_url.startswith("sqlite")
    bare_url = f"sqlite:///{file}" if embedded else database_url
    with told(database_url, None) as product, told(bare_url, None if embedded else "bare") as bare:
        for table in SAME_ROWS:
            assert bare(table) == product(table)


def measured(url: str, file: Path, bodies: list[bytes]) -> Bare:
    if url.startswith("sqlite"):
        return bare_insert.into_sqlite(Path(make_url(url).database or ""), file, bodies)
    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    return bare_insert.into_postgres(plain, bodies)


@contextmanager
def told(url: str, schema: str | None) -> Iterator[Callable[[str], tuple[list[Any], list[Any]]]]:
    """What a table has: its rows in order, and the columns of its key and indexes."""
    engine = create_engine(url)

    def of(table: str) -> tuple[list[Any], list[Any]]:
        seen, named = inspect(engine), f"{schema}.{table}" if schema else table
        indexes = [one["column_names"] for one in seen.get_indexes(table, schema=schema)]
        keys = sorted([seen.get_pk_constraint(table, schema=schema)["constrained_columns"], *indexes], key=repr)
        with engine.connect() as connection:
            rows = connection.exec_driver_sql(f"SELECT * FROM {named}").all()
        return sorted(map(repr, rows)), keys

    yield of
    engine.dispose()
