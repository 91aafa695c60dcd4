"""Fills a measured server with published events by bulk SQL, with numbers and words distributed realistically."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, text

from scripts.benchmarking.servers.measured_server import MeasuredServer
from shared.clock import wall_clock
from sync_server.migrations.tables import metadata
from sync_server.monitoring.scheduled_checks import NightlyCheck
from sync_server.plumbing.jobs import MORE
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext

ORGANISATIONS: Final = 1_000
CITIES: Final = 500
CATEGORIES: Final = 20
WORDS: Final = 5_000
DAY: Final = 86_400_000
SPAN: Final = 600 * DAY
"""The period in which the events start, beginning tomorrow."""
_SCRAMBLED: Final = "(n * 1103515245 % 2147483648)"
"""An odd factor yields every number once: neighbours in time are far apart in every index, as in reality."""
_ORGANISATION: Final = f"n * 1911520717 % 2147483647 % {ORGANISATIONS}"
_CITY: Final = f"(CASE WHEN n % 2 = 0 THEN n * 1588635695 % 2147483629 % 10 ELSE n * 69621 % {CITIES} END)"
_CATEGORY: Final = f"(n * 1284865837 % 2147483587 % {CATEGORIES})"
_START: Final = f"(n * 1226874159 % 2147483579 % {SPAN // 1000} * 1000)"
_ACT: Final = f"('Act w' || (n * 742938285 % 2147483563 % {WORDS}) || ' w' || (n * 950706376 % 2147483549 % {WORDS}))"


_INDEXES_OF_SQLITE: Final = (
    "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL "
    "AND tbl_name IN ('events', 'listings')"
)
_INDEXES_OF_POSTGRESQL: Final = (
    "SELECT indexname, indexdef FROM pg_indexes WHERE tablename IN ('events', 'listings') "
    "AND indexname NOT IN (SELECT conname FROM pg_constraint)"
)


def fill(server: MeasuredServer, count: int) -> int:
    """Insert so many listed events; return the time from which on they start."""
    begin = wall_clock() // 1000 * 1000 + DAY
    with (
        server.runtime() as runtime,
        runtime.parts.database.engine.execution_options(writes=True).begin() as connection,
    ):
        embedded = runtime.parts.database.embedded
        numbers = _numbers(count, embedded=embedded)
        indexes = _without_indexes(connection, embedded=embedded)
        _organisations(connection, _numbers(ORGANISATIONS, embedded=embedded), embedded=embedded)
        _insert(connection, "events", numbers, _events(begin, embedded=embedded), server.event)
        connection.execute(text(_LISTINGS.format(words="search_text" if embedded else "CAST(search_text AS tsvector)")))
        for statement in indexes:
            connection.exec_driver_sql(statement)
    return begin


def settle(server: MeasuredServer) -> None:
    """Do what happens by itself after many writes: the nightly checks, and on PostgreSQL VACUUM and ANALYZE.

    SQLite is never analysed in production.
    """
    with server.runtime() as runtime:
        _run_nightly_checks(runtime.parts)
        engine = runtime.parts.database.engine
        if not runtime.parts.database.embedded:
            with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.exec_driver_sql("VACUUM (ANALYZE)")


def _run_nightly_checks(parts: Parts) -> None:
    night, more = NightlyCheck(), True
    while more:
        with parts.database.writing() as session:
            more = night.run(session, ActionContext(SYSTEM, parts.clock(), parts.entropy)) is MORE


def _without_indexes(connection: Connection, *, embedded: bool) -> list[str]:
    """Drop the indexes of the large tables; return the statements that rebuild them, which saves minutes."""
    indexes = connection.execute(text(_INDEXES_OF_SQLITE if embedded else _INDEXES_OF_POSTGRESQL)).all()
    for name, _ in indexes:
        connection.exec_driver_sql(f"DROP INDEX {name}")
    return [statement for _, statement in indexes]


def _numbers(count: int, *, embedded: bool) -> str:
    if embedded:
        return (
            f"(WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < {count}) "  # noqa: S608
            "SELECT n FROM counted)"
        )
    return f"(SELECT n FROM generate_series(1::bigint, {count}) AS n)"  # noqa: S608 - a number


def _id(number: str, *, embedded: bool) -> str:
    """An id that ends with this number."""
    digits = f"printf('%012d', {number})" if embedded else f"lpad(CAST({number} AS TEXT), 12, '0')"
    text = f"'00000000-0000-7000-8000-' || {digits}"
    return text if embedded else f"CAST({text} AS UUID)"


def _organisations(connection: Connection, numbers: str, *, embedded: bool) -> None:
    id = _id("n % 1000", embedded=embedded)
    _insert(connection, "organisations", numbers, {"id": id, "slug": "'org-' || n", "name": "'Organisation ' || n"})
    _insert(connection, "venues", numbers, {"id": id, "organisation_id": id, "slug": "'hall-' || n"})


def _events(begin: int, *, embedded: bool) -> dict[str, str]:
    start = f"({begin} + {_START})"
    organisation = _id(_ORGANISATION, embedded=embedded)
    return {
        "id": _id("n", embedded=embedded),
        "number": _SCRAMBLED,
        "organisation_id": organisation,
        "venue_id": organisation,
        "code": "'E' || n",
        "slug": "'event-' || n",
        "dedupe_key": "'key-' || n",
        "name": _ACT,
        "description": "''",
        "category": f"'Kind ' || {_CATEGORY}",
        "status": "'published'",
        "city": f"'City ' || {_CITY}",
        "city_norm": f"'city ' || {_CITY}",
        "search_text": f"lower({_ACT} || ' hall city c' || {_CITY} || ' kind k' || {_CATEGORY})",
        "start_at": start,
        "end_at": f"{start} + 7200000",
        "sale_end_at": start,
        "published_at": str(begin - DAY),
    }


def _insert(connection: Connection, table: str, numbers: str, values: dict[str, str], event: int | None = None) -> None:
    """Insert a row per number; columns that are not given are copied from the demo organisation's row."""
    columns = [column.name for column in metadata().tables[table].columns]
    chosen = ", ".join(values.get(name, f"pattern.{name}") for name in columns)
    one = f"(SELECT * FROM {table} {'WHERE number = :event' if event is not None else ''} LIMIT 1)"  # noqa: S608
    statement = (
        f"INSERT INTO {table} ({', '.join(columns)}) "  # noqa: S608 - a constant
        f"SELECT {chosen} FROM {numbers} AS counting, {one} AS pattern"
    )
    connection.execute(text(statement), {} if event is None else {"event": event})


_LISTINGS: Final = (
    "INSERT INTO listings (number, event_id, organisation_id, starts_at, listed_until, city, city_norm, category_norm, "
    "words, moved_at, moved_from) SELECT number, id, organisation_id, start_at, end_at, city, city_norm, "
    "lower(category), {words}, 0, 0 FROM events WHERE status = 'published' AND number NOT IN "
    "(SELECT number FROM listings)"
)
