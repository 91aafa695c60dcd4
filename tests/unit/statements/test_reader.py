"""What counts as naming the organisation, and what only looks like it."""

from __future__ import annotations

import pytest

from tests.statements.reader import TABLES, unnamed

NAMED = {
    "a parameter": "SELECT 1 FROM tickets WHERE organisation_id = %(organisation_id_1)s::VARCHAR AND id = %(id_1)s",
    "a numbered parameter": "SELECT 1 FROM tickets WHERE (organisation_id, id) = ($1,$2)",
    "a constant of the statement": "SELECT 1 FROM tickets WHERE organisation_id = 'own'",
    "several organisations": "SELECT 1 FROM tickets WHERE organisation_id IN ($1, $2)",
    "organisations that a subquery chooses among those it names": (
        "UPDATE outbox_cursors SET leased_until = $1 WHERE organisation_id IN (SELECT organisation_id "
        "FROM outbox_cursors WHERE organisation_id IN ($2, $3) FOR UPDATE SKIP LOCKED)"
    ),
    "an array of organisations": "SELECT 1 FROM tickets WHERE organisation_id = ANY(CAST($1 AS VARCHAR[]))",
    "rows of several organisations": "SELECT 1 FROM tickets WHERE (organisation_id, id) IN (($1,$2), ($3,$4))",
    "an empty list of organisations": (
        "SELECT 1 FROM tickets WHERE (organisation_id, id) IN (SELECT NULL, NULL FROM (SELECT 1) WHERE 1 != 1)"
    ),
    "those of nobody": "SELECT 1 FROM audit_lines WHERE organisation_id IS NULL",
    "a joined table by its own parameter": (
        "SELECT 1 FROM tickets t JOIN events e ON e.id = t.event_id AND e.organisation_id = $1 "
        "WHERE t.organisation_id = $1"
    ),
    "a joined table by the other's": (
        "SELECT 1 FROM tickets t LEFT JOIN events e ON e.id = t.event_id AND e.organisation_id = t.organisation_id "
        "WHERE t.organisation_id = $1"
    ),
    "three tables in a row, said backwards": (
        "SELECT 1 FROM tickets t, events e, venues v "
        "WHERE v.organisation_id = e.organisation_id AND e.organisation_id = t.organisation_id "
        "AND $1 = t.organisation_id"
    ),
    "the organisation itself": (
        "SELECT 1 FROM organisations o JOIN events e ON e.organisation_id = o.id WHERE o.id = $1"
    ),
    "a subquery by the outer query": (
        "SELECT 1 FROM events e WHERE e.organisation_id = $1 AND EXISTS ("
        "SELECT 1 FROM tickets t WHERE t.organisation_id = e.organisation_id AND t.event_id = e.id)"
    ),
    "a query by the WITH before it": (
        "WITH chosen AS (SELECT organisation_id, id FROM events WHERE organisation_id = $1) "
        "SELECT 1 FROM chosen JOIN tickets ON tickets.organisation_id = chosen.organisation_id"
    ),
    "a query by the subquery in FROM": (
        "SELECT 1 FROM (SELECT e.organisation_id FROM events e WHERE e.organisation_id = $1) AS chosen "
        "JOIN tickets ON tickets.organisation_id = chosen.organisation_id"
    ),
    "an insert": "INSERT INTO tickets (organisation_id, id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    "an insert of columns": (
        "INSERT INTO tickets (id, organisation_id) SELECT * FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS VARCHAR[]))"
    ),
    "an update": "UPDATE tickets SET status = $1 WHERE organisation_id = $2 AND id = any($3) RETURNING id",
    "an update with a second table": (
        "UPDATE tickets SET status = $1 FROM events e "
        "WHERE tickets.organisation_id = $2 AND e.organisation_id = tickets.organisation_id AND e.id = tickets.event_id"
    ),
    "a delete": "DELETE FROM tickets WHERE tickets.organisation_id = $1",
    "no table of organisations": "SELECT 1 FROM users WHERE email = $1",
    "a query of WITH that has the name of no table": "WITH due AS (SELECT 1 AS id) SELECT id FROM due",
    "no query": "CREATE TABLE tickets (id BIGINT)",
}
UNNAMED = {
    "nothing": ("SELECT 1 FROM tickets WHERE id = $1", ["tickets"]),
    "every row": ("SELECT count(*) FROM tickets", ["tickets"]),
    "a function of the column": ("SELECT 1 FROM tickets WHERE organisation_id || '' = $1", ["tickets"]),
    "a function of the column, of its value": ("SELECT 1 FROM tickets WHERE lower(organisation_id) = $1", ["tickets"]),
    "organisations that are looked up": (
        "SELECT 1 FROM tickets WHERE organisation_id IN (SELECT organisation_id FROM events)",
        ["events", "tickets"],
    ),
    "the ids of another table, by its organisation": (
        "SELECT 1 FROM tickets WHERE organisation_id IN (SELECT id FROM events WHERE organisation_id = $1)",
        ["tickets"],
    ),
    "a list with an organisation that is looked up": (
        "SELECT 1 FROM tickets t, events e WHERE t.organisation_id IN ($1, e.organisation_id)",
        ["events", "tickets"],
    ),
    "all but some": ("SELECT 1 FROM tickets WHERE organisation_id NOT IN ($1, $2)", ["tickets"]),
    "one of two cases": ("SELECT 1 FROM tickets WHERE organisation_id = $1 OR id = $2", ["tickets"]),
    "the opposite": ("SELECT 1 FROM tickets WHERE NOT (organisation_id = $1)", ["tickets"]),
    "not equal": ("SELECT 1 FROM tickets WHERE organisation_id <> $1", ["tickets"]),
    "only itself": ("SELECT 1 FROM tickets t WHERE t.organisation_id = t.organisation_id", ["tickets"]),
    "only each other": (
        "SELECT 1 FROM tickets t JOIN events e ON e.organisation_id = t.organisation_id",
        ["events", "tickets"],
    ),
    "one of two tables": (
        "SELECT 1 FROM tickets t JOIN events e ON e.id = t.event_id WHERE t.organisation_id = $1",
        ["events"],
    ),
    "the same table under one of two names": (
        "SELECT 1 FROM tickets one JOIN tickets other ON other.id = one.id WHERE one.organisation_id = $1",
        ["tickets"],
    ),
    "the table that an outer join keeps whole": (
        "SELECT 1 FROM tickets t LEFT JOIN events e ON t.organisation_id = $1 AND e.organisation_id = $1",
        ["tickets"],
    ),
    "an organisation found by its name": (
        "SELECT 1 FROM events e JOIN organisations o ON o.id = e.organisation_id WHERE o.slug = $1",
        ["events"],
    ),
    "the outer query only": (
        "SELECT 1 FROM events e WHERE e.organisation_id = $1 "
        "AND EXISTS (SELECT 1 FROM tickets t WHERE t.event_id = e.id)",
        ["tickets"],
    ),
    "the subquery only": (
        "SELECT 1 FROM events e WHERE e.id IN (SELECT event_id FROM tickets WHERE organisation_id = $1)",
        ["events"],
    ),
    "a WITH that names nothing itself": (
        "WITH chosen AS (SELECT organisation_id FROM events) "
        "SELECT 1 FROM chosen JOIN tickets ON tickets.organisation_id = chosen.organisation_id",
        ["events", "tickets"],
    ),
    "a WITH that writes": ("WITH gone AS (DELETE FROM holds WHERE id = $1) SELECT 1", ["holds"]),
    "one half of a union": ("SELECT 1 FROM events WHERE organisation_id = $1 UNION SELECT 1 FROM venues", ["venues"]),
    "an insert without the column": ("INSERT INTO tickets (id) VALUES ($1)", ["tickets"]),
    "what an insert reads": (
        "INSERT INTO tickets (organisation_id, id) SELECT organisation_id, id FROM holds WHERE id = $1",
        ["holds"],
    ),
    "an update by id": ("UPDATE tickets SET organisation_id = $1 WHERE id = $2", ["tickets"]),
    "the second table of an update": (
        "UPDATE tickets SET status = $1 FROM events e WHERE tickets.organisation_id = $2 AND e.id = tickets.event_id",
        ["events"],
    ),
    "the second table of a delete": (
        "DELETE FROM tickets USING events e WHERE tickets.organisation_id = $1 AND e.id = tickets.event_id",
        ["events"],
    ),
    "a table behind a comma": ("SELECT 1 FROM events e, tickets t WHERE e.organisation_id = $1", ["tickets"]),
}


@pytest.mark.parametrize("statement", NAMED.values(), ids=NAMED)
def test_names_the_organisation(statement: str) -> None:
    assert unnamed(statement, "postgresql") == ()


@pytest.mark.parametrize(("statement", "tables"), UNNAMED.values(), ids=UNNAMED)
def test_does_not_name_the_organisation_of(statement: str, tables: list[str]) -> None:
    assert list(unnamed(statement, "postgresql")) == tables


def test_sqlite_has_a_language_of_its_own() -> None:
    assert unnamed("SELECT 1 FROM event_seats INDEXED BY some_index WHERE organisation_id = ?", "sqlite") == ()
    assert unnamed("SELECT 1 FROM events WHERE (organisation_id, id) IN (VALUES (?, ?), (?, ?))", "sqlite") == ()
    assert unnamed("SELECT 1 FROM events WHERE id IN (SELECT value FROM json_each(:ids))", "sqlite") == ("events",)


def test_tables_are_those_of_the_models() -> None:
    assert {"tickets", "events", "holds"} <= TABLES
    assert not {"organisations", "users"} & TABLES
