"""Selects that are compiled once find what they would find through SQLAlchemy, in JSON too."""

from __future__ import annotations

from sqlalchemy import JSON, Column, Integer, MetaData, Table, create_engine, insert, select, union_all
from sqlalchemy.orm import Session

from sync_server.plumbing.sql.prepared import Prepared, Selected, placeholder

FACTS = Table("facts", MetaData(), Column("number", Integer, primary_key=True), Column("subjects", JSON))


def found(statement: Selected, **values: object) -> list[int]:
    """The numbers that a statement finds among the facts of two evenings."""
    engine = create_engine("sqlite://")
    FACTS.metadata.create_all(engine)
    with Session(engine) as session:
        session.execute(insert(FACTS), [{"number": n, "subjects": {"event": f"evening {n % 2}"}} for n in range(6)])
        return [row.number for row in Prepared(statement).rows(session, **values)]


def test_a_field_inside_json_is_found_by_its_name() -> None:
    of_event = FACTS.c.subjects["event"].as_string() == placeholder("event")
    early, late = (select(FACTS.c.number).where(of_event, part) for part in (FACTS.c.number < 3, FACTS.c.number > 2))
    assert found(union_all(early, late), event="evening 1") == [1, 3, 5]


def test_values_of_a_list_in_the_statement_are_found() -> None:
    assert found(select(FACTS.c.number).where(FACTS.c.number.in_([2, 4]))) == [2, 4]
