"""Database triggers that refuse to change or delete what is in the audit log."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Table

from sync_server.plumbing.sql.tables import after_create

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

#: By table: the name of each guard, what it refuses, and under which condition.
_GUARDS: Final = {
    "audit_lines": (("written", f"UPDATE OF {_WRITTEN}", ""), ("sealed", "UPDATE", "OLD.seq IS NOT NULL")),
    "audit_personal": (("filed", f"UPDATE OF {_FILED}", ""), ("erased", "UPDATE", _NO_ERASURE)),
    "audit_chains": (("rise", "UPDATE", "NEW.seq < OLD.seq OR NEW.organisation_id <> OLD.organisation_id"),),
}
#: A line may leave once it stands in a sealed file.
_LEAVES: Final = (
    "EXISTS (SELECT 1 FROM audit_segments WHERE organisation_id = OLD.organisation_id "
    "AND OLD.seq BETWEEN first_seq AND last_seq)"
)
_LEAVE_FUNCTION: Final = (
    "CREATE OR REPLACE FUNCTION audit_lines_leave_guard() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN IF {_LEAVES} THEN RETURN OLD; END IF; RAISE EXCEPTION '{MESSAGE}'; END $$"
)
_LEAVE: Final = (
    _LEAVE_FUNCTION,
    "CREATE TRIGGER audit_lines_no_delete BEFORE DELETE ON audit_lines FOR EACH ROW "
    "EXECUTE FUNCTION audit_lines_leave_guard()",
    _postgresql("audit_lines_no_truncate", "TRUNCATE", "audit_lines"),
)
_REPLACED: Final = {"audit_lines": _SAME_LINE, "audit_personal": _SAME_PERSONAL}


def _sqlite_guards(table: str) -> tuple[str, ...]:
    changes = [_sqlite(f"{table}_{name}", when, table, condition) for name, when, condition in _GUARDS[table]]
    replaced = [_sqlite(f"{table}_no_replace", "INSERT", table, _REPLACED[table])] if table in _REPLACED else []
    stays = f"NOT {_LEAVES}" if table == "audit_lines" else ""
    return (*changes, _sqlite(f"{table}_no_delete", "DELETE", table, stays), *replaced)


SQLITE: Final = {table: _sqlite_guards(table) for table in _GUARDS}
POSTGRESQL: Final = {
    table: (
        _FUNCTION,
        *(_postgresql(f"{table}_{name}", when, table, condition) for name, when, condition in guards),
        *(_LEAVE if table == "audit_lines" else (_postgresql(f"{table}_no_delete", "DELETE OR TRUNCATE", table),)),
    )
    for table, guards in _GUARDS.items()
}


def attach(*tables: Table) -> None:
    """Create the triggers together with these tables."""
    for table in tables:
        after_create(table, sqlite=SQLITE[table.name], postgresql=POSTGRESQL[table.name])
