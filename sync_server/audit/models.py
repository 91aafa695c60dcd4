"""The audit log's table; the database itself refuses to change or drop a line."""

from __future__ import annotations

from typing import Any

from sqlalchemy import DDL, JSON, BigInteger, ExecutableDDLElement, Index, String, event
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.tables import Base


class AuditRow(Base):
    """One line."""

    __tablename__ = "audit_lines"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    organisation_id: Mapped[str | None] = mapped_column(String(36))
    at: Mapped[Millis] = mapped_column(BigInteger)
    actor_kind: Mapped[str] = mapped_column(String(16))
    actor_id: Mapped[str] = mapped_column(String(64))
    action: Mapped[str] = mapped_column(String(80))
    subject_kind: Mapped[str] = mapped_column(String(40))
    subject_id: Mapped[str] = mapped_column(String(64))
    before: Mapped[Any | None] = mapped_column(JSON)
    after: Mapped[Any | None] = mapped_column(JSON)
    reason: Mapped[str] = mapped_column(String(1000))
    approval: Mapped[str] = mapped_column(String(200))
    ip: Mapped[str] = mapped_column(String(64))
    user_agent: Mapped[str] = mapped_column(String(300))
    request_id: Mapped[str] = mapped_column(String(36))

    __table_args__ = (
        Index("ix_audit_lines_organisation_id", "organisation_id", "id"),
        Index("ix_audit_lines_subject", "subject_kind", "subject_id", "id"),
    )


SQLITE_GUARD = [
    "CREATE TRIGGER audit_lines_no_update BEFORE UPDATE ON audit_lines "
    "BEGIN SELECT RAISE(ABORT, 'audit lines are only ever added'); END",
    "CREATE TRIGGER audit_lines_no_delete BEFORE DELETE ON audit_lines "
    "BEGIN SELECT RAISE(ABORT, 'audit lines are only ever added'); END",
]
POSTGRESQL_GUARD = [
    "CREATE OR REPLACE FUNCTION audit_lines_guard() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'audit lines are only ever added'; END $$",
    "CREATE TRIGGER audit_lines_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_lines "
    "FOR EACH STATEMENT EXECUTE FUNCTION audit_lines_guard()",
]


def _ddl(statement: str, dialect: str) -> ExecutableDDLElement:
    guard: ExecutableDDLElement = DDL(statement)  # type: ignore[no-untyped-call]  # the library left it untyped
    return guard.execute_if(dialect=dialect)


for _dialect, _guard in (("sqlite", SQLITE_GUARD), ("postgresql", POSTGRESQL_GUARD)):
    for _statement in _guard:
        event.listen(AuditRow.__table__, "after_create", _ddl(_statement, _dialect))
