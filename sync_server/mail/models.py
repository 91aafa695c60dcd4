"""The table of mails."""

from __future__ import annotations

from sqlalchemy import BigInteger, Index, LargeBinary, String, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base, Uuid


class MailRow(Base):
    """A mail on its way. Address and content are sealed, and erased when it has been sent or given up."""

    __tablename__ = "mails"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)  # audit.rules.INSTALLATION: of no single one
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    template: Mapped[str] = mapped_column(String(40))
    sealed: Mapped[bytes | None] = mapped_column(LargeBinary)
    state: Mapped[str] = mapped_column(String(10))
    attempts: Mapped[int] = mapped_column(default=0)
    due_at: Mapped[Millis | None] = mapped_column(BigInteger)
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    ends_at: Mapped[Millis] = mapped_column(BigInteger)  # afterwards its link is worthless
    done_at: Mapped[Millis | None] = mapped_column(BigInteger)
    problem: Mapped[str] = mapped_column(String(60), default="")  # a code: servers quote addresses in their words

    __table_args__ = (
        Index("ix_mails_due", "due_at", postgresql_where=text("due_at IS NOT NULL")),
        Index(None, "done_at"),
    )
