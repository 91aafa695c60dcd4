"""Database triggers that refuse to change or delete what is in the audit log."""

from __future__ import annotations

from typing import Final

from sqlalchemy import DDL, ExecutableDDLElement, FromClause, event

MESSAGE: Final = "audit lines are only ever added"

_WRITTEN: Final = (
    "id, organisation_id, at, actor_kind, actor_id, action, subject_kind, subject_id, before, after, reason, approval, "
    "request_id, actor_digest, subject_digest"
)
_FILED: Final = "line_id, part, organisation_id, person_kind, person_id"
# Erasure is the only change allowed: it empties both columns, says when, and cannot be undone.
_NO_ERASURE: Final = (
    "NEW.salt IS NOT NULL OR NEW.content IS NOT NULL OR NEW.erased_at IS NULL OR OLD.erased_at IS NOT NULL"
)
# SQLite runs no DELETE trigger where INSERT OR REPLACE drops the conflicting row.
_SAME_LINE: Final = (
    "EXISTS (SELECT 1 FROM audit_lines WHERE organisation_id = NEW.organisation_id AND id = NEW.id) "
    "OR NEW.seq IS NOT NULL AND EXISTS "
    "(SELECT 1 FROM audit_lines WHERE organisation_id = NEW.organisation_id AND seq = NEW.seq)"
)
_SAME_PERSONAL: Final = (
    "EXISTS (SELECT 1 FROM audit_personal "
    "WHERE organisation_id = NEW.organisation_id AND line_id = NEW.line_id AND part = NEW.part)"
)


def _sqlite(name: str, when: str, table: str, condition: str = "") -> str:
    only = f"WHEN {condition} " if condition else ""
    return f"CREATE TRIGGER {name} BEFORE {when} ON {table} {only}BEGIN SELECT RAISE(ABORT, '{MESSAGE}'); END"


def _postgresql(name: str, when: str, table: str, condition: str = "") -> str:
    scope = f"FOR EACH ROW WHEN ({condition})" if condition else "FOR EACH STATEMENT"
    return f"CREATE TRIGGER {name} BEFORE {when} ON {table} {scope} EXECUTE FUNCTION audit_lines_guard()"


_FUNCTION: Final = (
    "CREATE OR REPLACE FUNCTION audit_lines_guard() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN RAISE EXCEPTION '{MESSAGE}'; END $$"
)

SQLITE: Final = {
    "audit_lines": (
        _sqlite("audit_lines_written", f"UPDATE OF {_WRITTEN}", "audit_lines"),
        _sqlite("audit_lines_sealed", "UPDATE", "audit_lines", "OLD.seq IS NOT NULL"),
        _sqlite("audit_lines_no_delete", "DELETE", "audit_lines"),
        _sqlite("audit_lines_no_replace", "INSERT", "audit_lines", _SAME_LINE),
    ),
    "audit_personal": (
        _sqlite("audit_personal_filed", f"UPDATE OF {_FILED}", "audit_personal"),
        _sqlite("audit_personal_erased", "UPDATE", "audit_personal", _NO_ERASURE),
        _sqlite("audit_personal_no_delete", "DELETE", "audit_personal"),
        _sqlite("audit_personal_no_replace", "INSERT", "audit_personal", _SAME_PERSONAL),
    ),
    "audit_chains": (
        _sqlite(
            "audit_chains_rise",
            "UPDATE",
            "audit_chains",
            "NEW.seq < OLD.seq OR NEW.organisation_id <> OLD.organisation_id",
        ),
        _sqlite("audit_chains_no_delete", "DELETE", "audit_chains"),
    ),
}
POSTGRESQL: Final = {
    "audit_lines": (
        _FUNCTION,
        _postgresql("audit_lines_written", f"UPDATE OF {_WRITTEN}", "audit_lines"),
        _postgresql("audit_lines_sealed", "UPDATE", "audit_lines", "OLD.seq IS NOT NULL"),
        _postgresql("audit_lines_no_delete", "DELETE OR TRUNCATE", "audit_lines"),
    ),
    "audit_personal": (
        _FUNCTION,
        _postgresql("audit_personal_filed", f"UPDATE OF {_FILED}", "audit_personal"),
        _postgresql("audit_personal_erased", "UPDATE", "audit_personal", _NO_ERASURE),
        _postgresql("audit_personal_no_delete", "DELETE OR TRUNCATE", "audit_personal"),
    ),
    "audit_chains": (
        _FUNCTION,
        _postgresql(
            "audit_chains_rise",
            "UPDATE",
            "audit_chains",
            "NEW.seq < OLD.seq OR NEW.organisation_id <> OLD.organisation_id",
        ),
        _postgresql("audit_chains_no_delete", "DELETE OR TRUNCATE", "audit_chains"),
    ),
}


def attach(*tables: FromClause) -> None:
    """Create the triggers together with these tables."""
    for table in tables:
        for dialect, guards in (("sqlite", SQLITE), ("postgresql", POSTGRESQL)):
            for statement in guards[str(table.key)]:  # type: ignore[attr-defined]  # tables have keys, clauses in general have not
                event.listen(table, "after_create", _ddl(statement, dialect))


def _ddl(statement: str, dialect: str) -> ExecutableDDLElement:
    guard: ExecutableDDLElement = DDL(statement)  # type: ignore[no-untyped-call]  # untyped in SQLAlchemy
    return guard.execute_if(dialect=dialect)
