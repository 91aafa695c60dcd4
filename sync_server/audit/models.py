"""Tables of the audit log: lines (append-only), personal values (erasable), and the heads of chains."""

from __future__ import annotations

from typing import Any, cast

from sqlalchemy import JSON, BigInteger, Index, LargeBinary, String, Table, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.audit.guards import attach
from sync_server.plumbing.sql.tables import Base, Uuid

_SEALED = text("seq IS NOT NULL")
_UNSEALED = text("seq IS NULL")


class AuditRow(Base):
    """One line. Only `seq` and `seal` are filled in later, once, by the sealer."""

    __tablename__ = "audit_lines"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)  # INSTALLATION: of none
    id: Mapped[Uuid] = mapped_column(primary_key=True)
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
    request_id: Mapped[Uuid | None]
    actor_digest: Mapped[bytes | None] = mapped_column(LargeBinary(32))
    subject_digest: Mapped[bytes | None] = mapped_column(LargeBinary(32))
    seq: Mapped[int | None] = mapped_column(BigInteger)
    seal: Mapped[bytes | None] = mapped_column(LargeBinary(32))

    __table_args__ = (
        Index("ix_audit_lines_subject", "organisation_id", "subject_kind", "subject_id", "id"),
        Index("ix_audit_lines_actor", "organisation_id", "actor_id", "id"),
        Index("ix_audit_lines_unsealed", "organisation_id", "id", sqlite_where=_UNSEALED, postgresql_where=_UNSEALED),
        Index(
            "uq_audit_lines_seq", "organisation_id", "seq", unique=True, sqlite_where=_SEALED, postgresql_where=_SEALED
        ),
    )


class PersonalRow(Base):
    """Personal values of a line; the line holds only a salted hash of them, so that they can be erased."""

    __tablename__ = "audit_personal"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    line_id: Mapped[Uuid] = mapped_column(primary_key=True)
    part: Mapped[str] = mapped_column(String(8), primary_key=True)  # actor, subject
    person_kind: Mapped[str] = mapped_column(String(40))
    person_id: Mapped[str] = mapped_column(String(64))
    salt: Mapped[bytes | None] = mapped_column(LargeBinary(16))
    content: Mapped[str | None] = mapped_column(Text)
    erased_at: Mapped[Millis | None] = mapped_column(BigInteger)

    __table_args__ = (Index("ix_audit_personal_person", "person_kind", "person_id"),)


class ChainRow(Base):
    """How far an organisation's chain is sealed; the row is also the lock that sealers take."""

    __tablename__ = "audit_chains"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, default=0)
    seal: Mapped[bytes] = mapped_column(LargeBinary(32))
    at: Mapped[Millis] = mapped_column(BigInteger)
    signature: Mapped[bytes | None] = mapped_column(LargeBinary(64))
    public_key: Mapped[bytes | None] = mapped_column(LargeBinary(32))


class SegmentRow(Base):
    """Sealed lines of a chain that stand in a sealed file; only such lines may leave the table."""

    __tablename__ = "audit_segments"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    first_seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    last_seq: Mapped[int] = mapped_column(BigInteger)
    seal_before: Mapped[bytes] = mapped_column(LargeBinary(32))
    seal: Mapped[bytes] = mapped_column(LargeBinary(32))
    file: Mapped[str] = mapped_column(String(120))
    sha256: Mapped[bytes] = mapped_column(LargeBinary(32))
    size: Mapped[int] = mapped_column(BigInteger)
    written_at: Mapped[Millis] = mapped_column(BigInteger)


attach(*(cast(Table, row.__table__) for row in (AuditRow, PersonalRow, ChainRow)))
