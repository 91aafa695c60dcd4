"""Audit log sealed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    _drop_old_guard()
    op.create_table(
        "audit_chains",
        sa.Column("chain", sa.String(length=36), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("seal", sa.LargeBinary(length=32), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("signature", sa.LargeBinary(length=64), nullable=True),
        sa.Column("public_key", sa.LargeBinary(length=32), nullable=True),
        sa.PrimaryKeyConstraint("chain", name=op.f("pk_audit_chains")),
    )
    op.create_table(
        "audit_personal",
        sa.Column("line_id", sa.String(length=36), nullable=False),
        sa.Column("part", sa.String(length=8), nullable=False),
        sa.Column("organisation_id", sa.String(length=36), nullable=True),
        sa.Column("person_kind", sa.String(length=40), nullable=False),
        sa.Column("person_id", sa.String(length=64), nullable=False),
        sa.Column("salt", sa.LargeBinary(length=16), nullable=True),
        sa.Column("content", sa.Text(), nullable=True),
        sa.Column("erased_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("line_id", "part", name=op.f("pk_audit_personal")),
    )
    with op.batch_alter_table("audit_personal", schema=None) as batch_op:
        batch_op.create_index("ix_audit_personal_person", ["person_kind", "person_id"], unique=False)
    with op.batch_alter_table("audit_lines", schema=None) as batch_op:
        batch_op.add_column(sa.Column("actor_digest", sa.LargeBinary(length=32), nullable=True))
        batch_op.add_column(sa.Column("subject_digest", sa.LargeBinary(length=32), nullable=True))
        batch_op.add_column(sa.Column("seq", sa.BigInteger(), nullable=True))
        batch_op.add_column(sa.Column("seal", sa.LargeBinary(length=32), nullable=True))
    _put_personal_values_apart()
    with op.batch_alter_table("audit_lines", schema=None) as batch_op:
        batch_op.drop_column("ip")
        batch_op.drop_column("user_agent")
    with op.batch_alter_table("audit_lines", schema=None) as batch_op:
        batch_op.create_index("ix_audit_lines_actor", ["actor_id", "id"], unique=False)
        _partial(batch_op, "ix_audit_lines_unsealed", ["organisation_id", "id"], "seq IS NULL", unique=False)
        _partial(batch_op, "uq_audit_lines_seq", ["organisation_id", "seq"], "seq IS NOT NULL", unique=True)
        none = "seq IS NOT NULL AND organisation_id IS NULL"
        _partial(batch_op, "uq_audit_lines_seq_of_none", ["seq"], none, unique=True)
    for statement in _SQLITE if _embedded() else _POSTGRESQL:
        op.execute(statement)


def downgrade() -> None:
    """Back; seals are lost, and so is what was erased."""
    _drop_new_guard()
    with op.batch_alter_table("audit_lines", schema=None) as batch_op:
        for index in ("uq_audit_lines_seq_of_none", "uq_audit_lines_seq", "ix_audit_lines_unsealed"):
            batch_op.drop_index(index)
        batch_op.drop_index("ix_audit_lines_actor")
    with op.batch_alter_table("audit_lines", schema=None) as batch_op:
        batch_op.add_column(sa.Column("ip", sa.String(length=64), nullable=False, server_default=""))
        batch_op.add_column(sa.Column("user_agent", sa.String(length=300), nullable=False, server_default=""))
    _put_personal_values_back()
    with op.batch_alter_table("audit_lines", schema=None) as batch_op:
        batch_op.alter_column("ip", server_default=None)
        batch_op.alter_column("user_agent", server_default=None)
        for column in ("seal", "seq", "subject_digest", "actor_digest"):
            batch_op.drop_column(column)
    op.drop_table("audit_personal")
    op.drop_table("audit_chains")
    for statement in _OLD_SQLITE if _embedded() else _OLD_POSTGRESQL:
        op.execute(statement)


def _partial(batch_op: Any, name: str, columns: list[str], where: str, *, unique: bool) -> None:
    only = sa.text(where)
    batch_op.create_index(name, columns, unique=unique, sqlite_where=only, postgresql_where=only)


def _embedded() -> bool:
    return op.get_bind().dialect.name == "sqlite"


_LINES = sa.table(
    "audit_lines",
    *(sa.column(name) for name in ("id", "organisation_id", "actor_kind", "actor_id", "subject_kind", "subject_id")),
    *(sa.column(name, sa.JSON()) for name in ("before", "after")),
    *(sa.column(name) for name in ("ip", "user_agent")),
    *(sa.column(name, sa.LargeBinary()) for name in ("actor_digest", "subject_digest")),
)
_PERSONAL = sa.table(
    "audit_personal",
    *(sa.column(name) for name in ("line_id", "part", "organisation_id", "person_kind", "person_id", "content")),
    sa.column("salt", sa.LargeBinary()),
)
_BATCH = 500
_CHANCE = {
    "sqlite": "SELECT randomblob(16)",
    "postgresql": "SELECT decode(replace(gen_random_uuid()::text, '-', ''), 'hex')",
}


def _put_personal_values_apart() -> None:
    """Lines written before keep who and what; addresses and names of people move to where they can be erased."""
    bind = op.get_bind()
    for row in _every(_LINES.c.id, sa.select(_LINES)):
        apart: dict[str, Any] = {}
        if row["ip"] or row["user_agent"]:
            person = (row["actor_kind"], row["actor_id"]) if row["actor_id"] else _subject(row)
            content = {"ip": row["ip"], "user_agent": row["user_agent"]}
            apart["actor_digest"] = _filed(bind, row, "actor", person, content)
        before, was = _split(row["before"], row["subject_kind"])
        after, now_is = _split(row["after"], row["subject_kind"])
        if was or now_is:
            content = {"before": was, "after": now_is}
            apart |= {"before": before, "after": after}
            apart["subject_digest"] = _filed(bind, row, "subject", _subject(row), content)
        if apart:
            bind.execute(sa.update(_LINES).where(_LINES.c.id == row["id"]).values(**apart))


def _every(key: Any, wanted: Any) -> Iterator[dict[str, Any]]:
    last = ""
    while True:
        page = op.get_bind().execute(wanted.where(key > last).order_by(key).limit(_BATCH)).mappings().all()
        yield from (dict(row) for row in page)
        if len(page) < _BATCH:
            return
        last = page[-1][key.name]


def _subject(row: dict[str, Any]) -> tuple[str, str]:
    return row["subject_kind"], row["subject_id"]


def _split(values: Any, subject_kind: str) -> tuple[Any, dict[str, Any]]:
    people = subject_kind in {"user", "supervisor"}
    if not isinstance(values, dict) or not people or not values.get("name"):
        return values, {}
    return values | {"name": "[personal]"}, {"name": values["name"]}


def _filed(bind: Any, row: dict[str, Any], part: str, person: tuple[str, str], values: dict[str, Any]) -> bytes:
    chance = (
        "SELECT randomblob(16)" if _embedded() else "SELECT decode(replace(gen_random_uuid()::text, '-', ''), 'hex')"
    )
    salt = bytes(bind.execute(sa.text(chance)).scalar_one())
    content = json.dumps(values, sort_keys=True, separators=(",", ":"))
    bind.execute(
        sa.insert(_PERSONAL).values(
            line_id=row["id"],
            part=part,
            organisation_id=row["organisation_id"],
            person_kind=person[0],
            person_id=person[1],
            salt=salt,
            content=content,
        )
    )
    return hashlib.sha256(b"gatehouse:audit-person:1\x00" + salt + content.encode()).digest()


def _put_personal_values_back() -> None:
    bind = op.get_bind()
    kept = sa.select(_PERSONAL).where(_PERSONAL.c.content.is_not(None))
    for filed in bind.execute(kept).mappings().all():
        values, line = json.loads(filed["content"]), _LINES.c.id == filed["line_id"]
        if filed["part"] == "subject":
            row = bind.execute(sa.select(_LINES.c.before, _LINES.c.after).where(line)).one()
            values = {
                name: shown if shown is None else {**shown, **values[name]}
                for name, shown in (("before", row.before), ("after", row.after))
            }
        bind.execute(sa.update(_LINES).where(line).values(**values))


def _drop_old_guard() -> None:
    if _embedded():
        op.execute("DROP TRIGGER audit_lines_no_update")
        op.execute("DROP TRIGGER audit_lines_no_delete")
    else:
        op.execute("DROP TRIGGER audit_lines_no_change ON audit_lines")


def _drop_new_guard() -> None:
    for name, table in _GUARDS:
        op.execute(f"DROP TRIGGER {name}" + ("" if _embedded() else f" ON {table}"))


_GUARDS = (
    ("audit_lines_written", "audit_lines"),
    ("audit_lines_sealed", "audit_lines"),
    ("audit_lines_no_delete", "audit_lines"),
    ("audit_personal_filed", "audit_personal"),
    ("audit_personal_erased", "audit_personal"),
    ("audit_personal_no_delete", "audit_personal"),
    ("audit_chains_rise", "audit_chains"),
    ("audit_chains_no_delete", "audit_chains"),
)
_RAISE = "BEGIN SELECT RAISE(ABORT, 'audit lines are only ever added'); END"
_WRITTEN = (
    "id, organisation_id, at, actor_kind, actor_id, action, subject_kind, subject_id, before, after, reason, approval, "
    "request_id, actor_digest, subject_digest"
)
_FILED = "line_id, part, organisation_id, person_kind, person_id"
_NO_ERASURE = "NEW.salt IS NOT NULL OR NEW.content IS NOT NULL OR NEW.erased_at IS NULL OR OLD.erased_at IS NOT NULL"
_FALLS = "NEW.seq < OLD.seq OR NEW.chain <> OLD.chain"

_SQLITE = (
    f"CREATE TRIGGER audit_lines_written BEFORE UPDATE OF {_WRITTEN} ON audit_lines {_RAISE}",
    f"CREATE TRIGGER audit_lines_sealed BEFORE UPDATE ON audit_lines WHEN OLD.seq IS NOT NULL {_RAISE}",
    f"CREATE TRIGGER audit_lines_no_delete BEFORE DELETE ON audit_lines {_RAISE}",
    f"CREATE TRIGGER audit_personal_filed BEFORE UPDATE OF {_FILED} ON audit_personal {_RAISE}",
    f"CREATE TRIGGER audit_personal_erased BEFORE UPDATE ON audit_personal WHEN {_NO_ERASURE} {_RAISE}",
    f"CREATE TRIGGER audit_personal_no_delete BEFORE DELETE ON audit_personal {_RAISE}",
    f"CREATE TRIGGER audit_chains_rise BEFORE UPDATE ON audit_chains WHEN {_FALLS} {_RAISE}",
    f"CREATE TRIGGER audit_chains_no_delete BEFORE DELETE ON audit_chains {_RAISE}",
)
_EACH = "FOR EACH ROW WHEN ({}) EXECUTE FUNCTION audit_lines_guard()"
_ALL = "FOR EACH STATEMENT EXECUTE FUNCTION audit_lines_guard()"
_POSTGRESQL = (
    f"CREATE TRIGGER audit_lines_written BEFORE UPDATE OF {_WRITTEN} ON audit_lines {_ALL}",
    f"CREATE TRIGGER audit_lines_sealed BEFORE UPDATE ON audit_lines {_EACH.format('OLD.seq IS NOT NULL')}",
    f"CREATE TRIGGER audit_lines_no_delete BEFORE DELETE OR TRUNCATE ON audit_lines {_ALL}",
    f"CREATE TRIGGER audit_personal_filed BEFORE UPDATE OF {_FILED} ON audit_personal {_ALL}",
    f"CREATE TRIGGER audit_personal_erased BEFORE UPDATE ON audit_personal {_EACH.format(_NO_ERASURE)}",
    f"CREATE TRIGGER audit_personal_no_delete BEFORE DELETE OR TRUNCATE ON audit_personal {_ALL}",
    f"CREATE TRIGGER audit_chains_rise BEFORE UPDATE ON audit_chains {_EACH.format(_FALLS)}",
    f"CREATE TRIGGER audit_chains_no_delete BEFORE DELETE OR TRUNCATE ON audit_chains {_ALL}",
)
_OLD_SQLITE = (
    f"CREATE TRIGGER audit_lines_no_update BEFORE UPDATE ON audit_lines {_RAISE}",
    f"CREATE TRIGGER audit_lines_no_delete BEFORE DELETE ON audit_lines {_RAISE}",
)
_OLD_POSTGRESQL = (f"CREATE TRIGGER audit_lines_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_lines {_ALL}",)
